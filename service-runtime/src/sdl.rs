//! The printed API of a schema: made when someone first asks for it, once.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use graphql_service::{SlotError, Slots, Weight};
use tokio::sync::Mutex;

/// The API in the GraphQL schema definition language.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PrintedSdl {
    /// The document.
    pub text: Bytes,
    /// The entity tag of the text, in the syntax of the header.
    pub etag: String,
}

impl PrintedSdl {
    fn new(text: String) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        PrintedSdl {
            // Weak, since compressed answers have the same tag.
            etag: format!("W/\"{:016x}\"", hasher.finish()),
            text: text.into(),
        }
    }
}

impl PrintedSdl {
    /// Returns the document with a comment before it.
    #[must_use]
    pub fn with_comment(&self, comment: &str) -> Self {
        let mut text = String::with_capacity(self.text.len() + comment.len() * 2);
        for line in comment.lines() {
            text.push_str("# ");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&String::from_utf8_lossy(&self.text));
        PrintedSdl::new(text)
    }
}

/// The place of a printed API.
#[derive(Clone, Default)]
pub struct SdlCell(Arc<Shared>);

#[derive(Default)]
struct Shared {
    printed: OnceLock<PrintedSdl>,
    /// Held while it is printed: whoever asks meanwhile waits without a thread.
    printing: Arc<Mutex<()>>,
}

impl SdlCell {
    /// Returns the printed API; the first caller has `print` called, in a slot.
    ///
    /// It is completed even when that caller goes away, so it never happens twice.
    ///
    /// # Errors
    /// When there is no slot for it.
    pub async fn get(
        &self,
        slots: &Arc<Slots>,
        print: impl FnOnce() -> String + Send + 'static,
    ) -> Result<PrintedSdl, SlotError> {
        if let Some(printed) = self.0.printed.get() {
            return Ok(printed.clone());
        }
        let printing = Arc::clone(&self.0.printing).lock_owned().await;
        if let Some(printed) = self.0.printed.get() {
            return Ok(printed.clone());
        }
        let shared = Arc::clone(&self.0);
        let made = slots.run(Weight::Background, None, move |_slot| {
            let _printing = printing;
            let printed = shared.printed.get_or_init(|| PrintedSdl::new(print()));
            printed.clone()
        });
        made.await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn many_callers_share_one_print_off_the_async_thread() {
        let cell = SdlCell::default();
        let prints = Arc::new(AtomicUsize::new(0));
        let slots = Arc::new(Slots::new(Some(2), 4));
        let here = std::thread::current().id();
        let started = Arc::new(Notify::new());
        let (go_on, waits) = mpsc::channel::<()>();
        let waits = Arc::new(std::sync::Mutex::new(waits));
        let ask = || {
            let prints = Arc::clone(&prints);
            let (cell, slots) = (cell.clone(), Arc::clone(&slots));
            let (started, waits) = (Arc::clone(&started), Arc::clone(&waits));
            async move {
                let print = move || {
                    assert_ne!(std::thread::current().id(), here);
                    prints.fetch_add(1, Ordering::SeqCst);
                    started.notify_one();
                    let _ = waits.lock().unwrap().recv();
                    "type Query".to_owned()
                };
                cell.get(&slots, print).await.unwrap()
            }
        };
        // This caller goes away while it is printed for it.
        tokio::select! {
            _ = ask() => panic!("it is still printed"),
            () = started.notified() => {}
        }
        let asked: Vec<_> = (0..8).map(|_| tokio::spawn(ask())).collect();
        tokio::task::yield_now().await;
        drop(go_on);
        let mut tags = std::collections::HashSet::new();
        for printed in asked {
            let printed = printed.await.unwrap();
            assert_eq!(&printed.text[..], b"type Query");
            tags.insert(printed.etag);
        }
        assert_eq!((tags.len(), prints.load(Ordering::SeqCst)), (1, 1));
    }
}
