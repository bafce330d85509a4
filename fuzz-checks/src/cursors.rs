//! Cursors of connections: any text is refused, or it is the cursor of a position.

use graph_store::query::{OrderKey, Position, SortBy};
use object_engine::CursorCodec;
use oxrdf::NamedNode;
use soml_core::datatype::Scalar;

/// Bytes that a cursor may hold.
const LIMIT: usize = 8_192;

/// Characters of the beginning that all cursors of one order share: nine bytes.
const SHARED: usize = 12;

/// Reads the input as the text of a cursor, and as what follows the beginning of a right one.
///
/// The first byte is the number of sort keys.
pub fn run(input: &[u8]) {
    let Some((keys, rest)) = input.split_first() else {
        return;
    };
    let codec = codec(usize::from(keys % 4));
    if let Ok(text) = std::str::from_utf8(rest) {
        check(&codec, text);
    }
    // No one guesses the fingerprint of the order.
    let sample = Position {
        keys: Vec::new(),
        id: NamedNode::new_unchecked("http://e/1").into(),
    };
    let sample = codec.encode(&sample).expect("a short cursor fits");
    let text: String = rest.iter().map(|byte| character(*byte)).collect();
    check(&codec, &format!("{}{text}", &sample[..SHARED]));
}

fn codec(keys: usize) -> CursorCodec {
    let key = || {
        let by = SortBy::Scalar {
            scalar: Scalar::String,
            cast: false,
            lang: None,
        };
        OrderKey::new(Vec::new(), by, false)
    };
    let order: Vec<OrderKey> = std::iter::repeat_with(key).take(keys).collect();
    CursorCodec::new("T", &order, LIMIT)
}

fn check(codec: &CursorCodec, text: &str) {
    if let Some(position) = codec.decode(text) {
        assert!(NamedNode::new(position.id.iri()).is_ok());
        // Another text may stand for the same position, but not the other way round.
        let written = codec.encode(&position).expect("what was read fits");
        let again = codec.decode(&written).expect("what was written is read");
        assert_eq!(codec.encode(&again), Some(written), "{text}");
    }
}

/// One of the characters that cursors are made of.
fn character(byte: u8) -> char {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
        char::from(byte)
    } else {
        char::from(ALPHABET[usize::from(byte % 64)])
    }
}
