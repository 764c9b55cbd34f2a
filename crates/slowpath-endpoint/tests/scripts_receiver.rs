//! The receiver's mechanisms, packet by packet.

mod support;

use slowpath_endpoint::tcp::{Config, ReceiveWindow};
use slowpath_endpoint::wire::{Flags, Transport};
use slowpath_packet::Ecn;
use support::script::{Offer, Script};

fn receiver(config: Config) -> Script {
    Script::established(config, &Offer::default(), 100)
}

fn plain(script: &mut Script, offset: u32, len: u32) {
    script.data(offset, len, Ecn::NotEct, Flags::ACK);
}

/// Linux after its quick acknowledgements at the start are used up, with a window that cannot grow.
fn calm() -> Script {
    let mut config = Config::linux();
    config.ack.quick = 0;
    config.receive = ReceiveWindow::Fixed {
        bytes: 2 * 44 * 1460,
        share_256: 128,
    };
    receiver(config)
}

#[test]
fn every_second_full_segment_is_acknowledged_at_once() {
    let mut script = calm();
    plain(&mut script, 1, 1460);
    script.nothing();
    plain(&mut script, 1461, 1460);
    script.expect_ack(2921);
}

#[test]
fn a_single_segment_waits_for_the_delayed_acknowledgement() {
    let mut script = calm();
    plain(&mut script, 1, 1460);
    script.nothing();
    // Linux waits 40 ms at least.
    assert_eq!(script.timer(), 140);
    script.expect_ack(1461);
}

#[test]
fn a_connection_starts_with_quick_acknowledgements() {
    let mut script = receiver(Config::linux());
    for i in 0..5 {
        plain(&mut script, 1 + i * 1460, 1460);
        script.expect_ack(1 + (i + 1) * 1460);
    }
}

#[test]
fn while_the_window_grows_every_segment_is_acknowledged_at_once() {
    let mut config = Config::linux();
    config.ack.quick = 0;
    config.receive = ReceiveWindow::Fixed {
        bytes: 2 * 72_000,
        share_256: 128,
    };
    let mut script = receiver(config);
    let (mut offset, mut last) = (1, 0);
    // The SYN's window was 64,240 bytes; two segments more come with each.
    loop {
        plain(&mut script, offset, 1000);
        offset += 1000;
        script.conn.read(script.now, u64::MAX);
        let Some(packet) = script.conn.poll_transmit(script.now) else {
            break;
        };
        let Transport::Tcp(tcp) = packet.header.transport else {
            panic!()
        };
        assert!(tcp.window > last, "{} after {last}", tcp.window);
        last = tcp.window;
    }
    assert_eq!(
        u32::from(last) << 1,
        71_000,
        "all of the buffer but the segment at hand"
    );
    assert!((3..10).contains(&(offset / 1000)), "{offset}");
}

#[test]
fn a_gap_is_reported_at_once_and_closed_at_once() {
    let mut script = calm();
    plain(&mut script, 1461, 1460);
    let ack = script.expect_ack(1);
    assert_eq!(script.blocks(&ack), [(1461, 2921)]);
    plain(&mut script, 4381, 1460);
    let ack = script.expect_ack(1);
    // Most recent first (RFC 2018, section 4).
    assert_eq!(script.blocks(&ack), [(4381, 5841), (1461, 2921)]);
    plain(&mut script, 1, 1460);
    let ack = script.expect_ack(2921);
    assert_eq!(script.blocks(&ack), [(4381, 5841)]);
    plain(&mut script, 2921, 1460);
    let ack = script.expect_ack(5841);
    assert_eq!(script.blocks(&ack), []);
}

#[test]
fn a_duplicate_is_reported_by_d_sack() {
    let mut script = calm();
    plain(&mut script, 1, 1460);
    plain(&mut script, 1461, 1460);
    script.expect_ack(2921);
    plain(&mut script, 1, 1460);
    let ack = script.expect_ack(2921);
    assert_eq!(script.blocks(&ack), [(1, 1461)]);
    // Only once (RFC 2883, section 4).
    plain(&mut script, 2921, 1460);
    plain(&mut script, 4381, 1460);
    let ack = script.expect_ack(5841);
    assert_eq!(script.blocks(&ack), []);
}

#[test]
fn a_router_offers_its_buffer_less_what_is_unread() {
    let mut script = receiver(Config::cisco(None, false, false));
    for i in 0..11 {
        plain(&mut script, 1 + i * 1460, 1460);
        let ack = script.expect_ack(1 + (i + 1) * 1460);
        assert_eq!(u32::from(ack.window), 16_384 - (i + 1) * 1460);
        assert!(ack.options.sack.as_slice().is_empty());
    }
    // 324 bytes are left; reading one segment says nothing, reading half the buffer does.
    script.conn.read(script.now, 1460);
    script.nothing();
    script.conn.read(script.now, 8_192 - 1460);
    let ack = script.expect_ack(16_061);
    assert_eq!(ack.window, 324 + 8_192);
}

#[test]
fn windows_never_shrink_and_close_when_nobody_reads() {
    let mut config = Config::linux();
    config.receive = ReceiveWindow::Fixed {
        bytes: 65_536,
        share_256: 128,
    };
    let mut script = Script::established(
        config,
        &Offer {
            scale: None,
            ..Offer::default()
        },
        100,
    );
    let mut edge = 0;
    let mut offset = 1;
    let mut last = u16::MAX;
    while last > 0 {
        plain(&mut script, offset, 1460);
        offset += 1460;
        while let Some(packet) = script.conn.poll_transmit(script.now) {
            let Transport::Tcp(tcp) = packet.header.transport else {
                panic!()
            };
            let right = tcp.ack.0.wrapping_sub(5_000_000) + u32::from(tcp.window);
            assert!(right >= edge, "the right edge moved back from {edge} to {right}");
            edge = right;
            last = tcp.window;
        }
        assert!(offset < 100_000, "the window never closes");
    }
    // Everything is read: the window opens again, unasked.
    script.conn.read(script.now, u64::MAX);
    let ack = script.one("a window update");
    assert!(ack.window > 14_000, "{}", ack.window);
}

#[test]
fn a_mark_is_echoed_until_the_sender_confirms() {
    let mut config = Config::linux();
    config.ecn = slowpath_endpoint::tcp::EcnMode::Request;
    config.ack.quick = 0;
    let mut script = Script::established(
        config,
        &Offer {
            ece: true,
            ..Offer::default()
        },
        100,
    );
    script.data(1, 1460, Ecn::Ce, Flags::ACK);
    let ack = script.expect_ack(1461);
    assert!(ack.flags.has(Flags::ECE));
    script.data(1461, 1460, Ecn::Ect0, Flags::ACK);
    let ack = script.expect_ack(2921);
    assert!(ack.flags.has(Flags::ECE), "not confirmed yet");
    script.data(2921, 1460, Ecn::Ect0, Flags::ACK.with(Flags::CWR));
    script.data(4381, 1460, Ecn::Ect0, Flags::ACK);
    let ack = script.expect_ack(5841);
    assert!(!ack.flags.has(Flags::ECE));
}

#[test]
fn a_zero_window_probe_is_answered() {
    let mut script = calm();
    script.data(0, 0, Ecn::NotEct, Flags::ACK);
    script.expect_ack(1);
}

#[test]
fn the_buffer_grows_with_what_is_read_in_a_round_trip() {
    let mut config = Config::linux();
    config.ack.quick = 0;
    let mut script = receiver(config);
    let mut offset = 1_u32;
    let mut largest = 0;
    for round in 0..8_u64 {
        script.now = support::script::ms(200 + 100 * round);
        for _ in 0..(10 << round.min(6)) {
            plain(&mut script, offset, 1460);
            offset += 1460;
            script.conn.read(script.now, u64::MAX);
            while let Some(packet) = script.conn.poll_transmit(script.now) {
                let Transport::Tcp(tcp) = packet.header.transport else {
                    panic!()
                };
                largest = largest.max(u32::from(tcp.window) << 10);
            }
        }
    }
    // 64 KiB at the start; it follows what is read and stays far below the largest of 32 MiB.
    assert!(largest > 1_000_000 && largest <= 8_000_000, "{largest}");
}

#[test]
fn reports_after_the_third_are_gathered_for_a_millisecond() {
    let mut script = calm();
    // Two segments give the receiver a round trip of 100 ms to judge by.
    for i in 0..80 {
        plain(&mut script, 1 + i * 1000, 1000);
        script.now = support::script::ms(100 + u64::from(i) * 5);
        script.conn.advance(script.now);
        script.conn.read(script.now, u64::MAX);
        while script.conn.poll_transmit(script.now).is_some() {}
    }
    let base = 80_001;
    for i in 0..3 {
        plain(&mut script, base + 1000 + i * 1000, 1000);
        script.expect_ack(base);
    }
    for i in 3..6 {
        plain(&mut script, base + 1000 + i * 1000, 1000);
        script.nothing();
    }
    script.now += slowpath_units::Duration::from_millis(1);
    script.conn.advance(script.now);
    let ack = script.expect_ack(base);
    assert_eq!(script.blocks(&ack), [(base + 1000, base + 7000)]);
}
