//! How many bytes each encapsulation adds to a packet.
//!
//! ESP's overhead is a sawtooth over the packet's size, since its padding fills a cipher block: it is computed per
//! packet and never a constant. Everything here counts IP bytes; what Ethernet adds is
//! [`Layer::overhead`](slowpath_units::Layer::overhead).
//!
//! Start with [`Encapsulation::outer_len`].

use serde::{Deserialize, Serialize};

/// The IP version of an outer header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IpVersion {
    /// 20 bytes of header.
    #[default]
    V4,
    /// 40 bytes of header.
    V6,
}

impl IpVersion {
    /// Bytes of a header without options (RFC 791, RFC 8200).
    pub const fn header(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }
}

/// A way to carry an IP packet inside another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "encapsulation", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Encapsulation {
    /// IP in IP (RFC 2003), also IPv4 in IPv6 as DS-Lite (RFC 6333) and MAP-E (RFC 7597) use it.
    Ipip {
        /// The outer header.
        outer: IpVersion,
    },
    /// GRE (RFC 2784, options of RFC 2890): 4 bytes, and 4 for each option.
    Gre {
        /// The outer header.
        outer: IpVersion,
        /// With a key.
        #[serde(default)]
        key: bool,
        /// With sequence numbers.
        #[serde(default)]
        sequence: bool,
        /// With a checksum.
        #[serde(default)]
        checksum: bool,
    },
    /// ESP in tunnel mode (RFC 4303).
    Esp {
        /// The outer header.
        outer: IpVersion,
        /// Encryption and integrity.
        transform: EspTransform,
        /// Inside UDP, for NAT traversal (RFC 3948).
        #[serde(default)]
        udp: bool,
    },
    /// The packet in an Ethernet frame in VXLAN in UDP (RFC 7348): 8 + 8 + 14 bytes.
    Vxlan {
        /// The outer header.
        outer: IpVersion,
    },
    /// The packet straight in UDP (for example Yamaha's `ipudp`).
    Udp {
        /// The outer header.
        outer: IpVersion,
    },
    /// IPv4 rewritten as IPv6 (MAP-T, RFC 7599): the longer header only.
    Translation,
}

/// Encryption and integrity of an ESP security association.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EspTransform {
    /// Encryption.
    pub cipher: Cipher,
    /// Integrity; a cipher that brings its own takes [`Integrity::Combined`].
    pub integrity: Integrity,
}

/// An ESP cipher, as far as lengths go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cipher {
    /// No encryption (RFC 2410).
    Null,
    /// DES in CBC mode (RFC 2405).
    DesCbc,
    /// Triple DES in CBC mode (RFC 2451).
    TripleDesCbc,
    /// AES in CBC mode, any key length (RFC 3602).
    AesCbc,
    /// AES in GCM mode (RFC 4106).
    AesGcm,
    /// ChaCha20 with Poly1305 (RFC 7634).
    ChaCha20Poly1305,
}

impl Cipher {
    /// Bytes of initialisation vector in each packet.
    pub const fn iv(self) -> u32 {
        match self {
            Self::Null => 0,
            Self::DesCbc | Self::TripleDesCbc | Self::AesGcm | Self::ChaCha20Poly1305 => 8,
            Self::AesCbc => 16,
        }
    }

    /// Bytes to a multiple of which payload and trailer are padded; never below 4 (RFC 4303, section 2.4).
    pub const fn block(self) -> u32 {
        match self {
            Self::DesCbc | Self::TripleDesCbc => 8,
            Self::AesCbc => 16,
            Self::Null | Self::AesGcm | Self::ChaCha20Poly1305 => 4,
        }
    }
}

/// An ESP integrity check, as far as its length goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrity {
    /// None.
    None,
    /// HMAC-MD5-96 (RFC 2403).
    Md5,
    /// HMAC-SHA1-96 (RFC 2404).
    Sha1,
    /// HMAC-SHA-256-128 (RFC 4868).
    Sha256,
    /// HMAC-SHA-384-192 (RFC 4868).
    Sha384,
    /// HMAC-SHA-512-256 (RFC 4868).
    Sha512,
    /// The 16-byte tag of AES-GCM-16 or ChaCha20-Poly1305.
    Combined,
}

impl Integrity {
    /// Bytes of integrity check value in each packet.
    pub const fn icv(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Md5 | Self::Sha1 => 12,
            Self::Sha256 | Self::Combined => 16,
            Self::Sha384 => 24,
            Self::Sha512 => 32,
        }
    }
}

impl EspTransform {
    /// Bytes of the ESP packet behind the outer IP (and UDP) header that carries `inner` bytes.
    pub const fn esp_len(self, inner: u32) -> u32 {
        let padded = (inner + ESP_TRAILER).next_multiple_of(self.cipher.block());
        ESP_HEADER + self.cipher.iv() + padded + self.integrity.icv()
    }
}

impl Encapsulation {
    /// DS-Lite's and MAP-E's way: IPv4 in IPv6.
    pub const IPV4_IN_IPV6: Self = Self::Ipip { outer: IpVersion::V6 };

    /// Bytes of the outer IP packet that carries an inner IP packet of `inner` bytes.
    pub const fn outer_len(self, inner: u32) -> u32 {
        match self {
            Self::Ipip { outer } => outer.header() + inner,
            Self::Gre {
                outer,
                key,
                sequence,
                checksum,
            } => outer.header() + 4 * (1 + key as u32 + sequence as u32 + checksum as u32) + inner,
            Self::Esp {
                outer,
                transform,
                udp,
            } => outer.header() + if udp { UDP_HEADER } else { 0 } + transform.esp_len(inner),
            Self::Vxlan { outer } => outer.header() + UDP_HEADER + VXLAN_HEADER + ETHERNET_HEADER + inner,
            Self::Udp { outer } => outer.header() + UDP_HEADER + inner,
            Self::Translation => inner + 20,
        }
    }

    /// Bytes that a packet of `inner` bytes grows by.
    pub const fn overhead(self, inner: u32) -> u32 {
        self.outer_len(inner) - inner
    }

    /// The largest inner packet whose outer packet has at most `mtu` bytes; 0 if none fits.
    pub const fn largest_inner(self, mtu: u32) -> u32 {
        let mut inner = mtu.saturating_sub(self.overhead(0).saturating_sub(MOST_PADDING));
        while inner > 0 && self.outer_len(inner) > mtu {
            inner -= 1;
        }
        inner
    }

    /// The IP protocol number of the outer header.
    pub const fn protocol(self) -> crate::Protocol {
        match self {
            Self::Ipip { .. } => crate::Protocol(4),
            Self::Gre { .. } => crate::Protocol(47),
            Self::Esp { udp: false, .. } => crate::Protocol::ESP,
            Self::Esp { .. } | Self::Vxlan { .. } | Self::Udp { .. } => crate::Protocol::UDP,
            Self::Translation => crate::Protocol::TCP,
        }
    }
}

/// Bytes that PPPoE adds at layer 2: 6 of PPPoE and 2 of PPP (RFC 2516). A 1500-byte line leaves 1492.
pub const PPPOE: u32 = 8;
/// Bytes of an 802.1Q tag.
pub const VLAN_TAG: u32 = 4;

const UDP_HEADER: u32 = 8;
const VXLAN_HEADER: u32 = 8;
const ETHERNET_HEADER: u32 = 14;
/// SPI and sequence number.
const ESP_HEADER: u32 = 8;
/// Pad length and next header.
const ESP_TRAILER: u32 = 2;
const MOST_PADDING: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const fn esp(outer: IpVersion, cipher: Cipher, integrity: Integrity) -> Encapsulation {
        Encapsulation::Esp {
            outer,
            transform: EspTransform { cipher, integrity },
            udp: false,
        }
    }

    /// The table of transforms: overhead at six inner sizes, largest inner packet for an IPv4 outer packet of 1500,
    /// 1454 and 1460 bytes, and for an IPv6 outer packet of 1500.
    type Row = (
        &'static str,
        Cipher,
        &'static [Integrity],
        [u32; 6],
        [u32; 3],
        u32,
    );
    const TABLE: &[Row] = &[
        (
            "3DES-CBC + MD5/SHA1-96",
            Cipher::TripleDesCbc,
            &[Integrity::Md5, Integrity::Sha1],
            [56, 50, 56, 56, 50, 52],
            [1446, 1398, 1406],
            1430,
        ),
        (
            "AES-CBC + MD5/SHA1-96",
            Cipher::AesCbc,
            &[Integrity::Md5, Integrity::Sha1],
            [72, 58, 72, 64, 58, 60],
            [1438, 1390, 1390],
            1422,
        ),
        (
            "AES-CBC + SHA2-256-128",
            Cipher::AesCbc,
            &[Integrity::Sha256],
            [76, 62, 76, 68, 62, 64],
            [1438, 1390, 1390],
            1406,
        ),
        (
            "AES-CBC + SHA2-384-192",
            Cipher::AesCbc,
            &[Integrity::Sha384],
            [84, 70, 84, 76, 70, 72],
            [1422, 1374, 1390],
            1406,
        ),
        (
            "AES-CBC + SHA2-512-256",
            Cipher::AesCbc,
            &[Integrity::Sha512],
            [92, 78, 92, 84, 78, 80],
            [1422, 1374, 1374],
            1390,
        ),
        (
            "AES-GCM-16",
            Cipher::AesGcm,
            &[Integrity::Combined],
            [56, 54, 56, 56, 54, 56],
            [1446, 1398, 1406],
            1426,
        ),
        (
            "ChaCha20-Poly1305",
            Cipher::ChaCha20Poly1305,
            &[Integrity::Combined],
            [56, 54, 56, 56, 54, 56],
            [1446, 1398, 1406],
            1426,
        ),
    ];

    #[test]
    fn every_cell_of_the_esp_table() {
        for (name, cipher, integrities, overheads, largest, largest_v6) in TABLE {
            for integrity in *integrities {
                let v4 = esp(IpVersion::V4, *cipher, *integrity);
                for (inner, overhead) in [64, 1006, 1280, 1400, 1454, 1500].into_iter().zip(overheads) {
                    assert_eq!(
                        v4.overhead(inner),
                        *overhead,
                        "{name}, {integrity:?}, inner {inner}"
                    );
                }
                for (mtu, inner) in [1500, 1454, 1460].into_iter().zip(largest) {
                    assert_eq!(
                        v4.largest_inner(mtu),
                        *inner,
                        "{name}, {integrity:?}, outer {mtu}"
                    );
                }
                let v6 = esp(IpVersion::V6, *cipher, *integrity);
                assert_eq!(v6.largest_inner(1500), *largest_v6, "{name}, {integrity:?}, IPv6");
            }
        }
    }

    #[test]
    fn largest_inner_is_the_largest() {
        for (name, cipher, integrities, ..) in TABLE {
            for udp in [false, true] {
                let transform = EspTransform {
                    cipher: *cipher,
                    integrity: integrities[0],
                };
                let way = Encapsulation::Esp {
                    outer: IpVersion::V4,
                    transform,
                    udp,
                };
                for mtu in 100..1600 {
                    let inner = way.largest_inner(mtu);
                    assert!(
                        way.outer_len(inner) <= mtu && way.outer_len(inner + 1) > mtu,
                        "{name} {udp} {mtu}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_other_encapsulations() {
        let v4 = IpVersion::V4;
        let gre = |key, sequence, checksum| Encapsulation::Gre {
            outer: v4,
            key,
            sequence,
            checksum,
        };
        for (way, overhead, largest) in [
            (Encapsulation::Ipip { outer: v4 }, 20, 1480),
            (Encapsulation::IPV4_IN_IPV6, 40, 1460),
            (gre(false, false, false), 24, 1476),
            (gre(true, false, false), 28, 1472),
            (gre(true, true, false), 32, 1468),
            (gre(true, true, true), 36, 1464),
            (Encapsulation::Vxlan { outer: v4 }, 50, 1450),
            (Encapsulation::Udp { outer: v4 }, 28, 1472),
            (Encapsulation::Translation, 20, 1480),
        ] {
            assert_eq!(way.overhead(1000), overhead, "{way:?}");
            assert_eq!(way.largest_inner(1500), largest, "{way:?}");
        }
        assert_eq!(1500 - PPPOE, 1492);
        // UDP encapsulation adds its eight bytes and nothing else.
        let transform = EspTransform {
            cipher: Cipher::AesCbc,
            integrity: Integrity::Sha256,
        };
        let plain = Encapsulation::Esp {
            outer: v4,
            transform,
            udp: false,
        };
        let in_udp = Encapsulation::Esp {
            outer: v4,
            transform,
            udp: true,
        };
        assert!((40..1500).all(|inner| in_udp.outer_len(inner) == plain.outer_len(inner) + 8));
        // The RTX2000's packet: 1006 bytes become 1056.
        assert_eq!(
            esp(v4, Cipher::TripleDesCbc, Integrity::Md5).outer_len(1006),
            1056
        );
    }
}
