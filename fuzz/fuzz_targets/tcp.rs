//! TCP options, headers that are written and read again, and edits in place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_packet::tcp::options::OptionIter;
use slowpath_packet::{Dscp, Ecn, IpView, Ipv4View, TcpOptions, TcpView, edit};

fuzz_target!(|data: &[u8]| {
    assert!(OptionIter::new(data).count() <= data.len());
    let options = TcpOptions::parse(data);
    let mut bytes = [0; 40];
    let len = options.write(&mut bytes);
    assert!(len <= 40 && len.is_multiple_of(4));
    // Reading what was written gives the same, unless there was more than a header has room for.
    let again = TcpOptions::parse(&bytes[..len]);
    let mut first = [0; 40];
    let once = again.write(&mut first);
    assert_eq!((once, first), (len, bytes), "{options:?} {again:?}");

    if let Ok(tcp) = TcpView::parse(data) {
        assert!(tcp.option_bytes().len() + tcp.payload().len() <= data.len());
    }
    let mut packet = data.to_vec();
    let before = Ipv4View::parse(&packet).ok().and_then(|view| view.checksum_ok());
    edit::set_dscp(&mut packet, Dscp::EF);
    edit::set_ecn(&mut packet, Ecn::Ce);
    edit::set_hop_limit(&mut packet, 7);
    edit::clamp_mss(&mut packet, 1200);
    edit::set_window_scale(&mut packet, 3);
    edit::strip_option(&mut packet, 4);
    edit::set_window(&mut packet, 11);
    assert_eq!(packet.len(), data.len());
    if let (Some(true), Ok(view)) = (before, Ipv4View::parse(&packet)) {
        assert_eq!(view.checksum_ok(), Some(true));
    }
    let _ = IpView::parse(&packet).map(|view| (view.payload().len(), view.fragment()));
});
