//! Every sentence of an answer, in English: one entry for each key.

use slowpath_verdict::message::{Clauses, Count, List, Name, Part, RoundShare, Share, Size, Span, Times};

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
    "answer.modes" Modes { groups: Clauses<Message> } = "Share of the best rate on each network: {groups}.";
    "answer.modes-path" ModesPath { modes: List<Message> } = "the path is measured by {modes}";
    "answer.modes-window" ModesWindow { modes: List<Message> } = "the receiver's window by {modes}";
    "answer.modes-own" ModesOwn { modes: List<Message> } = "what they send themselves by {modes}";
    "answer.modes-drops" ModesDrops { modes: List<Message> } = "where their own bursts are dropped by {modes}";
    "answer.modes-mixed" ModesMixed { modes: List<Message> } = "one thing here, another there by {modes}";
    "answer.mode" ModeOf { name: Name, lowest: RoundShare, highest: RoundShare } = "{name} ({lowest} to {highest})";
    "answer.mode-once" ModeOnce { name: Name, share: RoundShare } = "{name} ({share})";

    // The sender's own figure.
    "answer.sender-agrees" SenderAgrees { near: Count, all: Count, most: Share }
        = "The sender's own figure is within {most} of the receiver's in {near} of {all} rows.";
    "answer.sender-more" SenderMore { rows: Count, variant: Name, sender: Name, receiver: Name, waiting: Size }
        = "In {rows} it counts what still waits in its send buffer at the end, most in {variant}: {sender} where {receiver} \
           arrive, {waiting}.";
    "answer.sender-less" SenderLess { rows: Count, variant: Name, sender: Name, receiver: Name }
        = "In {rows} it counts less than arrives, least in {variant}: {sender} where {receiver} arrive.";

    // Datagrams.
    "answer.none-lost" NoneLost { rows: Count, all: Count } = "Nothing is lost in {rows} of {all} rows.";
    "answer.lost" DatagramsLost { rows: List<Message> } = "Lost are {rows}.";
    "answer.lost-row" LostRow { variant: Name, share: Share, place: Part<Message> } = "{share} in {variant}{place}";
    "answer.lost-at" LostAt { element: Name, cause: Name, share: RoundShare } = " ({share} of that at {element}, {cause})";
    "answer.lost-unknown" LostUnknown {} = "";
    "answer.jitter" Jitter { near: Count, all: Count, variant: Name, measured: Span, published: Span }
        = "Jitter is within a factor of two of the published in {near} of {all} rows; farthest off is {variant}, {measured} \
           beside {published}.";

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
