//! Every sentence about changes and what they would gain, in English: one entry for each key.
//!
//! Reasons are written small and without a full stop, because others lead up to them. Whole sentences about a proof are put
//! together in [`investigation`](crate::investigation).

use slowpath_verdict::message::{
    About, Bytes, Count, KilobyteRate, MegabyteRate, Milliseconds, Name, Part, Share,
};

slowpath_verdict::messages! {
    // What a change makes of the transfer, as a noun.
    "change.window" Window { window: Bytes } = "a receiver's window of {window} bytes";
    "change.send-buffer" SendBuffer { buffer: Bytes } = "a send buffer of {buffer} bytes";
    "change.reader" Reader {} = "a receiving program that never waits";
    "change.writer" Writer {} = "a sending program that never waits";
    "change.no-loss" NoLoss {} = "a path without loss of its own";
    "change.no-policer" NoPolicer {} = "a path without the policer";
    "change.no-device-limit" NoDeviceLimit {} = "devices on the path without their limit";
    "change.streams" Streams { count: Count } = "{count} connections at once";
    "change.control" Control { control: Name } = "{control} as the sender's congestion control";
    "change.rate" BottleneckRate { percent: Count } = "a bottleneck of {percent} % of its rate";
    "change.no-mark" NoMark {} = "no mark from OpenSSH (IPQoS none)";
    "change.remark" Remark {} = "every mark taken off by the first router";
    "change.other" OtherChange { words: Name } = "{words}";

    // Why a rate is predicted.
    "because.window" WindowEach { window: Bytes, rtt: Milliseconds } = "{window} bytes of window once every {rtt}";
    "because.flight" FlightEach { flight: Bytes, rtt: Milliseconds } = "{flight} bytes in flight once every {rtt}";
    "because.reader" ReaderTakes { rate: KilobyteRate } = "the receiving program takes {rate}";
    "because.reader-whatever" ReaderTakesWhatever { rate: KilobyteRate }
        = "the receiving program takes {rate} whatever the window is";
    "because.reader-waits" ReaderWaits { rate: KilobyteRate, wait: Milliseconds, step: Bytes }
        = "the receiving program takes {rate} whatever the window is; it waits for data at most {wait} in each {step} bytes, and only this wait can be saved";
    "because.source" SourceGives { rate: KilobyteRate } = "the sending program gives {rate}";
    "because.fills" FillsBottleneck { rate: MegabyteRate } = "it fills the bottleneck, {rate} of payload";
    "because.carries" BottleneckCarries { rate: MegabyteRate } = "the bottleneck carries {rate} of payload";
    "because.policer" PolicerPasses { rate: MegabyteRate } = "the policer lets {rate} of payload through";
    "because.loss" OneLost { segments: About, rtt: Milliseconds } = "one segment in {segments} is lost at {rtt}";
    "because.untreated" UntreatedReach { rate: MegabyteRate }
        = "transfers whose marks are not treated reach {rate} over this path";
    "because.unbounded" Unbounded {} = "nothing that was seen bounds the transfer after the change";
    "because.start" SentBefore { because: Part<Message>, size: Bytes }
        = "{because}, but {size} bytes are sent before that is reached";
    "because.same" NothingChanges { because: Part<Message> } = "nothing changes for what limits it now: {because}";
    "because.beyond" BeyondSeen { because: Part<Message> }
        = "{because}; what the path itself carries was not seen and may hold it earlier";
    "because.given-back" GivenBack { share: Share } = "what it takes away costs {share} of the time";
    "because.waits-shared" WaitsShared { share: Share }
        = "requests and the start of each connection take {share} of the time, and more connections share it";
    "because.link-shrinks" LinkShrinks { share: Share } = "the link takes {share} of the time, and what it takes shrinks";
    "because.offered" Offered { rate: MegabyteRate } = "no more than {rate} is sent";
    "because.arrives" Arrives { rate: MegabyteRate } = "what drops all but {rate} stays in place";
    "because.queue" LongerQueue { because: Name } = "{because}; a larger buffer only lengthens the full queue";
}
