//! Every sentence about a verdict, in English: one entry for each key.
//!
//! Entries stand in the order of the limits; what several say stands first. Reasons and observations are written small
//! and without a full stop, because a line begins before them.

use crate::message::{
    About, Count, ExactRate, FineShare, List, Name, Part, PayloadRate, Rate, Ratio, RoundShare, Share, Size,
    Span, Times,
};

crate::messages! {
    // What may be said of any limit.
    "not.seen" NotSeen {} = "the capture does not hold what is needed";
    "not.in-a-part" NotInAPart {} = "a part of a transfer does not show it";
    "not.plainer" Plainer { chosen: Name } = "would fit too, but {chosen} shows more plainly";
    "not.needs-comparison" NeedsAnotherMark {} = "needs a transfer with another mark to compare with";
    "not.in-packets" NotInPackets {} = "packets alone do not show it";
    "not.without-loss" NothingLost {} = "nothing was lost";
    "not.window-scale" ScaleUnknown {} = "the window's scale is not known: the handshake was not recorded";

    // What the ledger alone says of a limit.
    "ledger.time" TimeWentTo { cause: Name, time: Span } = "For {time} the {cause} held the transfer.";

    // receiver-window
    "receiver-window" WindowFull { window: Size, held: Share, rtt: Span, allows: Rate }
        = "The receiver's window of {window} is full {held} of the time: with a round trip of {rtt} it allows {allows}, whatever the path could carry.";
    "receiver-window.inferred" ScaleInferred {} = "The window scale is inferred.";
    "receiver-window.not.room" WindowHadRoom { held: Share } = "the window was full only {held} of the time";
    "receiver-window.not.shrinks" WindowShrank { from: Size, to: Size } = "the window shrank from {from} to {to}";
    "receiver-window.not.queue" WindowFullOfQueue {} = "the window is full because a queue is: more window means more queue";
    "receiver-window.seen.full" WindowFullFor { held: Share } = "window full {held} of the time";
    "receiver-window.seen.size" WindowWhileFull { window: Size } = "window while full {window}";
    "receiver-window.seen.eaten" EdgeLags { share: Share } = "right edge lags acknowledgements by {share}";

    // receiver-application
    "receiver-application" ReaderTakes { rate: PayloadRate, from: Size, to: Size, closed: Share }
        = "The receiving program takes only {rate}: the window shrinks from {from} to {to} and is closed {closed} of the time. A larger window or another path would not help.";
    "receiver-application.steps" ReaderTakesInSteps { rate: PayloadRate, step: Size, period: Span, from: Size, to: Size, closed: Share }
        = "The receiving program takes only {rate}, in steps of {step} every {period}: the window shrinks from {from} to {to} and is closed {closed} of the time. A larger window or another path would not help.";
    "receiver-application.stopped" ReaderStopped { length: Span, at: Span }
        = "The receiving program stopped reading once, for {length} from {at} on: the window closed, and nothing could be sent. Else it took what arrived.";
    "receiver-application.not.closed" NeverClosed { closed: Span, held: Share }
        = "the window was closed {closed} and full {held} of the time";
    "receiver-application.not.constant" WindowStayed { ratio: Share }
        = "while full, the window stayed at {ratio} of its largest";
    "receiver-application.seen.closed" ClosedFor { closed: Span, closures: Count }
        = "window closed {closed} in {closures} closures";
    "receiver-application.seen.ratio" WindowOfLargest { ratio: Share }
        = "while it held the sender, the window was {ratio} of its largest";
    "receiver-application.seen.edge" EdgeMoves { rate: PayloadRate } = "its right edge moved on at {rate}";

    // sender-application
    "sender-application" ProgramPauses { idle: Share, pauses: Count, longest: Span }
        = "The sending program pauses: {idle} of the time nothing is in flight although the window is open ({pauses} pauses, the longest {longest}).";
    "sender-application.rhythm" OwnRhythm { rate: PayloadRate, clocked: Share }
        = "The sending program provides {rate} and no more: data leaves at its own rhythm, not when acknowledgements arrive ({clocked} of bursts), in pieces smaller than a segment, with the window open.";
    "sender-application.pace" OwnPace { rate: PayloadRate }
        = "The sending program gives {rate} and no more: more had been in flight before, the window has room, and no queue builds.";
    "sender-application.not.idle" HardlyIdle { idle: Share } = "nothing was in flight only {idle} of the time";
    "sender-application.not.rhythm" Clocked { clocked: Share, short: Share }
        = "{clocked} of bursts follow an acknowledgement at once, {short} of packets are smaller than a segment";
    "sender-application.seen.idle" NothingInFlight { idle: Span } = "nothing in flight for {idle}";
    "clocking.seen.bursts" BurstsFollow { clocked: Share } = "{clocked} of bursts follow an acknowledgement";
    "clocking.seen.pauses" PausesEnd { clocked: Share, pauses: Count, chance: Share }
        = "{clocked} of {pauses} pauses end with an acknowledgement, {chance} by chance";

    // A flight that stays at one amount: send-buffer, protocol-window, sender-application
    "constant.not.losses" LossesChanged { episodes: Count } = "{episodes} episodes of losses changed the flight";
    "constant.not.room" NearWindow { flight: Size, window: Size }
        = "the flight of {flight} comes near the window of {window}";
    "constant.not.bulk" TooLittleFlight { flight: Size, rounds: Count } = "{flight} in {rounds} round trips are too little";
    "constant.not.timed" ClockTooCoarse {} = "the capture's clock is too coarse for what releases data";
    "constant.not.stays" FlightChanges { share: Share } = "the flight was constant only in {share} of the round trips";
    "constant.seen.plateau" FlightConstant { flight: Size } = "flight constant at {flight}";
    "constant.seen.share" InRounds { share: Share } = "in {share} of round trips";

    // send-buffer
    "send-buffer" BufferHolds { flight: Size, run: Count, rounds: Count, window: Size }
        = "The sender's buffer (or another fixed amount of its program) holds the transfer: the flight stays at {flight} for {run} of {rounds} round trips, below the window of {window}, without loss or queue, and each acknowledgement releases the next data at once.";
    "send-buffer.ceiling" FlightNeverExceeds { flight: Size, share: Share, rounds: Count, most: Size, window: Size }
        = "A fixed amount at the sender (its buffer, most likely) holds the transfer: the flight comes to {flight} in {share} of {rounds} round trips and never exceeds {most}, below the window of {window}, without loss or queue.";
    "send-buffer.not.ssh" ProtocolsAmount {} = "on a port of SSH a fixed amount is the protocol's";
    "send-buffer.not.clocked" HardlyClocked { clocked: Share, chance: Share }
        = "only {clocked} of bursts follow an acknowledgement at once, {chance} would by chance";

    // protocol-window
    "protocol-window.channel" ChannelHolds { flight: Size, run: Count, rounds: Count, window: Size }
        = "A fixed amount of the protocol (SSH channel window or the sender's buffer) holds the transfer: the flight stays at {flight} for {run} of {rounds} round trips, below the window of {window}, without loss or queue, and each acknowledgement releases the next data at once.";
    "protocol-window" ProtocolWaits { flight: Size, share: Share, answers: Count }
        = "The protocol allows {flight} until it is answered: {share} of the bursts begin with the first acknowledgement of one of {answers} messages of the receiving program, without loss or queue, and with the TCP window open.";
    "protocol-window.not.answers" HardlyAnswered { share: Share, answers: Count }
        = "{share} of bursts begin with one of {answers} messages of the other program";
    "protocol-window.not.silent" NothingAnswered {} = "the receiving program sends nothing that data could wait for";
    "protocol-window.not.ssh" OtherCause {} = "a constant flight has another cause here";

    // bottleneck-bandwidth
    "bottleneck-bandwidth" FillsLink { rate: Rate, queued: Span, size: Size, base: Span }
        = "The transfer fills a link or shaper of {rate}: delay grows with the backlog, up to {queued} ({size}) above the empty path's {base}.";
    "bottleneck-bandwidth.despite-losses" Unslowed { rate: Rate, episodes: Count }
        = "The transfer runs at {rate}, hardly less at any time, in spite of {episodes} episodes of losses: they do not slow this sender, so the rate is the path's.";
    "bottleneck-bandwidth.varying" FillsVaryingLink { low: Rate, high: Rate, queued: Span, base: Span }
        = "The transfer fills a link whose rate varies, between {low} and {high} at its losses: the lower the rate, the longer the delay of the full queue, up to {queued} above the empty path's {base}.";
    "link.follows-rate" DelayFollowsRate {} = "the delay at losses is the longer, the lower the transfer's rate: the link's own rate varies";
    "link.ignores-rate" DelayIgnoresRate {} = "the delay at losses does not follow the transfer's rate";
    "bottleneck-bandwidth.not.alone" FlowsAtOnce { flows: Count } = "{flows} flows between these hosts were active at the same time";
    "bottleneck-bandwidth.not.slowed" RateFalls { rate: Rate } = "the rate falls to {rate} after losses";
    "link.not.used" LinkHardlyUsed { rate: Rate, used: Share } = "the link of {rate} is used only {used}";
    "link.not.constant" NoFullLinks { flight: Size } = "a flight that stays at {flight} is no full link's";
    "link.not.delay" DelayUnexplained { explained: Share } = "the backlog explains {explained} of the delay";
    "link.not.base" RttNearBase { rtt: Span, base: Span } = "the median round trip of {rtt} is near the empty path's {base}";

    // shared-bottleneck
    "shared-bottleneck" FillsSharedLink { rate: Rate, flows: Count, queued: Span, size: Size, base: Span }
        = "The transfer fills a link or shaper of {rate}, which {flows} flows between the same hosts share: delay grows with the backlog, up to {queued} ({size}) above the empty path's {base}.";
    "shared-bottleneck.full-queue" OthersAtFullQueue { rank: Share, own: Share, queued: Span, base: Span }
        = "The transfer shares a full link with other traffic: losses come when the delay is at its highest (before the median one {rank} of all delays were no longer), and its own load explains only {own} of a delay of up to {queued} above the empty path's {base}.";
    "shared-bottleneck.standing" OthersKeepQueue { least: Span, own: Share, queued: Span, base: Span }
        = "The transfer shares a full link with other traffic: the queue never empties (round trip at least {least} against {base} of the empty path), and its own load explains only {own} of a delay of up to {queued} above the empty path's {base}.";
    "shared-bottleneck.not.alone" OneFlow {} = "only one flow between these hosts was recorded";
    "shared-bottleneck.not.delay" HighRttNearBase { rtt: Span, base: Span } = "the round trip of {rtt} is near the empty path's {base}";
    "shared-bottleneck.not.others" OwnLoadExplains { delay: Share, busy: Share }
        = "the transfer's own load explains {delay} of the delay and {busy} of the link's time";
    "shared-bottleneck.not.queue" QueueEmpties {} = "losses do not come with the delay at its highest, and the queue empties";

    // Queues and buckets: policed, bottlenecks, random-loss
    "queue.seen.fit" FitError { size: Size, rate: Rate, error: Ratio, losses: Count }
        = "virtual queue of {size} at {rate}: error {error} over {losses} losses";
    "queue.seen.step" DelayStep { step: Share } = "delay at full backlog: {step} of what a queue would add";
    "queue.seen.explained" QueueExplains { rate: Rate, explained: Share } = "a queue of {rate} explains {explained} of the delay";
    "loss.seen" LostIn { lost: Count, episodes: Count, fraction: Share } = "{lost} segments lost in {episodes} episodes ({fraction})";
    "rtt.seen" RoundTrips { least: Span, median: Span, high: Span }
        = "round trip {least} at best, {median} in the median, {high} at the 95th percentile";
    "policing.seen.found" PolicerPublished { rate: Rate, burst: Size }
        = "the published detector (SIGCOMM 2016) finds a policer of {rate}, {burst} before the first loss";
    "policing.seen.few" PublishedTooFew {} = "the published detector (SIGCOMM 2016) finds no policer: too few losses";
    "policing.seen.late" PublishedLate {} = "the published detector (SIGCOMM 2016) finds no policer: the first loss comes after more than 2 MB";
    "policing.seen.fill" PublishedFill {} = "the published detector (SIGCOMM 2016) finds no policer: less passed before the first loss than the rate lets through";
    "policing.seen.tokens" PublishedTokens {} = "the published detector (SIGCOMM 2016) finds no policer: a bucket at the mean rate is no emptier at losses";
    "policing.seen.levels" PublishedLevels {} = "the published detector (SIGCOMM 2016) finds no policer: the level of a bucket at the mean rate differs from loss to loss";
    "policing.seen.passes" PublishedPasses {} = "the published detector (SIGCOMM 2016) finds no policer: packets pass with a bucket at the mean rate empty";
    "policing.seen.delay" PublishedDelay {} = "the published detector (SIGCOMM 2016) finds no policer: the round trip is long before losses";

    // policed
    "policed" PolicerDrops { rate: Rate, bucket: Size, empty: About, losses: Count }
        = "A policer at {rate} with a bucket of {bucket} drops what exceeds it: {empty} of {losses} losses come when the bucket is empty, and the delay does not grow with the load (no queue).";
    "policed.at-least" PolicerOfAtLeast { rate: Rate, bucket: Size, empty: About, losses: Count }
        = "A policer at no less than {rate} with a bucket of {bucket} drops what exceeds it: {empty} of {losses} losses come when the bucket is empty, and the delay does not grow with the load (no queue).";
    "policed.shared" FlowsShareIt { flows: Count } = "{flows} flows between the same hosts share it.";
    "policed.not.few" TooFewForPattern { losses: Count } = "{losses} losses are too few for a pattern";
    "policed.not.unexplained" NoBucketExplains { error: Ratio, spread: Ratio }
        = "no rate and bucket explain the losses (error {error}, spread {spread})";
    "policed.not.small" BucketTooSmall { bucket: Size, samples: Count }
        = "a bucket of {bucket} with {samples} delays beside it is too little to tell";
    "policed.not.spaced" ArrivesAtItsRate { rate: Rate } = "data arrive no faster than {rate}, as behind a link";
    "policed.not.delay" DelayGrows { step: Share } = "the delay grows by {step} of what a queue of that size would add";
    "policed.not.full" LossesAtFullQueue { share: Share } = "{share} of the losses come with the delay at its longest, of which a bucket knows nothing";

    // random-loss
    "random-loss" LossesHold { lost: Count, segments: Count, episodes: Count }
        = "Losses that the load does not explain hold the congestion window down: {lost} of {segments} segments lost in {episodes} episodes, no queue before them, window and program not in the way.";
    "random-loss.not.backlog" OneBacklog { size: Size } = "losses come at one backlog ({size})";
    "random-loss.not.bursts" OnlyBursts { lost: Count, episodes: Count } = "{lost} segments were lost in only {episodes} bursts";
    "random-loss.not.unslowed" LossesSlowNobody { lost: Count } = "{lost} lost segments do not slow the sender";
    "random-loss.not.idle" IdleOutweighs { episodes: Count, idle: Share }
        = "{episodes} episodes of losses, and nothing in flight {idle} of the time";
    "random-loss.not.few" LossesWouldAllow { lost: Count, rate: Rate } = "{lost} lost segments would allow {rate}";
    "random-loss.not.round-trips" TooFewRoundTrips { episodes: Count, samples: Count }
        = "{episodes} episodes of losses with {samples} round trips beside them are too few";

    // ecn-congestion
    "ecn-congestion" MarksHold { marked: Count, rounds: Count, episodes: Count }
        = "Congestion marks hold the sender back: marks were reported in {marked} of {rounds} round trips, losses came in {episodes}.";
    "ecn-congestion.not.marks" FewMarks { marked: Count } = "marks were reported in {marked} round trips";
    "ecn-congestion.not.losses" MoreLosses { episodes: Count, marked: Count }
        = "losses came in {episodes} episodes, marks in {marked} round trips";
    "ecn-congestion.seen.rounds" MarksInRounds { marked: Count } = "marks reported in {marked} round trips";
    "ecn-congestion.seen.marks" Marks { marks: Count } = "{marks} marks reported";

    // mtu-black-hole
    "mtu-black-hole" LargeVanish { segment: Count, times: Count, passed: Count }
        = "Full-size segments ({segment} bytes of payload) were sent {times} times and never acknowledged, while segments up to {passed} bytes got through: a smaller MTU on the path, and nobody heeds or sends the message about it.";
    "mtu-black-hole.not.pass" LargePass { passed: Count } = "segments of {passed} bytes were acknowledged";

    // reordering
    "reordering" Overtaken { late: Count, again: Count, lost: Count }
        = "Packets overtake each other: {late} segments came late, the sender took that for loss and sent {again} again, of which only {lost} had been lost.";
    "reordering.not.late" FewLate { late: Count, segments: Count } = "{late} of {segments} segments came late";
    "reordering.not.misled" HardlyMisled { late: Count, times: Count }
        = "{late} segments came late, and the sender was misled only {times} times";
    "reordering.not.held" HeldWhileLate { late: Count } = "the window or the program held the sender while {late} segments came late";
    "reordering.not.full" LateButFull { late: Count } = "{late} segments came late, but the link stayed full";
    "reordering.seen.late" Late { late: Count } = "{late} segments came late";
    "reordering.seen.needless" Needless { again: Count } = "{again} retransmissions were not needed";

    // slow-start
    "slow-start" StillGrowing { rounds: Count, rtt: Span }
        = "The transfer ended after {rounds} round trips of {rtt}, while the congestion window was still growing: the path was never used.";
    "slow-start.grew" GrewToTheEnd { from: Size, to: Size, rounds: Count, rtt: Span }
        = "The congestion window was still growing when the transfer ended: what was in flight rose from {from} to {to} in {rounds} round trips of {rtt}, without a loss or a queue. The path was never full.";
    "slow-start.early" EndedEarly { segments: Count }
        = "Slow start ended at {segments} segments in flight, before the path was full and without a loss; from there the window grew slowly.";
    "slow-start.not.short" LongEnough { rounds: Count } = "the transfer took {rounds} round trips";
    "slow-start.not.quiet" PathInUse { episodes: Count, rtt: Span }
        = "losses in {episodes} episodes and a round trip of {rtt} show a path in use";

    // capture-loss
    "capture-loss" CaptureMissed { missed: Share, lost: Share }
        = "The capture missed {missed} of the data against {lost} lost on the way; whether and how losses limited the transfer cannot be told.";
    "capture-loss.not" CaptureMissedLittle { missed: Share } = "the capture missed {missed} of the data";
    "capture-loss.doubt" PartlyMissed { missed: Share }
        = "This is uncertain: the capture missed {missed} of what passed.";
    "capture-loss.next" CaptureAgain {} = "capture again with a larger buffer, or only the headers";

    // unknown
    "unknown.untimed" NoTimeStamps {} = "Cannot be told from here: the packets have no time stamps.";
    "unknown.one-way" OneDirection {} = "Cannot be told from here: only one direction of the connection was recorded.";
    "unknown.acknowledgements" OnlyAcknowledgements {} = "Cannot be told from here: only acknowledgements were recorded.";
    "unknown.missed" NearlyAllMissed {} = "Cannot be told from here: the capture missed nearly all data.";
    "unknown.not.usable" HoldsNeeded {} = "the capture holds what is needed";
    "unknown.short" TooLittle { size: Size } = "Too little was transferred ({size}) to tell a limit.";
    "unknown.short-afar" TooLittleAfar { size: Size }
        = "Too little was transferred ({size}) to tell a limit, as far as this place shows: what was lost before it does not come by.";
    "unknown.not.short" Enough { size: Size } = "{size} are enough";
    "unknown.queue-or-bucket" QueueOrBucket { size: Size, rate: Rate }
        = "Losses come at a backlog of {size} over {rate}, so a queue or a policer drops, but the delays do not tell which.";
    "unknown.not.backlog" NoOneBacklog {} = "losses come at no one backlog";
    "unknown.few-bursts" FewBursts { lost: Count, episodes: Count }
        = "{lost} segments were lost in only {episodes} bursts: an overflowing queue, a policer or an outage, which so few bursts do not tell apart.";
    "unknown.not.bursts" HavePattern { episodes: Count } = "{episodes} episodes of losses have a pattern";
    "unknown.crowded-afar" CrowdedAfar { lost: Share, spread: Span }
        = "{lost} of the segments were lost and the delay varies by {spread}, of which the transfer's own load explains next to nothing: a queue that others fill, or a path that loses and delays by itself; from here these look alike.";
    "unknown.not.wavers" DelayEven {} = "the delay does not waver";
    "unknown.held-by-sender" HeldBySender { flight: Size, run: Count, rounds: Count, window: Size }
        = "Something at the sender holds the transfer: the flight stays at {flight} for {run} of {rounds} round trips, below the window of {window}; from here a full send buffer and a program that provides data at a constant rate look alike.";
    "unknown" Undecided { lost: Count, episodes: Count, rtt: Span, base: Span }
        = "Cannot be told from here: the window has room, {lost} segments were lost in {episodes} episodes, the round trip is {rtt} (empty path {base}), and the flight is not constant.";
    "next.time-stamps" TakeTimeStamps {} = "take a capture with time stamps";
    "next.both-directions" TakeBothDirections {} = "take both directions at one point";
    "next.longer" CaptureLonger {} = "capture a longer transfer";
    "next.longer-or-sender" CaptureAtSenderOrLonger {}
        = "capture at the sender, or a longer transfer if this one came to its end";
    "next.other-rate" CaptureAtSenderOrOtherRate {} = "capture at the sender, or send at a rate a little above and below this one";
    "next.longer-at-sender" CaptureLongerAtSender {} = "capture a longer transfer, best at the sender";
    "next.empty-path" CaptureEmptyPath {}
        = "capture at the sender, beginning before the transfer: what it sees of the empty path tells";
    "next.sample-buffer" CaptureAtSenderOrSample {}
        = "capture at the sender, or sample its socket (ss -ti: rwnd_limited, sndbuf_limited)";
    "next.sample" SampleSender {}
        = "sample the sender's socket during the transfer (ss -ti: rwnd_limited, sndbuf_limited, cwnd), or capture at both ends";
    "next.sender" CaptureAtSender {} = "capture at the sender, best at both ends";

    // What the path's own counters say: datagrams and frames.
    "counted.lost" CountedLost { lost: FineShare, share: FineShare, element: Name, cause: Part<Message> }
        = "{lost} of what was sent is lost, {share} of the dropped packets at {element}: {cause}.";
    "counted.lost-at-one" CountedLostAtOne { lost: FineShare, element: Name, cause: Part<Message> }
        = "{lost} of what was sent is lost, all of the dropped packets at {element}: {cause}.";
    "counted.flow" CountedFlow { flow: Name, lost: FineShare } = "{flow} loses {lost}.";
    "counted.flow-at" CountedFlowAt { flow: Name, lost: FineShare, places: List<Message> } = "{flow} loses {lost} ({places}).";
    "counted.place" CountedPlace { share: FineShare, element: Name } = "{share} at {element}";
    "counted.all-arrived" AllArrived { rate: ExactRate }
        = "The sender's own rate is the limit: everything that was sent arrived, {rate}. What the path could carry beyond that is not tested.";
    "counted.most-arrived" MostArrived { lost: FineShare, rate: ExactRate }
        = "The sender's own rate is the limit: all but {lost} of what was sent arrived, {rate}. What the path could carry beyond that is not tested.";
    "counted.seen" Dropped { element: Name, packets: Count, cause: Part<Message> } = "{element} dropped {packets} packets: {cause}";
    "counted.not" DroppedElsewhere { share: FineShare, element: Name } = "{share} of the dropped packets, at {element}";
    "dropped.queue-full" QueueFull {} = "its queue was full";
    "dropped.threshold" RoomUsedUp {} = "the queue's room for this drop precedence was used up";
    "dropped.aqm" QueueManagement {} = "its queue management dropped them";
    "dropped.policed" ExceededPolicer {} = "they exceeded the policer's rate and bucket";
    "dropped.loss" RandomDrops {} = "random loss";
    "dropped.receive-overload" NoReceiveRoom {} = "the device had no room on its receive side";
    "dropped.treatment" MarkDropped {} = "their mark is dropped";
    "dropped.too-big" TooLarge {} = "they were too large";
    "dropped.ttl-expired" TtlRanOut {} = "their TTL ran out";
    "dropped.other" OtherCauseOfDrops { cause: Name } = "{cause}";
    "dropped.incomplete" FragmentLost {} = "another fragment of the same packet was lost";

    // Several connections of one job.
    "job" JobLimited { limit: Name, held: Share, connections: Count, what: Name }
        = "The job as a whole: {limit}, which held {held} of the time of its {connections} connections. {what}";
    "job.overflows" JobOverflows { held: Share, connections: Count, what: Name }
        = "The queue before the link is too short for the job: its connections' bursts overflow it, and making good what is lost took {held} of the time of its {connections} connections. {what}";
    "job.fills" JobFills { floor: Share, connections: Count, what: Name }
        = "The job fills the link: its {connections} connections took little longer than the link itself needs, which is {floor} of the time. {what}";
    "job.waits" JobWaits { held: Share, connections: Count, what: Name }
        = "What each request needs beside its data is the limit: {held} of the time of the job's {connections} connections passes in handshakes and in waiting for answers. {what}";
    "job.untold" JobUntold { held: Share, connections: Count, what: Name }
        = "What {held} of the time of the job's {connections} connections went to cannot be told. {what}";
    "job.seen" JobSpent { time: Span, cause: Name, state: Name } = "{time} of the job in {cause} ({state})";
    "job.not" JobHeld { held: Share } = "it held only {held} of the connections' time";

    // Runs compared, and what a run's health says.
    "dscp-treatment" MarkTreated { fast: Name, gain: About }
        = "The network treats the mark of these packets differently: with nothing else changed, {fast} is {gain} times as fast.";
    "dscp-treatment.but" MarkTreatedBut { beside: Name, fast: Name, gain: About }
        = "The network treats the mark of these packets differently: with nothing else changed but {beside}, {fast} is {gain} times as fast.";
    "dscp-treatment.dropped" MarkLetsNothing { fast: Name }
        = "The network treats the mark of these packets differently: with nothing else changed, {fast} comes to its end, and here nothing moves.";
    "dscp-treatment.dropped-but" MarkLetsNothingBut { beside: Name, fast: Name }
        = "The network treats the mark of these packets differently: with nothing else changed but {beside}, {fast} comes to its end, and here nothing moves.";
    "dscp-treatment.next" TakeMarkOff {}
        = "take the mark off where the data come from (OpenSSH: IPQoS none), or have a router rewrite it; --prove tries both where the experiment asks for it";
    "dscp-treatment.seen.gain" SlowestFast { fast: Name, differs: Name, gain: Times }
        = "{fast} differs from this in {differs}, and its slowest run was {gain} times as fast as the fastest one here";
    "dscp-treatment.seen.gain-slowed" SlowestFastSlowed { fast: Name, differs: Name, gain: Times }
        = "{fast} differs from this in {differs}, and its slowest run, although the machine slowed it down, was {gain} times as fast as the fastest one here";
    "dscp-treatment.seen.nothing" NothingArrivedHere { fast: Name, differs: Name }
        = "{fast} differs from this in {differs}, and all its runs came to their end, while nothing arrived here";
    "dscp-treatment.seen.load" NoProcessor { program: Name, share: RoundShare }
        = "no processor is the cause: the busiest program, {program}, used {share} of one";
    "dscp-treatment.seen.capture" CaptureAlone { sentence: Name } = "a capture alone says of it: {sentence}";
    "dscp-treatment.captures" MarksDiffer { slow: Name, slow_name: Part<Message>, slow_rate: Rate, fast: Name, fast_name: Part<Message>, fast_rate: Rate, share: Share, how: Name }
        = "The network treats the marks differently: with DSCP {slow} ({slow_name}) the transfer reaches {slow_rate}, with {fast} ({fast_name}) {fast_rate}, {share} of it; hosts, path length and segment size are the same. {how}";
    "dscp-treatment.seen.goodput" MarkReaches { mark: Name, rate: Rate, limit: Name, lost: Share, rtt: Span }
        = "DSCP {mark}: {rate}, limited by {limit}, {lost} lost, round trip {rtt}";
    "device-limit" DeviceForwards { packets: About, small: Size, small_rate: Rate, large: Size, large_rate: Rate }
        = "A device on the path forwards {packets} packets per second of this transfer and no more: with segments of {small} the transfer reaches {small_rate}, with {large} {large_rate}, the same number of packets each.";
    "device-limit.seen" PacketsPerSecond { segment: Size, packets: About, rate: Rate }
        = "segments of {segment}: {packets} packets per second, {rate}";
    "host-cpu" ProgramBusy { health: Name } = "{health}.";
    "host-cpu.next" MoreProcessors {} = "run it on a machine with more processors, or in simulated time";
    "compared.not" HowNotWhy { limit: Name } = "{limit} is how it is slower, the difference between the transfers is why";
    "mark.best-effort" BestEffort {} = "best effort";
    "mark.known" MarkName { name: Name } = "{name}";
    "mark.unnamed" NoName {} = "no name";
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
