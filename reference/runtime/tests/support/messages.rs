//! Cap'n Proto messages, as somebody sees them who stands between a caller and a host.

use capnp::message::ReaderOptions;
use capnp_rpc::rpc_capnp::{message, return_};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The number of the method `call` in the schema.
const CALL: u16 = 1;

/// One message with its frame: a count of segments less one, their lengths in words, padding, and the segments.
pub(crate) async fn read_message(stream: &mut (impl AsyncRead + Unpin + ?Sized)) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 4];
    stream.read_exact(&mut bytes).await.ok()?;
    let segments = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize + 1;
    let header = (4 + 4 * segments).next_multiple_of(8);
    bytes.resize(header, 0);
    stream.read_exact(&mut bytes[4..]).await.ok()?;
    let words = (0..segments).map(|index| {
        let at = 4 + 4 * index;
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    });
    let length = 8 * words.sum::<usize>();
    bytes.resize(header + length, 0);
    stream.read_exact(&mut bytes[header..]).await.ok()?;
    Some(bytes)
}

/// The question that the message asks, if it is an attempt.
pub(crate) fn asked_in(mut bytes: &[u8]) -> Option<u32> {
    let message = capnp::serialize::read_message_from_flat_slice(&mut bytes, options()).ok()?;
    let message::Call(call) = message.get_root::<message::Reader<'_>>().ok()?.which().ok()? else { return None };
    let call = call.ok()?;
    (call.get_method_id() == CALL).then(|| call.get_question_id())
}

/// The question that the message answers, if it is an answer.
pub(crate) fn answered_in(mut bytes: &[u8]) -> Option<u32> {
    let message = capnp::serialize::read_message_from_flat_slice(&mut bytes, options()).ok()?;
    let message::Return(answer) = message.get_root::<message::Reader<'_>>().ok()?.which().ok()? else { return None };
    let answer: return_::Reader<'_> = answer.ok()?;
    Some(answer.get_answer_id())
}

pub(crate) fn options() -> ReaderOptions {
    let mut options = ReaderOptions::new();
    options.traversal_limit_in_words(None);
    options
}
