//! JSON text in segments, so that a long text is never copied to grow, and freed as it is sent.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use call_context::MemoryAccount;

/// JSON text in segments.
#[derive(Clone, Default)]
pub struct Body {
    segments: Vec<Bytes>,
    memory: Option<Arc<MemoryAccount>>,
}

impl Body {
    /// Creates a text from its segments. `memory` is the account that counts them, where one does.
    #[must_use]
    pub fn new(segments: Vec<Bytes>, memory: Option<Arc<MemoryAccount>>) -> Self {
        Body { segments, memory }
    }

    /// Returns the length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.iter().map(Bytes::len).sum()
    }

    /// Returns whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the segments, in order.
    #[must_use]
    pub fn segments(&self) -> &[Bytes] {
        &self.segments
    }

    /// Returns the whole text; copies it when it has several segments.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        match self.segments.as_slice() {
            [] => Bytes::new(),
            [only] => only.clone(),
            several => several.concat().into(),
        }
    }

    /// Returns a copy of the whole text.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.segments.concat()
    }

    /// Returns the segments and the account that counts them, to send them.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Bytes>, Option<Arc<MemoryAccount>>) {
        (self.segments, self.memory)
    }
}

impl From<Vec<u8>> for Body {
    fn from(text: Vec<u8>) -> Self {
        Body::new(vec![text.into()], None)
    }
}

impl From<Bytes> for Body {
    fn from(text: Bytes) -> Self {
        Body::new(vec![text], None)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            f.write_str(&String::from_utf8_lossy(segment))?;
        }
        Ok(())
    }
}
