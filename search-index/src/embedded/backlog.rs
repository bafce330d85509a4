//! Documents that are on their way into a segment.
//!
//! tantivy takes up to 10,000 of them before it makes anyone wait, whatever their size; in memory, a document is ten
//! times as large as it is in a segment. So whoever writes waits for those before.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tantivy::TantivyDocument;
use tantivy::schema::document::Document;

/// Bytes of documents that wait, beyond which no one adds to them.
const MOST: usize = 2 << 20;

/// How long nothing may move until someone goes on in any case: a writer that has failed says so to the next one.
const STALLED: Duration = Duration::from_secs(2);

/// Counts the documents that wait.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    bytes: Mutex<usize>,
    moved: Condvar,
}

impl Backlog {
    fn bytes(&self) -> MutexGuard<'_, usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for room for so many bytes, and takes it.
    pub(super) fn enter(self: &Arc<Self>, bytes: usize) -> Place {
        let mut waiting = self.bytes();
        while *waiting > 0 && *waiting + bytes > MOST {
            let before = *waiting;
            let (now, _) = self
                .moved
                .wait_timeout(waiting, STALLED)
                .unwrap_or_else(PoisonError::into_inner);
            waiting = now;
            if *waiting == before {
                break;
            }
        }
        *waiting += bytes;
        drop(waiting);
        Place {
            backlog: Arc::clone(self),
            bytes,
        }
    }
}

/// Room that is taken until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    backlog: Arc<Backlog>,
    bytes: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.backlog.bytes() -= self.bytes;
        self.backlog.moved.notify_one();
    }
}

/// A document that waits. The last one of a block has the room of all.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) document: TantivyDocument,
    pub(super) _place: Option<Place>,
}

impl Document for Waiting {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn whoever_finds_no_room_waits_for_it() {
        let backlog = Arc::new(Backlog::default());
        let first = backlog.enter(MOST);
        let (said, heard) = mpsc::channel();
        let waits = Arc::clone(&backlog);
        let thread = thread::spawn(move || {
            let place = waits.enter(1);
            said.send(()).expect("somebody listens");
            drop(place);
        });
        assert!(heard.recv_timeout(Duration::from_millis(50)).is_err());
        drop(first);
        heard.recv().expect("it has gone on");
        thread.join().expect("no panic");
        assert_eq!(*backlog.bytes(), 0);
    }

    #[test]
    fn what_is_larger_than_all_room_goes_in_alone_and_nobody_waits_for_ever() {
        let backlog = Arc::new(Backlog::default());
        let large = backlog.enter(2 * MOST);
        let other = backlog.enter(1);
        assert_eq!(*backlog.bytes(), 2 * MOST + 1);
        drop((large, other));
        assert_eq!(*backlog.bytes(), 0);
    }
}
