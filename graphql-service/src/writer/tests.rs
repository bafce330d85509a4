//! Segments of an answer: how they grow, what is repeated from them, and what they hold of the memory.

use std::sync::Arc;
use std::time::Duration;

use call_context::MemoryBudget;

use super::{AnswerWriter, SEGMENTS_AT_HAND};

#[test]
fn text_is_repeated_while_it_is_there() {
    let mut answer = AnswerWriter::new();
    answer.out.extend_from_slice(b"[");
    let mark = answer.mark();
    answer.out.extend_from_slice(b"{\"a\":1}");
    let object = answer.written_since(mark);
    answer.out.push(b',');
    assert!(answer.repeat(object));
    let later = answer.mark();
    answer.out.extend_from_slice(b",2");
    answer.null_from(later, false).unwrap();
    assert!(!answer.repeat(object), "something was taken back");
    let again = super::WrittenText {
        truncations: answer.truncations,
        ..object
    };
    for _ in 0..SEGMENTS_AT_HAND {
        fill(&mut answer);
        answer.check_size().unwrap();
        assert!(answer.repeat(again));
        assert_eq!(answer.out, b"{\"a\":1}");
    }
    fill(&mut answer);
    answer.check_size().unwrap();
    assert!(!answer.repeat(again), "it is too far away");
    let text = answer.finish(Ok(())).data.to_bytes();
    assert!(text.starts_with(b"[{\"a\":1},{\"a\":1}null "));
}

/// Fills the current segment.
fn fill(answer: &mut AnswerWriter<'_>) {
    answer.out.resize(answer.full, b' ');
}

#[test]
fn text_in_two_segments_is_not_repeated() {
    let mut answer = AnswerWriter::new();
    let mark = answer.mark();
    fill(&mut answer);
    answer.check_size().unwrap();
    answer.out.push(b'.');
    let text = answer.written_since(mark);
    fill(&mut answer);
    answer.check_size().unwrap();
    assert!(!answer.repeat(text));
    assert_eq!(answer.out, b"");
}

#[test]
fn segments_grow_without_a_copy() {
    let mut answer = AnswerWriter::expecting(super::SHORT_SEGMENT);
    let mut expected = Vec::new();
    while answer
        .complete
        .last()
        .is_none_or(|last| last.len() < super::SEGMENT)
    {
        let room = answer.out.capacity();
        answer.out.extend_from_slice(b"text ");
        expected.extend_from_slice(b"text ");
        assert_eq!(answer.out.capacity(), room);
        answer.check_size().unwrap();
    }
    let lengths: Vec<usize> = answer.complete.iter().map(|part| part.len()).collect();
    assert!(lengths.is_sorted(), "{lengths:?}");
    assert!(lengths.len() < 8, "{lengths:?}");
    assert_eq!(answer.finish(Ok(())).data.to_bytes(), expected);
}

#[test]
fn room_that_is_not_needed_is_given_back() {
    let account = Arc::new(MemoryBudget::unlimited().account());
    let mut answer =
        AnswerWriter::expecting(100_000).with_memory(Arc::clone(&account), Duration::ZERO);
    answer.out.extend_from_slice(b"[]");
    answer.check_size().unwrap();
    assert!(account.held() >= 100_000);
    let answer = answer.finish(Ok(()));
    assert!(account.held() < 10_000, "{} bytes", account.held());
    assert_eq!(answer.data.to_bytes(), "[]");
}

#[test]
fn all_memory_of_an_answer_is_counted() {
    let budget = MemoryBudget::new(1 << 20);
    let account = Arc::new(budget.account());
    let mut answer =
        AnswerWriter::expecting(100_000).with_memory(Arc::clone(&account), Duration::ZERO);
    answer.out.push(b'[');
    answer.check_size().unwrap();
    assert!(account.held() >= answer.out.capacity());
    while answer.check_size().is_ok() {
        assert!(account.held() >= answer.complete_len + answer.out.capacity());
        answer.out.extend_from_slice(b"null,");
    }
    assert!(answer.is_out_of_memory());
}
