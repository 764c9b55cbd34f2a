//! Every sentence of an answer, as a key with its arguments; the words stand in `slowpath-words`, in `answers.ftl`.

use slowpath_verdict::message::{Clauses, Count, List, Name, Part, RoundShare, Share, Size, Span, Times};

slowpath_verdict::messages! {
    // Two variants against each other.
    "answer.faster" Faster { b: Name, a: Name, times: Times, rates: Name, limits: Part<Message> };
    "answer.slower" Slower { b: Name, a: Name, less: Share, rates: Name, limits: Part<Message> };
    "answer.a-little-faster" LittleFaster { b: Name, a: Name, more: Share, rates: Name, limits: Part<Message> };
    "answer.same" NotShown { b: Name, a: Name, rates: Name, limits: Part<Message> };
    "answer.starves" Starves { a: Name, b: Name, limits: Part<Message> };
    "answer.limit-both" LimitBoth { limit: Name };
    "answer.limit-changes" LimitChanges { before: Name, after: Name };
    "answer.limit-untold" LimitUntold {};
    "answer.proof-held" ProofHeld { change: Name, predicted: Name, measured: Name };
    "answer.proof-refuted" ProofRefuted { change: Name, predicted: Name, measured: Name };
    "answer.proof-open" ProofOpen { change: Name, predicted: Name, measured: Name };

    // Where the time of several runs went.
    "answer.time" Time { variant: Name, runs: Count, duration: Span, parts: List<Message> };
    "answer.time-once" TimeOnce { variant: Name, duration: Span, parts: List<Message> };
    "answer.part-link" PartLink { time: Span };
    "answer.part-start" PartStart { time: Span, runs: Part<Message> };
    "answer.part" PartOf { time: Span, cause: Name, runs: Part<Message> };
    "answer.in-some" InSome { some: Count, all: Count };
    "answer.in-all" InAll {};

    // Flows of two variants.
    "answer.flows" Flows { b: Name, a: Name, flows: List<Message> };
    "answer.flow" Flow { name: Name, after: Share, before: Share, rates: Name };

    // Layers, each on top of the other.
    "answer.layers" Layers { first: Name, rate: Name, layers: List<Message>, end: Part<Message> };
    "answer.layer-less" LayerLess { name: Name, less: Share };
    "answer.layer-same" LayerSame { name: Name };
    "answer.layer-costliest" LayerCostliest { name: Name, less: Share, limit: Name };
    "answer.layer-none" LayerNone { most: Share };

    // What a way to measure measures.
    "answer.modes" Modes { groups: Clauses<Message> };
    "answer.modes-path" ModesPath { modes: List<Message> };
    "answer.modes-window" ModesWindow { modes: List<Message> };
    "answer.modes-own" ModesOwn { modes: List<Message> };
    "answer.modes-drops" ModesDrops { modes: List<Message> };
    "answer.modes-other" ModesOther { modes: List<Message> };
    "answer.mode" ModeOf { name: Name, lowest: RoundShare, highest: RoundShare };
    "answer.mode-once" ModeOnce { name: Name, share: RoundShare };
    "answer.mode-some" ModeSome { name: Name, some: Count, all: Count, lowest: RoundShare, highest: RoundShare };
    "answer.mode-some-once" ModeSomeOnce { name: Name, some: Count, all: Count, share: RoundShare };

    // The sender's own figure.
    "answer.sender-agrees" SenderAgrees { near: Count, all: Count, most: Share };
    "answer.sender-more" SenderMore { rows: Count, variant: Name, sender: Name, receiver: Name, waiting: Size };
    "answer.sender-less" SenderLess { rows: Count, variant: Name, sender: Name, receiver: Name };

    // Datagrams.
    "answer.none-lost" NoneLost { rows: Count, all: Count };
    "answer.lost" DatagramsLost { rows: List<Message> };
    "answer.lost-row" LostRow { variant: Name, share: Share };
    "answer.lost-row-at" LostRowAt { variant: Name, share: Share, most: RoundShare, element: Name, cause: Name };
    "answer.jitter" Jitter { near: Count, all: Count, variant: Name, measured: Span, published: Span };

    // A setting over a range.
    "answer.range-from" RangeFrom { b: Name, a: Name, called: Name, from: Name, times: Times, most: Name };
    "answer.range-never" RangeNever { b: Name, a: Name, called: Name, first: Name, last: Name };
    "answer.range-always" RangeAlways { b: Name, a: Name, called: Name, first: Name, last: Name };
    "answer.range-set" RangeSet { set: Name };
    "answer.range-steps" RangeSteps { of: Name, called: Name, groups: List<Message> };
    "answer.range-counted" RangeCounted { count: Name, rate: Name };
    "answer.range-group" RangeGroup { values: Name, rate: Name };
}
