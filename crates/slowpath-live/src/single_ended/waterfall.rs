//! What each layer costs against the one that it stands on, and which of them loses the rate.

use slowpath_diagnose::stats::{Comparison, Outcome, Summary};

use super::answer::{LayerAnswer, Waterfall};
use super::bench::Test;
use super::compare::{WORTH_LOSS, compare};
use super::layer::Layer;
use crate::why::answer::ConnectionAnswer;

/// The layers with their rates, each held against the one below it; `first` is the connection of the lowest.
pub(super) fn answers(
    carried: &[(Layer, Vec<f64>)],
    first: &ConnectionAnswer,
    tested: Vec<(Layer, Test)>,
) -> Vec<LayerAnswer> {
    let there: Vec<Layer> = carried
        .iter()
        .filter(|(_, rates)| !rates.is_empty())
        .map(|(layer, _)| *layer)
        .collect();
    let rates = |wanted: Layer| {
        let found = carried.iter().find(|(layer, _)| *layer == wanted);
        found.map_or(&[][..], |(_, rates)| rates.as_slice())
    };
    let mut tested = tested;
    carried
        .iter()
        .filter_map(|(layer, own)| {
            let below = layer.below(&there);
            let place = tested.iter().position(|(of, _)| of == layer);
            let connection = match place {
                Some(place) => tested.swap_remove(place).1.connection,
                None => Some(first.clone()),
            };
            Some(LayerAnswer {
                layer: *layer,
                goodput: Summary::of_rates(own)?,
                below,
                comparison: below.and_then(|below| compare(rates(below), own)),
                connection,
            })
        })
        .collect()
}

/// Names the layer that loses most; `None` where there is but one.
pub(super) fn waterfall(layers: &[LayerAnswer]) -> Option<Waterfall> {
    let held: Vec<(&LayerAnswer, &Comparison)> = layers
        .iter()
        .filter_map(|one| Some((one, one.comparison.as_ref()?)))
        .collect();
    if held.is_empty() {
        return None;
    }
    let loses = held
        .iter()
        .filter(|(_, c)| c.outcome == Outcome::Lower && c.ratio < 1.0 / WORTH_LOSS);
    if let Some((one, c)) = loses.min_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio))
        && let Some(below) = one.below
    {
        let end = |difference: Option<f64>| difference.map(|end| (-end / c.a.mean).clamp(0.0, 1.0));
        let limit = one.connection.as_ref().map(|of| of.verdict.limit);
        return Some(Waterfall::Loses {
            layer: one.layer,
            below,
            share: 1.0 - c.ratio,
            low: end(c.high95),
            high: end(c.low95),
            culprit: one
                .layer
                .culprit(limit.unwrap_or(slowpath_verdict::Limit::Unknown)),
        });
    }
    let most = held.iter().map(|(_, c)| c.low95.map(|low| -low / c.a.mean));
    // One without an interval leaves everything open.
    let most = most.collect::<Option<Vec<f64>>>();
    let at_most = most.map(|all| all.into_iter().fold(0.0, f64::max));
    Some(match at_most {
        Some(at_most) if at_most < UNCLEAR => Waterfall::None { at_most },
        _ => Waterfall::Unclear,
    })
}

/// An interval as wide as this says nothing.
const UNCLEAR: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(layer: Layer, below: Option<(Layer, &[f64])>, own: &[f64]) -> LayerAnswer {
        LayerAnswer {
            layer,
            goodput: Summary::of_rates(own).unwrap(),
            below: below.map(|(below, _)| below),
            comparison: below.and_then(|(_, rates)| compare(rates, own)),
            connection: None,
        }
    }

    #[test]
    fn the_layer_that_loses_most_of_what_reaches_it_is_named() {
        let (tcp, pipe, sftp) = ([10e6, 10.1e6], [9.7e6, 9.8e6], [2.8e6, 2.9e6]);
        let found = waterfall(&[
            layer(Layer::Tcp, None, &tcp),
            layer(Layer::Pipe, Some((Layer::Tcp, &tcp)), &pipe),
            layer(Layer::Sftp, Some((Layer::Pipe, &pipe)), &sftp),
        ]);
        let Some(Waterfall::Loses {
            layer: Layer::Sftp,
            below: Layer::Pipe,
            share,
            low: Some(low),
            high: Some(high),
            ..
        }) = found
        else {
            panic!("{found:?}");
        };
        assert!(
            (share - 0.708).abs() < 0.002 && low < share && share < high,
            "{low} {share} {high}"
        );
    }

    #[test]
    fn none_or_unclear() {
        let (tcp, pipe) = ([10e6, 10.1e6, 9.9e6], [9.7e6, 9.8e6, 9.9e6]);
        let same = |pipe: &[f64]| {
            waterfall(&[
                layer(Layer::Tcp, None, &tcp),
                layer(Layer::Pipe, Some((Layer::Tcp, &tcp)), pipe),
            ])
        };
        assert!(matches!(same(&pipe), Some(Waterfall::None { at_most }) if at_most < 0.1));
        assert_eq!(same(&[2e6, 20e6]), Some(Waterfall::Unclear));
        assert_eq!(same(&[9e6]), Some(Waterfall::Unclear));
        assert_eq!(waterfall(&[layer(Layer::Tcp, None, &tcp)]), None);
    }
}
