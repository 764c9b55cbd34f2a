//! One side's whole conversation from bytes alone, for tests and fuzzing: nothing that the other side may send
//! panics, grows memory beyond what was sent, or is read as something that cannot be written again.

use super::params::Params;
use super::report::StreamReport;
use super::results;
use super::udp::{Header, Order};
use super::wire::{self, COOKIE_LEN, Incoming, IperfError, State};

/// Reads `input` as what one side of a test hears: the first byte chooses the side.
///
/// # Errors
/// The first thing that the protocol does not allow, which for nearly all inputs is the result.
pub fn hear(input: &[u8]) -> Result<(), IperfError> {
    let (side, rest) = input.split_first().unwrap_or((&0, &[]));
    let mut from = Bytes(rest);
    match side % 3 {
        0 => as_client(&mut from, side & 4 != 0),
        1 => as_server(&mut from),
        _ => {
            datagrams(rest, side & 4 != 0);
            Ok(())
        }
    }
}

/// What a client hears from the beginning to the end of a test with two streams.
fn as_client(from: &mut Bytes<'_>, sends: bool) -> Result<(), IperfError> {
    for state in [
        State::ParamExchange,
        State::CreateStreams,
        State::TestStart,
        State::TestRunning,
        State::ExchangeResults,
    ] {
        wire::expect(from, state, "testing")?;
    }
    account(from, sends)?;
    wire::expect(from, State::DisplayResults, "testing")
}

/// What a server hears.
fn as_server(from: &mut Bytes<'_>) -> Result<(), IperfError> {
    from.fill(&mut [0; COOKIE_LEN], "testing")?;
    let params = Params::from_json(&wire::json(from, MOST, "testing")?)?;
    let block = params.block_size(1448);
    let again = Params::from_json(&params.to_json(block))?;
    let expected = Params {
        block: again.block,
        duration: if params.limited() {
            again.duration
        } else {
            params.duration
        },
        ..params
    };
    assert_eq!(again, expected, "parameters change when they are written again");
    wire::expect(from, State::TestEnd, "testing")?;
    account(from, false)?;
    wire::expect(from, State::IperfDone, "testing")
}

/// The other side's account, which must stay readable when it is passed on.
fn account(from: &mut Bytes<'_>, sends: bool) -> Result<(), IperfError> {
    let mut streams = [1, 3].map(|id| StreamReport::empty(id, sends));
    let account = results::read(&wire::json(from, MOST, "testing")?, &mut streams)?;
    let again = results::read(&results::to_json(&streams, &account), &mut streams)?;
    assert_eq!(
        account.congestion, again.congestion,
        "an account changes when it is passed on"
    );
    Ok(())
}

/// Datagrams of 16 bytes each as a receiver's counter sees them.
fn datagrams(input: &[u8], wide: bool) {
    let mut order = Order::default();
    let mut noted = 0;
    for (number, datagram) in input.chunks(16).enumerate() {
        if let Some(header) = Header::parse(datagram, wide) {
            order.note(header, number as u64 * 1_000);
            noted += 1;
        }
    }
    assert_eq!(order.arrived + order.duplicates, noted);
    order.jitter_nanos();
}

/// What is left to be read.
struct Bytes<'a>(&'a [u8]);

impl Incoming for Bytes<'_> {
    fn fill(&mut self, buffer: &mut [u8], doing: &'static str) -> Result<(), IperfError> {
        let Some((now, later)) = self.0.split_at_checked(buffer.len()) else {
            return Err(IperfError::Closed(doing));
        };
        buffer.copy_from_slice(now);
        self.0 = later;
        Ok(())
    }
}

/// Most of one JSON text.
const MOST: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &str) -> Vec<u8> {
        let mut bytes = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend(text.as_bytes());
        bytes
    }

    const ACCOUNT: &str = r#"{"cpu_util_total":1.5,"congestion_used":"cubic","streams":[
        {"id":1,"bytes":14000,"retransmits":-1,"jitter":1e-5,"errors":2,"packets":15,"start_time":0,"end_time":1.0},
        {"id":3,"bytes":1,"retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":1}]}"#;

    fn conversations() -> [Vec<u8>; 3] {
        let mut client = vec![0, 9, 10, 1, 2, 13];
        client.extend(framed(ACCOUNT));
        client.push(14);
        let mut server = vec![1];
        server.extend([b'a'; COOKIE_LEN]);
        let params = r#"{"udp":true,"omit":1,"time":3,"parallel":2,"len":1400,"bandwidth":10000000,"TOS":32,
            "bidirectional":true,"udp_counters_64bit":1,"title":"t"}"#;
        server.extend(framed(params));
        server.push(4);
        server.extend(framed(ACCOUNT));
        server.push(16);
        let mut datagrams = vec![2];
        for sequence in [1_u32, 2, 4, 3, 3, 70_000, 5] {
            for word in [7, 500, sequence, 0] {
                datagrams.extend(word.to_be_bytes());
            }
        }
        [client, server, datagrams]
    }

    #[test]
    fn whole_conversations_are_understood() {
        for conversation in conversations() {
            hear(&conversation).unwrap();
            assert!(hear(&conversation[..conversation.len() - 1]).is_err() || conversation[0] == 2);
        }
    }

    #[test]
    fn mutated_conversations_do_no_harm() {
        for conversation in conversations() {
            for at in 0..conversation.len() {
                for byte in [
                    0, 1, 9, 13, 14, 0x7f, 0xfe, 0xff, b'-', b'9', b'e', b'"', b'{', b']',
                ] {
                    let mut mutated = conversation.clone();
                    mutated[at] = byte;
                    let _ = hear(&mutated);
                    mutated.truncate(at);
                    let _ = hear(&mutated);
                }
            }
        }
    }
}
