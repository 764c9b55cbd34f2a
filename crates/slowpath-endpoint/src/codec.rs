//! Packets of model hosts as bytes and back, with finished checksums: on the lab's wire, and in captures of simulated runs.

mod decode;
mod encode;
mod stamp;

pub use decode::decode;
pub use encode::encode;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{
        Echo, Flags, Header, Options, OwnedPayload, Payload, SackBlocks, TcpHeader, Transmit, Transport,
        UdpHeader,
    };
    use proptest::prelude::*;
    use slowpath_packet::{Dscp, Ecn, Seq32, checksum};
    use slowpath_units::Time;
    use std::net::IpAddr;

    fn header(transport: Transport, v6: bool) -> Header {
        let ip = |last: u8| -> IpAddr {
            if v6 {
                [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last].into()
            } else {
                [10, 0, 0, last].into()
            }
        };
        Header {
            src: ip(1),
            dst: ip(2),
            dscp: Dscp::from_tos(0xb8),
            ecn: Ecn::from_tos(2),
            ttl: 61,
            df: true,
            transport,
        }
    }

    fn tcp() -> TcpHeader {
        let mut sack = SackBlocks::new();
        sack.push(Seq32(5000), Seq32(6000));
        sack.push(Seq32(8000), Seq32(9000));
        TcpHeader {
            src_port: 4000,
            dst_port: 21,
            seq: Seq32(0xffff_fff0),
            ack: Seq32(77),
            flags: Flags::ACK.with(Flags::PSH),
            window: 4128,
            options: Options {
                timestamps: Some((1, 2)),
                sack,
                ..Options::default()
            },
        }
    }

    #[test]
    fn packets_survive_the_bytes() {
        let syn = TcpHeader {
            flags: Flags::SYN,
            options: Options {
                mss: Some(1460),
                window_scale: Some(7),
                sack_permitted: true,
                timestamps: Some((9, 0)),
                sack: SackBlocks::new(),
            },
            ..tcp()
        };
        let cases = [
            Transport::Tcp(tcp()),
            Transport::Tcp(syn),
            Transport::Tcp(TcpHeader {
                options: Options {
                    mss: Some(1460),
                    sack_permitted: true,
                    ..Options::default()
                },
                ..syn
            }),
            Transport::Tcp(TcpHeader {
                options: Options {
                    sack: tcp().options.sack,
                    ..Options::default()
                },
                ..tcp()
            }),
            Transport::Tcp(TcpHeader {
                options: Options {
                    mss: Some(536),
                    ..Options::default()
                },
                ..syn
            }),
            Transport::Udp(UdpHeader {
                src_port: 5000,
                dst_port: 5001,
                sequence: 70_000_000_000,
                sent: Time::from_nanos(3_000_007_000),
            }),
            Transport::Echo(Echo {
                reply: true,
                identifier: 7,
                sequence: 8,
            }),
        ];
        for v6 in [false, true] {
            for transport in cases {
                let transmit = Transmit {
                    at: Time::ZERO,
                    header: header(transport, v6),
                    payload: OwnedPayload::Bytes((0..100).collect()),
                };
                let mut bytes = vec![0; 2000];
                let length = encode(&transmit, 5, &mut bytes).unwrap();
                let bytes = &bytes[..length];
                assert_eq!(u32::try_from(length).unwrap(), transmit.ip_len(), "{transport:?}");
                if !v6 {
                    assert_eq!(checksum::of(&bytes[..20]), 0);
                }
                let start = if v6 { 40 } else { 20 };
                let view = slowpath_packet::IpView::parse(bytes).unwrap();
                let pseudo = view.pseudo_sum(view.protocol(), u32::try_from(length - start).unwrap());
                let pseudo = if view.protocol() == 1 {
                    checksum::Sum::new()
                } else {
                    pseudo
                };
                assert_eq!(pseudo.add_bytes(&bytes[start..]).finish(), 0, "{transport:?}");
                let (found, payload) = decode(bytes).unwrap();
                assert_eq!(found, transmit.header);
                if !matches!(transport, Transport::Udp(_)) {
                    assert_eq!(payload, Payload::Bytes(&(0..100).collect::<Vec<u8>>()));
                }
                assert_eq!(payload.len(), 100);
            }
        }
    }

    #[test]
    fn cut_bytes_are_refused_quietly() {
        let transmit = Transmit {
            at: Time::ZERO,
            header: header(Transport::Tcp(tcp()), false),
            payload: OwnedPayload::Synthetic(50),
        };
        let mut bytes = vec![0; 200];
        let length = encode(&transmit, 5, &mut bytes).unwrap();
        for cut in 0..40 {
            assert!(decode(&bytes[..cut]).is_none(), "{cut}");
        }
        for flip in 0..length {
            let mut broken = bytes[..length].to_vec();
            broken[flip] ^= 0xff;
            let _ = decode(&broken);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut flips in proptest::collection::vec((0_usize..60, any::<u8>()), 0..6), cut in 0_usize..70) {
            let sent = Transmit {
                at: Time::ZERO,
                header: header(Transport::Tcp(tcp()), false),
                payload: OwnedPayload::Synthetic(8),
            };
            let mut bytes = vec![0; sent.ip_len() as usize];
            encode(&sent, 1, &mut bytes).unwrap();
            for (at, value) in flips.drain(..) {
                bytes[at] = value;
            }
            bytes.truncate(cut);
            let _ = decode(&bytes);
        }
    }
}
