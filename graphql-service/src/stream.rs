//! Several replies to one request, as subscriptions have them.

use std::fmt;

use futures::stream::BoxStream;

use crate::error::GraphqlError;
use crate::response::Reply;

/// What a service replies where the transport can send more than one response.
///
/// ```
/// use futures::stream::{self, StreamExt};
/// use graphql_service::{Answer, Event, Replies, Reply};
///
/// let answer = |data: &str| Reply::Executed(Answer::new(data.as_bytes().to_vec(), Vec::new()));
/// let events = [r#"{"risen":"Tatoo I"}"#, r#"{"risen":"Tatoo II"}"#].map(answer).map(Event::Next);
/// let replies = Replies::Several(stream::iter(events).boxed());
/// assert!(matches!(replies, Replies::Several(_)));
/// ```
pub enum Replies {
    /// One reply: the operation is no subscription, or it was refused.
    One(Reply),
    /// The events of a subscription. Dropping them ends it.
    Several(BoxStream<'static, Event>),
}

/// An event of a subscription. The end of their stream means that there are no more.
#[derive(Debug)]
pub enum Event {
    /// The reply to an event at the source.
    Next(Reply),
    /// The subscription has failed; nothing comes after it.
    Error(Vec<GraphqlError>),
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Replies::One(reply) => f.debug_tuple("One").field(reply).finish(),
            Replies::Several(_) => f.debug_tuple("Several").finish_non_exhaustive(),
        }
    }
}
