//! A start with everything at once that the ledger of a transfer books: random losses in front of a small buffer, a policer
//! before a link that is full at times.

use slowpath_verdict::{Connection, Limit};

use crate::measured::{frames, measured_rate, round_trip};
use crate::model::{Loss, Model, Parameter, Parts, Policer, Reader, Shape, Window, Writer};

/// Models with all that the ledger books for more than a moment, on the path that it measured; none where it measured none.
///
/// `base` has the path, `lost` are the packets that no full queue seems to have dropped, `policer` is what the capture says of
/// one.
pub fn models(connection: &Connection, base: &Model, lost: &[u64], policer: Policer) -> Vec<Model> {
    let Some(course) = connection.ledger.course else {
        return Vec::new();
    };
    let frames = frames(connection.facts.segment_size);
    let let_through = |limit: Limit| ceiling(connection, limit);
    let policer = books(connection, Limit::Policed).then_some(policer);
    let random = books(connection, Limit::RandomLoss) && !lost.is_empty();
    let loss = match policer {
        _ if !random => Loss::None,
        None => Loss::Packets(lost.to_vec()),
        // Which of the losses the bucket made is the model's to say.
        Some(_) if course.loss > 0.0 => Loss::Chance(course.loss),
        Some(_) => Loss::None,
    };
    let mut model = Model {
        shape: match (&loss, &policer) {
            (_, Some(_)) => Shape::Policer,
            (Loss::None, None) => Shape::Link,
            (_, None) => Shape::LinkAndLoss,
        },
        queue: if course.queue > 0.0 {
            course.queue * frames
        } else {
            base.queue
        },
        loss,
        policer,
        send_buffer: let_through(Limit::SendBuffer).map(|rate| rate * base.round_trip / BUFFERED),
        reader: let_through(Limit::ReceiverApplication).map(|rate| Reader {
            rate: rate * 8.0,
            unit: (connection.verdict.parameters.drain_step_bytes).map_or(READ, |bytes| bytes as f64),
        }),
        ..base.clone()
    };
    if let Some(part) = course.part.filter(|_| model.given.parts.is_none()) {
        let count = (model.given.bytes as f64 / part).round().clamp(1.0, MOST_PARTS);
        model.given.parts = Some(Parts {
            count: count as u32,
            pause: NO_PAUSE,
        });
    }
    if model.reader.is_some() || let_through(Limit::ReceiverWindow).is_some() {
        model.window = Window::Fixed(connection.facts.window.max as f64);
    }
    let ends =
        model.reader.is_some() || model.send_buffer.is_some() || matches!(model.window, Window::Fixed(_));
    let pace = let_through(Limit::SenderApplication);
    if model.shape == Shape::Link && (ends || pace.is_some()) {
        model.shape = Shape::End;
    }
    let Some(rate) = pace else {
        return vec![model];
    };
    // What looks like a pause after each part may be a program that writes blocks.
    let written = |in_blocks: bool| {
        let mut model = model.clone();
        model.given.parts = None;
        model.writer = Some(Writer {
            rate: rate * 8.0 * if in_blocks { 1.0 } else { frames },
            in_blocks,
        });
        model
    };
    let mut all = vec![written(false), written(true)];
    if model.given.parts.is_some() {
        all.push(model);
    }
    all
}

/// A number that the ledger measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    parameter: Parameter,
    value: f64,
    /// How far off it may be, as a share.
    within: f64,
}

impl Measured {
    /// How far a model's number is from it; nothing where the model has no such number.
    pub fn off(&self, model: &Model) -> f64 {
        let Some(value) = self.parameter.of(model).filter(|value| *value > 0.0) else {
            return 0.0;
        };
        // What was taken for the link's rate may be that of a policer in front of it.
        let policed = model
            .policer
            .is_some_and(|policer| policer.rate > SAME * self.value);
        if self.parameter == Parameter::Rate && policed {
            return 0.0;
        }
        let off = (value / self.value).ln() / self.within;
        (off * off).min(MOST)
    }
}

/// What the ledger measures of the numbers of a model.
pub fn measured(connection: &Connection) -> Vec<Measured> {
    let told = |parameter: Parameter, value: Option<f64>, within: f64| {
        value.filter(|value| *value > 0.0).map(|value| Measured {
            parameter,
            value,
            within,
        })
    };
    let ceiling = |limit: Limit| ceiling(connection, limit);
    let buffer = ceiling(Limit::SendBuffer)
        .zip(round_trip(connection))
        .map(|(rate, round_trip)| rate * round_trip / BUFFERED);
    [
        told(Parameter::Rate, measured_rate(connection), WITHIN),
        told(
            Parameter::WriterRate,
            ceiling(Limit::SenderApplication).map(|rate| rate * 8.0),
            ABOUT,
        ),
        told(
            Parameter::ReaderRate,
            ceiling(Limit::ReceiverApplication).map(|rate| rate * 8.0),
            ABOUT,
        ),
        told(Parameter::SendBuffer, buffer, ABOUT),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a ceiling of the ledger lets through, payload bytes per second; `None` where it was only a stop (the whole of the transfer
/// was faster), or a policer makes it.
pub fn ceiling(connection: &Connection, limit: Limit) -> Option<f64> {
    let ledger = &connection.ledger;
    if limit == Limit::SenderApplication && ledger.paces_by_policer() {
        return None;
    }
    let mut ceilings = ledger.ceilings.iter();
    let (_, rate) = ceilings.find(|(of, _)| *of == limit)?;
    (rate * ledger.duration_s >= ledger.bytes * MEAN).then_some(*rate)
}

/// Whether the ledger books a cause for more than a moment.
pub fn books(connection: &Connection, cause: Limit) -> bool {
    share(connection, cause) >= A_MOMENT
}

/// Share of the duration that the ledger books to a cause.
pub fn share(connection: &Connection, cause: Limit) -> f64 {
    let ledger = &connection.ledger;
    ledger.time_of(cause) / ledger.duration_s.max(1e-9)
}

/// Share of the duration from which a cause counts.
const A_MOMENT: f64 = 0.02;
/// How far off a link's rate is that the ledger measures (`docs/validation/ledger.md`).
const WITHIN: f64 = 0.05;
/// The same of what a program or a buffer lets through.
const ABOUT: f64 = 0.1;
/// What a measured number counts at most: some are wrong.
const MOST: f64 = 16.0;
/// Share of a link's measured rate from which a policer may be what was measured.
const SAME: f64 = 0.9;
/// Share of a transfer's mean rate from which a ceiling holds all of it.
const MEAN: f64 = 0.98;
/// Parts of a transfer at most.
const MOST_PARTS: f64 = 100_000.0;
/// The pause of a program that asks again as soon as it is answered, seconds.
const NO_PAUSE: f64 = 0.000_5;
/// Share of a Linux send buffer that is payload in flight.
const BUFFERED: f64 = 0.71;
/// Bytes that a program reads at a time where nothing tells.
const READ: f64 = 4_096.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::plain;

    #[test]
    fn a_measured_number_holds_a_model_near_it() {
        let measured = Measured {
            parameter: Parameter::Rate,
            value: 20e6,
            within: 0.05,
        };
        let model = |rate: f64| Model { rate, ..plain() };
        assert!(measured.off(&model(20e6)) < 1e-9);
        let off = measured.off(&model(20e6 * 1.05));
        assert!((0.9..1.0).contains(&off), "{off}");
        assert!((measured.off(&model(80e6)) - MOST).abs() < 1e-9, "some are wrong");
        let policed = |rate: f64| Model {
            policer: Some(Policer { rate, bucket: 30e3 }),
            ..model(80e6)
        };
        assert!(measured.off(&policed(20e6)) < 1e-9, "it may be the policer's");
        assert!(measured.off(&policed(10e6)) > 1.0);
        let other = Measured {
            parameter: Parameter::SendBuffer,
            ..measured
        };
        assert!(other.off(&model(80e6)) < 1e-9, "the model has no such number");
        // 1,448 bytes of payload in frames of 1,518.
        assert!((frames(1_448) - 1_518.0 / 1_448.0).abs() < 1e-9);
    }
}
