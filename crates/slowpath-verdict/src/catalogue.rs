//! Every sentence about a verdict, as a key with its arguments; the words stand in `slowpath-words`, in `verdict.ftl`.
//!
//! Entries stand in the order of the limits; what several say stands first. Reasons and observations are written small
//! and without a full stop, because a line begins before them.

use crate::message::{
    About, Count, ExactRate, FineShare, List, Name, Part, PayloadRate, Rate, Ratio, RoundShare, Share, Size,
    Span, Times,
};

crate::messages! {
    // What may be said of any limit.
    "not.seen" NotSeen {};
    "not.short" TooLittleToRuleOut {};
    "not.in-a-part" NotInAPart {};
    "not.plainer" Plainer { chosen: Name };
    "not.needs-comparison" NeedsAnotherMark {};
    "not.in-packets" NotInPackets {};
    "not.without-loss" NothingLost {};
    "not.window-scale" ScaleUnknown {};

    // What the ledger alone says of a limit.
    "ledger.handshake" OpenedLate { time: Span };
    "ledger.time" TimeWentTo { cause: Name, time: Span };
    "ledger.stood-still" PathStoodStill { time: Span, times: Count };
    "ledger.short-queue" ShortQueueOverran { events: Count, time: Span };
    "ledger.but" LedgerDiffers { cause: Name, time: Span };
    "ledger.but.marks" FullLinkMarks { time: Span };
    "ledger.but.bursts" FullInBursts { time: Span };
    "ledger.but.window" QueueBehindWindow { time: Span };

    // receiver-window
    "receiver-window" WindowFull { window: Size, held: Share, rtt: Span, allows: Rate };
    "receiver-window.inferred" ScaleInferred {};
    "receiver-window.not.room" WindowHadRoom { held: Share };
    "receiver-window.not.shrinks" WindowShrank { from: Size, to: Size };
    "receiver-window.not.queue" WindowFullOfQueue {};
    "receiver-window.seen.full" WindowFullFor { held: Share };
    "receiver-window.seen.size" WindowWhileFull { window: Size };
    "receiver-window.seen.eaten" EdgeLags { share: Share };
    "receiver-window.seen.bbr" CountedWithBbr { share: Share };

    // receiver-application
    "receiver-application" ReaderTakes { rate: PayloadRate, from: Size, to: Size, closed: Share };
    "receiver-application.steps" ReaderTakesInSteps { rate: PayloadRate, step: Size, period: Span, from: Size, to: Size, closed: Share };
    "receiver-application.stopped" ReaderStopped { length: Span, at: Span };
    "receiver-application.not.closed" NeverClosed { closed: Span, held: Share };
    "receiver-application.not.constant" WindowStayed { ratio: Share };
    "receiver-application.seen.closed" ClosedFor { closed: Span, closures: Count };
    "receiver-application.seen.ratio" WindowOfLargest { ratio: Share };
    "receiver-application.seen.edge" EdgeMoves { rate: PayloadRate };

    // sender-application
    "sender-application" ProgramPauses { idle: Share, pauses: Count, longest: Span };
    "sender-application.even" EvenPace { rate: PayloadRate, even: Share };
    "sender-application.seen.even" LeavesEvenly { even: Share };
    "sender-application.not.even" HardlyEven { even: Share };
    "sender-application.rhythm" OwnRhythm { rate: PayloadRate, clocked: Share };
    "sender-application.pace" OwnPace { rate: PayloadRate };
    "sender-application.schedule" OnSchedule { bytes: Size, period: Span, rate: PayloadRate };
    "sender-application.not.idle" HardlyIdle { idle: Share };
    "sender-application.not.rhythm" Clocked { clocked: Share, short: Share };
    "sender-application.seen.idle" NothingInFlight { idle: Span };
    "clocking.seen.bursts" BurstsFollow { clocked: Share };
    "clocking.seen.pauses" PausesEnd { clocked: Share, pauses: Count, chance: Share };

    // A flight that stays at one amount: send-buffer, protocol-window, sender-application
    "constant.not.losses" LossesChanged { episodes: Count };
    "constant.not.room" NearWindow { flight: Size, window: Size };
    "constant.not.bulk" TooLittleFlight { flight: Size, rounds: Count };
    "constant.not.timed" ClockTooCoarse {};
    "constant.not.stays" FlightChanges { share: Share };
    "constant.seen.plateau" FlightConstant { flight: Size };
    "constant.seen.share" InRounds { share: Share };

    // send-buffer
    "send-buffer" BufferHolds { flight: Size, run: Count, rounds: Count, window: Size };
    "send-buffer.ceiling" FlightNeverExceeds { flight: Size, share: Share, rounds: Count, most: Size, window: Size };
    "send-buffer.not.ssh" ProtocolsAmount {};
    "send-buffer.not.clocked" HardlyClocked { clocked: Share, chance: Share };

    // protocol-window
    "protocol-window.channel" ChannelHolds { flight: Size, run: Count, rounds: Count, window: Size };
    "protocol-window" ProtocolWaits { flight: Size, share: Share, answers: Count };
    "protocol-window.not.answers" HardlyAnswered { share: Share, answers: Count };
    "protocol-window.not.silent" NothingAnswered {};
    "protocol-window.not.ssh" OtherCause {};

    // bottleneck-bandwidth
    "bottleneck-bandwidth" FillsLink { rate: Rate, queued: Span, size: Size, base: Span };
    "bottleneck-bandwidth.despite-losses" Unslowed { rate: Rate, episodes: Count };
    "bottleneck-bandwidth.varying" FillsVaryingLink { low: Rate, high: Rate, queued: Span, base: Span };
    "link.follows-rate" DelayFollowsRate {};
    "link.own-queue" SameInFlight { losses: Count, flight: Size, least: Span, most: Span };
    "link.slower-later" LongerThanOverflow { full: Span, longest: Span };
    "link.ignores-rate" DelayIgnoresRate {};
    "bottleneck-bandwidth.not.alone" FlowsAtOnce { flows: Count };
    "bottleneck-bandwidth.not.slowed" RateFalls { rate: Rate };
    "link.not.used" LinkHardlyUsed { rate: Rate, used: Share };
    "link.not.constant" NoFullLinks { flight: Size };
    "link.not.delay" DelayUnexplained { explained: Share };
    "link.not.base" RttNearBase { rtt: Span, base: Span };

    // shared-bottleneck
    "shared-bottleneck" FillsSharedLink { rate: Rate, flows: Count, queued: Span, size: Size, base: Span };
    "full-link.acks" AcksFillLink { waits: Span };
    "full-link.acks.next" LookAtAcks {};
    "shared-bottleneck.or-slower" OrSlower {};
    "shared-bottleneck.full-queue" OthersAtFullQueue { rank: Share, own: Share, queued: Span, base: Span };
    "shared-bottleneck.standing" OthersKeepQueue { least: Span, own: Share, queued: Span, base: Span };
    "shared-bottleneck.not.alone" OneFlow {};
    "shared-bottleneck.not.delay" HighRttNearBase { rtt: Span, base: Span };
    "shared-bottleneck.not.others" OwnLoadExplains { delay: Share, busy: Share };
    "shared-bottleneck.not.queue" QueueEmpties {};

    // Queues and buckets: policed, bottlenecks, random-loss
    "queue.seen.fit" FitError { size: Size, rate: Rate, error: Ratio, losses: Count };
    "queue.seen.step" DelayStep { step: Share };
    "queue.seen.explained" QueueExplains { rate: Rate, explained: Share };
    "loss.seen" LostIn { lost: Count, episodes: Count, fraction: Share };
    "outage.held" HeldBack { length: Span, at: Span };
    "outage.lost" LostAll { length: Span, at: Span };
    "rtt.seen" RoundTrips { least: Span, median: Span, high: Span };
    "policing.seen.found" PolicerPublished { rate: Rate, burst: Size };
    "policing.seen.few" PublishedTooFew {};
    "policing.seen.late" PublishedLate {};
    "policing.seen.fill" PublishedFill {};
    "policing.seen.tokens" PublishedTokens {};
    "policing.seen.levels" PublishedLevels {};
    "policing.seen.passes" PublishedPasses {};
    "policing.seen.delay" PublishedDelay {};

    // policed
    "policed" PolicerDrops { rate: Rate, bucket: Size, empty: About, losses: Count };
    "policed.at-least" PolicerOfAtLeast { mean: Rate, rate: Rate, bucket: Size, empty: About, losses: Count };
    "policed.shared" FlowsShareIt { flows: Count };
    "policed.not.few" TooFewForPattern { losses: Count };
    "policed.not.unexplained" NoBucketExplains { error: Ratio, spread: Ratio };
    "policed.not.small" BucketTooSmall { bucket: Size, samples: Count };
    "policed.not.spaced" ArrivesAtItsRate { rate: Rate };
    "policed.not.delay" DelayGrows { step: Share };
    "policed.not.full" LossesAtFullQueue { share: Share };

    // random-loss
    "random-loss" LossesHold { lost: Count, segments: Count, episodes: Count };
    "random-loss.not.backlog" OneBacklog { size: Size };
    "random-loss.not.bursts" OnlyBursts { lost: Count, episodes: Count };
    "random-loss.not.unslowed" LossesSlowNobody { lost: Count };
    "random-loss.not.idle" IdleOutweighs { episodes: Count, idle: Share };
    "random-loss.not.few" LossesWouldAllow { lost: Count, rate: Rate };
    "random-loss.not.round-trips" TooFewRoundTrips { episodes: Count, samples: Count };

    // ecn-congestion
    "ecn-congestion" MarksHold { marked: Count, rounds: Count, episodes: Count };
    "ecn-congestion.not.marks" FewMarks { marked: Count };
    "ecn-congestion.not.losses" MoreLosses { episodes: Count, marked: Count };
    "ecn-congestion.seen.rounds" MarksInRounds { marked: Count };
    "ecn-congestion.seen.marks" Marks { marks: Count };
    "ecn-congestion.seen.acks" AcksReport { acks: Count };

    // mtu-black-hole
    "mtu-black-hole" LargeVanish { segment: Count, times: Count, passed: Count };
    "mtu-black-hole.alone" LargeVanishAlone { segment: Count, times: Count };
    "mtu-black-hole.not.pass" LargePass { passed: Count };

    // reordering
    "reordering" Overtaken { late: Count, again: Count, lost: Count };
    "reordering.not.late" FewLate { late: Count, segments: Count };
    "reordering.not.misled" HardlyMisled { late: Count, times: Count };
    "reordering.not.held" HeldWhileLate { late: Count };
    "reordering.not.full" LateButFull { late: Count };
    "reordering.seen.late" Late { late: Count };
    "reordering.seen.needless" Needless { again: Count };

    // slow-start
    "slow-start" StillGrowing { rounds: Count, rtt: Span };
    "slow-start.grew" GrewToTheEnd { from: Size, to: Size, rounds: Count, rtt: Span };
    "slow-start.early" EndedEarly { segments: Count };
    "slow-start.not.short" LongEnough { rounds: Count };
    "slow-start.not.quiet" PathInUse { episodes: Count, rtt: Span };

    // capture-loss
    "capture-loss" CaptureMissed { missed: Share, lost: Share };
    "capture-loss.not" CaptureMissedLittle { missed: Share };
    "capture-loss.doubt" PartlyMissed { missed: Share };
    "capture-loss.next" CaptureAgain {};

    // unknown
    "unknown.untimed" NoTimeStamps {};
    "unknown.one-way" OneDirection {};
    "unknown.acknowledgements" OnlyAcknowledgements {};
    "unknown.missed" NearlyAllMissed {};
    "unknown.not.usable" HoldsNeeded {};
    "unknown.short" TooLittle { size: Size };
    "unknown.short-afar" TooLittleAfar { size: Size };
    "unknown.not.short" Enough { size: Size };
    "unknown.queue-or-bucket" QueueOrBucket { size: Size, rate: Rate };
    "unknown.not.backlog" NoOneBacklog {};
    "unknown.few-bursts" FewBursts { lost: Count, episodes: Count };
    "unknown.not.bursts" HavePattern { episodes: Count };
    "unknown.crowded-afar" CrowdedAfar { lost: Share, spread: Span };
    "unknown.not.wavers" DelayEven {};
    "unknown.held-by-sender" HeldBySender { flight: Size, run: Count, rounds: Count, window: Size };
    "unknown" Undecided { lost: Count, episodes: Count, rtt: Span, base: Span };
    "next.time-stamps" TakeTimeStamps {};
    "next.both-directions" TakeBothDirections {};
    "next.longer" CaptureLonger {};
    "next.longer-or-sender" CaptureAtSenderOrLonger {};
    "next.other-rate" CaptureAtSenderOrOtherRate {};
    "next.longer-at-sender" CaptureLongerAtSender {};
    "next.empty-path" CaptureEmptyPath {};
    "next.sample-buffer" CaptureAtSenderOrSample {};
    "next.sample" SampleSender {};
    "next.sender" CaptureAtSender {};

    // What the path's own counters say: datagrams and frames.
    "counted.lost" CountedLost { lost: FineShare, share: FineShare, element: Name, cause: Part<Message> };
    "counted.lost-at-one" CountedLostAtOne { lost: FineShare, element: Name, cause: Part<Message> };
    "counted.flow" CountedFlow { flow: Name, lost: FineShare };
    "counted.flow-at" CountedFlowAt { flow: Name, lost: FineShare, places: List<Message> };
    "counted.place" CountedPlace { share: FineShare, element: Name };
    "counted.all-arrived" AllArrived { rate: ExactRate };
    "counted.most-arrived" MostArrived { lost: FineShare, rate: ExactRate };
    "counted.seen" Dropped { element: Name, packets: Count, cause: Part<Message> };
    "counted.not" DroppedElsewhere { share: FineShare, element: Name };
    "dropped.queue-full" QueueFull {};
    "dropped.threshold" RoomUsedUp {};
    "dropped.aqm" QueueManagement {};
    "dropped.policed" ExceededPolicer {};
    "dropped.loss" RandomDrops {};
    "dropped.receive-overload" NoReceiveRoom {};
    "dropped.treatment" MarkDropped {};
    "dropped.too-big" TooLarge {};
    "dropped.ttl-expired" TtlRanOut {};
    "dropped.other" OtherCauseOfDrops { cause: Name };
    "dropped.incomplete" FragmentLost {};

    // Several connections of one job.
    "job" JobLimited { limit: Name, held: Share, connections: Count, what: Name };
    "job.overflows" JobOverflows { held: Share, connections: Count, what: Name };
    "job.fills" JobFills { floor: Share, connections: Count, what: Name };
    "job.waits" JobWaits { held: Share, connections: Count, what: Name };
    "job.untold" JobUntold { held: Share, connections: Count, what: Name };
    "job.seen" JobSpent { time: Span, cause: Name, state: Name };
    "job.not" JobHeld { held: Share };

    // Runs compared, and what a run's health says.
    "dscp-treatment" MarkTreated { fast: Name, gain: About };
    "dscp-treatment.but" MarkTreatedBut { beside: Name, fast: Name, gain: About };
    "dscp-treatment.dropped" MarkLetsNothing { fast: Name };
    "dscp-treatment.dropped-but" MarkLetsNothingBut { beside: Name, fast: Name };
    "dscp-treatment.next" TakeMarkOff {};
    "dscp-treatment.seen.gain" SlowestFast { fast: Name, differs: Name, gain: Times };
    "dscp-treatment.seen.gain-slowed" SlowestFastSlowed { fast: Name, differs: Name, gain: Times };
    "dscp-treatment.seen.nothing" NothingArrivedHere { fast: Name, differs: Name };
    "dscp-treatment.seen.load" NoProcessor { program: Name, share: RoundShare };
    "dscp-treatment.seen.capture" CaptureAlone { sentence: Name };
    "dscp-treatment.captures" MarksDiffer { slow: Name, slow_name: Part<Message>, slow_rate: Rate, fast: Name, fast_name: Part<Message>, fast_rate: Rate, share: Share, how: Name };
    "dscp-treatment.seen.goodput" MarkReaches { mark: Name, rate: Rate, limit: Name, lost: Share, rtt: Span };
    "device-limit" DeviceForwards { packets: About, small: Size, small_rate: Rate, large: Size, large_rate: Rate };
    "device-limit.seen" PacketsPerSecond { segment: Size, packets: About, rate: Rate };
    "host-cpu" ProgramBusy { health: Name };
    "host-cpu.next" MoreProcessors {};
    "compared.not" HowNotWhy { limit: Name };
    "mark.best-effort" BestEffort {};
    "mark.known" MarkName { name: Name };
    "mark.unnamed" NoName {};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limit;

    #[test]
    fn each_limit_has_a_sentence_under_its_own_code() {
        for limit in Limit::ALL {
            assert!(Message::KEYS.contains(&limit.name()), "{limit} has no sentence");
        }
    }
}
