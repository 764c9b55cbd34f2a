//! What differs from model to model.

use slowpath_units::{BitRate, Layer};

/// A model of the RTX family, with its firmware revision where the text tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    /// The name, such as `RTX830`; empty when nobody says.
    pub name: String,
    /// The revision, such as `15.02.27`.
    pub revision: Option<String>,
}

impl Model {
    /// The model called `name`, such as `rtx2000`.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_uppercase().replace([' ', '-'], ""),
            revision: None,
        }
    }

    /// The model from the comment with which `show config` begins: `# RTX830 Rev.15.02.27 (...)`.
    pub fn from_header(text: &str) -> Option<Self> {
        text.lines()
            .take(20)
            .filter_map(|line| line.trim().strip_prefix('#'))
            .find_map(|comment| {
                let mut words = comment.split_whitespace();
                let name = words.next()?.to_uppercase();
                let known = ["RTX", "RTV", "RT", "NVR", "FWX", "VRX", "SRT"]
                    .iter()
                    .any(|family| {
                        name.strip_prefix(family).is_some_and(|rest| {
                            rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit())
                        })
                    });
                let revision = words.next()?.strip_prefix("Rev.")?;
                known.then(|| Self {
                    name,
                    revision: Some(revision.to_owned()),
                })
            })
    }

    /// Whether the model is one of these; false when it is not known.
    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.name == *name)
    }

    /// The largest class number.
    pub fn classes(&self) -> u16 {
        if self.is(&["RTX3510"]) {
            250
        } else if self.is(&["VRX", "RTX5000", "RTX3500"]) {
            100
        } else {
            16
        }
    }

    /// The largest class number of priority control.
    pub fn priority_classes(&self) -> u16 {
        if self.is(&["VRX", "RTX5000", "RTX3510", "RTX3500"]) {
            16
        } else {
            4
        }
    }

    /// Packets that a class's queue holds when nothing is written; not documented for the RTX2000.
    pub fn queue_length(&self) -> u32 {
        if self.is(&["RTX5000", "RTX3510", "RTX3500"]) {
            600
        } else {
            200
        }
    }

    /// Which bytes of a packet its schedulers count where `shaping-level` says `level`, or nothing is written.
    ///
    /// Layer 2 is the documented default, level 1 is the line with preamble and gap. The RTX2000 has no such option: its
    /// published table of three classes fits the encrypted packet with preamble and gap.
    pub fn counts(&self, level: Option<u8>) -> Layer {
        match level {
            Some(1) => Layer::Wire,
            None if self.is(&["RTX2000"]) => Layer::Wire,
            Some(_) | None => Layer::FrameFcs,
        }
    }

    /// Whether it has dynamic traffic control (`bandwidth=A,B`).
    pub fn has_dtc(&self) -> bool {
        !self.is(&["RTX2000", "RTX1000"])
    }

    /// Whether a class under shaping may be `type=priority`; true when the model is not known.
    pub fn has_priority_in_shaping(&self) -> bool {
        self.name.is_empty() || self.is(&["VRX", "RTX5000", "RTX3510", "RTX3500"])
    }

    /// Whether rates may have the suffix G.
    pub fn has_giga(&self) -> bool {
        !self.is(&["RTX5000", "RTX3500", "RTX1220", "RTX1210", "RTX830"])
    }

    /// Bits per second of its LAN ports: 100 Mbit/s on the models before 2008, 1 Gbit/s on later ones and where the model
    /// is not known (the vendor's product pages).
    pub fn port_rate(&self) -> BitRate {
        if self.is(&["RTX1000", "RTX1100", "RTX1500", "RTX2000"]) {
            BitRate::new(100_000_000)
        } else {
            BitRate::new(1_000_000_000)
        }
    }

    /// Whether `cbq` and `wfq` exist on PPP; true when the model is not known.
    pub fn has_cbq(&self) -> bool {
        self.name.is_empty() || self.is(&["RTX5000", "RTX3500", "RTX1210"])
    }

    /// Whether the replay check is on when nothing is written.
    pub fn checks_replay(&self) -> bool {
        !self.is(&["RTX3510", "RTX1300"])
    }

    /// Whether AF drop thresholds exist.
    pub fn has_drop_threshold(&self) -> bool {
        !self.is(&["RTX840", "RTX830"])
    }

    /// Whether `dscp supersede` exists: a firmware that is later than these; `None` when it cannot be told.
    pub fn has_dscp_supersede(&self) -> Option<bool> {
        const LAST_WITHOUT: [(&str, [u32; 3]); 6] = [
            ("RTX5000", [14, 0, 33]),
            ("RTX3500", [14, 0, 33]),
            ("RTX1300", [23, 0, 4]),
            ("RTX1220", [15, 4, 4]),
            ("RTX1210", [14, 1, 41]),
            ("RTX830", [15, 2, 26]),
        ];
        if self.is(&["RTX2000", "RTX1000"]) {
            return Some(false);
        }
        let (_, last) = LAST_WITHOUT.iter().find(|(name, _)| self.name == *name)?;
        let revision: Vec<u32> = self
            .revision
            .as_ref()?
            .split('.')
            .map(|part| part.parse().ok())
            .collect::<Option<_>>()?;
        Some(revision.as_slice() > last.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_model_and_revision() {
        let model =
            Model::from_header("# RTX830 Rev.15.02.27 (Fri Dec  9 2022)\n# MAC Address : 00:a0\nip lan1")
                .unwrap();
        assert_eq!(
            (model.name.as_str(), model.revision.as_deref()),
            ("RTX830", Some("15.02.27"))
        );
        assert_eq!(model.has_dscp_supersede(), Some(true));
        assert!(Model::from_header("# the RTX in the cellar\nip lan1").is_none());
        let old = Model {
            revision: Some("15.02.26".to_owned()),
            ..model
        };
        assert_eq!(old.has_dscp_supersede(), Some(false));
    }

    #[test]
    fn what_a_scheduler_counts_follows_level_and_model() {
        for (name, level, counts) in [
            ("rtx830", None, Layer::FrameFcs),
            ("rtx830", Some(1), Layer::Wire),
            ("rtx830", Some(2), Layer::FrameFcs),
            ("rtx2000", None, Layer::Wire),
        ] {
            assert_eq!(Model::named(name).counts(level), counts, "{name} {level:?}");
        }
    }

    #[test]
    fn models_differ_in_classes_lengths_and_dtc() {
        let cases = [
            ("rtx2000", 16, 4, 200, false),
            ("rtx1210", 16, 4, 200, true),
            ("rtx3510", 250, 16, 600, true),
            ("rtx5000", 100, 16, 600, true),
        ];
        for (name, classes, priority, length, dtc) in cases {
            let model = Model::named(name);
            assert_eq!(
                (
                    model.classes(),
                    model.priority_classes(),
                    model.queue_length(),
                    model.has_dtc()
                ),
                (classes, priority, length, dtc),
                "{name}"
            );
        }
        assert!(!Model::named("RTX1210").has_giga() && Model::named("RTX1300").has_giga());
        assert!(!Model::named("RTX1300").checks_replay() && Model::named("RTX2000").checks_replay());
    }
}
