//! Every sentence of an answer, in English: one entry for each key.

use slowpath_verdict::message::{Count, List, Name, Part, Share, Span, Times};

slowpath_verdict::messages! {
    // Two variants against each other.
    "answer.faster" Faster { b: Name, a: Name, times: Times, rates: Name, limits: Part<Message> }
        = "{b} is {times} times as fast as {a} ({rates}): {limits}.";
    "answer.slower" Slower { b: Name, a: Name, less: Share, rates: Name, limits: Part<Message> }
        = "{b} is {less} slower than {a} ({rates}): {limits}.";
    "answer.a-little-faster" LittleFaster { b: Name, a: Name, more: Share, rates: Name, limits: Part<Message> }
        = "{b} is {more} faster than {a} ({rates}): {limits}.";
    "answer.same" NotShown { b: Name, a: Name, rates: Name, limits: Part<Message> }
        = "No difference shown between {a} and {b} ({rates}): {limits}.";
    "answer.starves" Starves { a: Name, b: Name, limits: Part<Message> }
        = "{a} never comes to its end and {b} does: {limits}.";
    "answer.limit-both" LimitBoth { limit: Name } = "{limit} holds both";
    "answer.limit-changes" LimitChanges { before: Name, after: Name } = "{before} held it, then {after} does";
    "answer.limit-untold" LimitUntold {} = "what limits one of them cannot be told from these runs";
    "answer.proof-held" ProofHeld { change: Name, predicted: Name, measured: Name }
        = "Tested on it: with {change}, {predicted} were predicted and {measured} measured.";
    "answer.proof-refuted" ProofRefuted { change: Name, predicted: Name, measured: Name }
        = "Tested on it and refuted: with {change}, {predicted} were predicted, but {measured} measured.";
    "answer.proof-open" ProofOpen { change: Name, predicted: Name, measured: Name }
        = "Tested on it, not decided: with {change}, {predicted} were predicted and {measured} measured.";

    // Where the time of several runs went.
    "answer.time" Time { variant: Name, runs: Count, duration: Span, parts: List<Message> }
        = "{variant}, mean of {runs} runs: of {duration}, {parts}.";
    "answer.time-once" TimeOnce { variant: Name, duration: Span, parts: List<Message> }
        = "{variant}: of {duration}, {parts}.";
    "answer.part-link" PartLink { time: Span } = "{time} are the link itself";
    "answer.part" PartOf { time: Span, cause: Name, runs: Part<Message> } = "{time} {cause}{runs}";
    "answer.in-some" InSome { some: Count, all: Count } = " (in {some} of {all} runs)";
    "answer.in-all" InAll {} = "";

    // Flows of two variants.
    "answer.flows" Flows { b: Name, a: Name, flows: List<Message> } = "{b} against {a}: {flows}.";
    "answer.flow" Flow { name: Name, after: Share, before: Share, rates: Name }
        = "{name} loses {after} instead of {before} and gets {rates}";

    // Layers, each on top of the other.
    "answer.layers" Layers { first: Name, rate: Name, layers: List<Message>, end: Part<Message> }
        = "{first} carries {rate}; {layers}. {end}";
    "answer.layer-less" LayerLess { name: Name, less: Share } = "{name} {less} less";
    "answer.layer-same" LayerSame { name: Name } = "{name} no less";
    "answer.layer-costliest" LayerCostliest { name: Name, less: Share, limit: Name }
        = "{name} costs most, {less}: {limit}.";
    "answer.layer-none" LayerNone { most: Share } = "No layer costs more than {most}.";

    // What a way to measure measures.
    "answer.modes-path" ModesPath { modes: List<Message> } = "They measure the path: {modes}.";
    "answer.modes-window" ModesWindow { modes: List<Message> } = "They measure the receiver's window: {modes}.";
    "answer.modes-own" ModesOwn { modes: List<Message> } = "They measure what they send: {modes}.";
    "answer.modes-drops" ModesDrops { modes: List<Message> }
        = "They measure where their own bursts are dropped: {modes}.";
    "answer.modes-mixed" ModesMixed { modes: List<Message> } = "They measure one thing here, another there: {modes}.";
    "answer.mode" ModeOf { name: Name, lowest: Share, highest: Share }
        = "{name} ({lowest} to {highest} of the best rate on each network)";
    "answer.mode-once" ModeOnce { name: Name, share: Share } = "{name} ({share} of the best rate)";

    // A setting over a range.
    "answer.range-from" RangeFrom { b: Name, a: Name, called: Name, from: Name, times: Times, most: Name }
        = "{b} is faster than {a} by a tenth and more from a {called} of {from} on, {times} times at {most}.";
    "answer.range-never" RangeNever { b: Name, a: Name, called: Name, first: Name, last: Name }
        = "{b} is nowhere faster than {a} by a tenth, at a {called} of {first} to {last}.";
    "answer.range-always" RangeAlways { b: Name, a: Name, called: Name, first: Name, last: Name }
        = "{b} is faster than {a} by a tenth and more at every {called} of {first} to {last}.";
    "answer.range-steps" RangeSteps { of: Name, called: Name, groups: List<Message> } = "{of} by {called}: {groups}.";
    "answer.range-group" RangeGroup { values: Name, rate: Name } = "{values} {rate}";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_key_stands_once() {
        let keys: BTreeSet<&str> = Message::KEYS.iter().copied().collect();
        assert_eq!(keys.len(), Message::KEYS.len());
    }
}
