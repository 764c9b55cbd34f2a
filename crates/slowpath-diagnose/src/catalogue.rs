//! Every sentence about changes and what they would gain, as a key with its arguments; the words stand in `slowpath-words`,
//! in `diagnose.ftl`.
//!
//! Reasons are written small and without a full stop, because others lead up to them. Whole sentences about a proof are put
//! together in [`investigation`](crate::investigation).

use slowpath_verdict::message::{
    About, Bytes, Count, KilobyteRate, MegabyteRate, Milliseconds, Name, Part, Share,
};

slowpath_verdict::messages! {
    // What a change makes of the transfer, as a noun.
    "change.window" Window { window: Bytes };
    "change.send-buffer" SendBuffer { buffer: Bytes };
    "change.reader" Reader {};
    "change.writer" Writer {};
    "change.no-loss" NoLoss {};
    "change.no-policer" NoPolicer {};
    "change.no-device-limit" NoDeviceLimit {};
    "change.streams" Streams { count: Count };
    "change.control" Control { control: Name };
    "change.rate" BottleneckRate { percent: Count };
    "change.queue" Queue { queue: Bytes };
    "change.no-mark" NoMark {};
    "change.remark" Remark {};
    "change.other" OtherChange { words: Name };

    // Why a rate is predicted.
    "because.window" WindowEach { window: Bytes, rtt: Milliseconds };
    "because.flight" FlightEach { flight: Bytes, rtt: Milliseconds };
    "because.reader" ReaderTakes { rate: KilobyteRate };
    "because.reader-whatever" ReaderTakesWhatever { rate: KilobyteRate };
    "because.reader-waits" ReaderWaits { rate: KilobyteRate, wait: Milliseconds, step: Bytes };
    "because.source" SourceGives { rate: KilobyteRate };
    "because.fills" FillsBottleneck { rate: MegabyteRate };
    "because.carries" BottleneckCarries { rate: MegabyteRate };
    "because.policer" PolicerPasses { rate: MegabyteRate };
    "because.loss" OneLost { segments: About, rtt: Milliseconds };
    "because.untreated" UntreatedReach { rate: MegabyteRate };
    "because.unbounded" Unbounded {};
    "because.start" SentBefore { because: Part<Message>, size: Bytes };
    "because.same" NothingChanges { because: Part<Message> };
    "because.beyond" BeyondSeen { because: Part<Message> };
    "because.given-back" GivenBack { share: Share };
    "because.waits-shared" WaitsShared { share: Share };
    "because.link-shrinks" LinkShrinks { share: Share };
    "because.overflows" OverflowsTake { share: Share };
    "because.drops-bursts" DropsBursts { rate: MegabyteRate };
    "because.offered" Offered { rate: MegabyteRate };
    "because.arrives" Arrives { rate: MegabyteRate };
    "because.until-channel" UntilTheChannel { because: Name, rate: MegabyteRate };
    "because.until-window" UntilTheWindow { because: Name, rate: MegabyteRate };
    "because.queue" LongerQueue { because: Name };
}
