//! Calls of the server: each within a bound, and each change once.

use std::future::Future;
use std::time::Duration;

use mongodb::bson::{Bson, Document, doc};
use mongodb::error::Error;
use mongodb::event::EventHandler;
use mongodb::event::cmap::CmapEvent;
use mongodb::options::{ReadPreference, SelectionCriteria};
use mongodb::{Client, Collection, Database};
use tokio::sync::watch;

use super::MongoOptionsError;
use super::concern::{self, MongoReadConcern, MongoWriteConcern, milliseconds};
use super::failure::{CallError, Cause, ServerError, WriteFailure};
use super::options::MongoSchemaOptions;
use crate::store::SchemaStoreError;

/// How many documents of a listing a server may send at once; they have no texts.
const BATCH: u32 = 10_000;

/// The longest `maxTimeMS`.
const MAX_TIME: Duration = Duration::from_millis(i32::MAX as u64);

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A server is selected.
    Select,
    /// A connection to the server is waited for.
    Connect,
    /// A command is sent over the connection, and answered.
    Command,
}

tokio::task_local! {
    /// How far the call of this task has come.
    static STEP: watch::Sender<Step>;
}

/// Returns what watches the connections of a client for [`Calls`].
pub(super) fn watched() -> EventHandler<CmapEvent> {
    // The driver bounds neither authentication nor answers. It reports these events in the task that waits for them.
    EventHandler::callback(|event| {
        let step = match event {
            CmapEvent::ConnectionCheckoutStarted(_) => Step::Connect,
            CmapEvent::ConnectionCheckedOut(_) => Step::Command,
            _ => return,
        };
        // The driver also takes connections in tasks of its own.
        let _ = STEP.try_with(|current| current.send_replace(step));
    })
}

/// What shows that a change was made when the server has not acknowledged it.
pub(super) enum Proof {
    /// There is a document that matches.
    Present(Document),
    /// There is none.
    Absent(Document),
}

/// The collection, and how it is used.
pub(super) struct Calls {
    database: Database,
    collection: Collection<Document>,
    read_concern: MongoReadConcern,
    write_concern: MongoWriteConcern,
    server_selection_timeout: Duration,
    connection_timeout: Duration,
    read_timeout: Duration,
    /// The same, as far as servers take it.
    max_time: Duration,
}

impl Calls {
    /// Prepares calls. No server is asked.
    pub(super) async fn new(options: &MongoSchemaOptions) -> Result<Self, MongoOptionsError> {
        let driver = options.to_driver().await?;
        let client = Client::with_options(driver)
            .map_err(|error| MongoOptionsError::Driver(Box::new(error)))?;
        let database = client.database(&options.database);
        Ok(Calls {
            collection: database.collection(&options.collection),
            database,
            read_concern: options.read_concern,
            write_concern: options.write_concern.clone(),
            server_selection_timeout: options.server_selection_timeout,
            connection_timeout: options.connection_timeout,
            read_timeout: options.read_timeout,
            max_time: options.read_timeout.min(MAX_TIME),
        })
    }

    /// Finds a document, as the read concern has it.
    pub(super) async fn find(
        &self,
        filter: Document,
        fields: Document,
    ) -> Result<Option<Document>, SchemaStoreError> {
        self.find_by(self.read_concern, filter, fields).await
    }

    /// Finds a document as the next write will, whatever the read concern is.
    pub(super) async fn find_latest(
        &self,
        filter: Document,
        fields: Document,
    ) -> Result<Option<Document>, SchemaStoreError> {
        let latest = MongoReadConcern::Local;
        self.find_by(latest, filter, fields).await
    }

    async fn find_by(
        &self,
        concern: MongoReadConcern,
        filter: Document,
        fields: Document,
    ) -> Result<Option<Document>, SchemaStoreError> {
        let mut find = self
            .collection
            .find_one(filter)
            .projection(fields)
            .selection_criteria(primary())
            .max_time(self.max_time);
        if let Some(concern) = concern.to_sent() {
            find = find.read_concern(concern);
        }
        self.bounded(find.into_future())
            .await
            .map_err(CallError::into_read_error)
    }

    /// Finds all documents that match, in the order of their keys.
    pub(super) async fn find_all(
        &self,
        filter: Document,
        fields: Document,
    ) -> Result<Vec<Document>, SchemaStoreError> {
        let mut find = self
            .collection
            .find(filter)
            .projection(fields)
            .sort(doc! { "_id": 1 })
            .batch_size(BATCH)
            .selection_criteria(primary())
            .max_time(self.max_time);
        if let Some(concern) = self.read_concern.to_sent() {
            find = find.read_concern(concern);
        }
        let found = self.bounded(find.into_future()).await;
        let mut cursor = found.map_err(CallError::into_read_error)?;
        let mut documents = Vec::new();
        loop {
            let more = self.bounded(cursor.advance()).await;
            if !more.map_err(CallError::into_read_error)? {
                return Ok(documents);
            }
            let document = cursor.deserialize_current();
            documents.push(document.map_err(|error| SchemaStoreError::Failed(Box::new(error)))?);
        }
    }

    /// Adds a document. Returns `false` if there is one with its key.
    pub(super) async fn insert(
        &self,
        document: Document,
        proof: Proof,
    ) -> Result<bool, SchemaStoreError> {
        let command = doc! { "insert": self.collection.name(), "documents": [document] };
        self.change(command, proof).await
    }

    /// Changes the document that matches. Returns `false` if there is none.
    pub(super) async fn update(
        &self,
        filter: Document,
        update: Document,
        proof: Proof,
    ) -> Result<bool, SchemaStoreError> {
        let updates = [doc! { "q": filter, "u": update, "multi": false, "upsert": false }];
        let command = doc! { "update": self.collection.name(), "updates": updates.to_vec() };
        self.change(command, proof).await
    }

    /// Removes the document that matches. Returns `false` if there is none.
    pub(super) async fn delete(
        &self,
        filter: Document,
        proof: Proof,
    ) -> Result<bool, SchemaStoreError> {
        self.change(self.deletion(filter), proof).await
    }

    /// Checks that writes are accepted, by removing what is not there.
    pub(super) async fn try_delete(&self, filter: Document) -> Result<(), SchemaStoreError> {
        match self.send(self.deletion(filter)).await {
            Ok(_) => Ok(()),
            Err(WriteFailure::NotMade(error)) => Err(error),
            Err(WriteFailure::Lost(source)) => Err(SchemaStoreError::Unavailable(source)),
            Err(WriteFailure::LessDurable(error)) => Err(error.into_error()),
        }
    }

    fn deletion(&self, filter: Document) -> Document {
        let deletes = [doc! { "q": filter, "limit": 1 }];
        doc! { "delete": self.collection.name(), "deletes": deletes.to_vec() }
    }

    /// Makes a change. Returns whether a document was changed.
    async fn change(&self, command: Document, proof: Proof) -> Result<bool, SchemaStoreError> {
        match self.send(command).await {
            Ok(Reply::Changed(changed)) => Ok(changed),
            Ok(Reply::Unacknowledged) => self.is_shown(&proof).await,
            Err(WriteFailure::NotMade(error)) => Err(error),
            Err(WriteFailure::LessDurable(error)) => {
                Err(SchemaStoreError::OutcomeUnknown(Box::new(error)))
            }
            Err(WriteFailure::Lost(source)) => match self.is_shown(&proof).await {
                Ok(true) => Ok(true),
                // The server may still be working on it.
                Ok(false) | Err(_) => Err(SchemaStoreError::OutcomeUnknown(source)),
            },
        }
    }

    /// Returns whether a change has been made, by its proof.
    async fn is_shown(&self, proof: &Proof) -> Result<bool, SchemaStoreError> {
        let (Proof::Present(filter) | Proof::Absent(filter)) = proof;
        let concern = concern::confirming(&self.write_concern);
        let found = self.find_by(concern, filter.clone(), doc! { "_id": 1 });
        let is_present = found.await?.is_some();
        Ok(match proof {
            Proof::Present(_) => is_present,
            Proof::Absent(_) => !is_present,
        })
    }

    /// Sends a command that writes, once.
    async fn send(&self, mut command: Document) -> Result<Reply, WriteFailure> {
        command.insert("maxTimeMS", milliseconds(self.max_time));
        concern::add(&mut command, &self.write_concern);
        // Commands that are given as documents are never repeated by the driver.
        let run = self
            .database
            .run_command(command)
            .selection_criteria(primary());
        let reply = self
            .bounded(run.into_future())
            .await
            .map_err(CallError::into_write_failure)?;
        if let Some(error) = ServerError::of_write(&reply) {
            return if error.is_duplicate_key() {
                Ok(Reply::Changed(false))
            } else {
                Err(WriteFailure::NotMade(error.into_error()))
            };
        }
        if self.write_concern.is_unacknowledged() {
            return Ok(Reply::Unacknowledged);
        }
        match ServerError::of_write_concern(&reply) {
            Some(error) => Err(WriteFailure::LessDurable(error)),
            None => Ok(Reply::Changed(number(&reply, "n") > Some(0))),
        }
    }

    /// Waits for a call, and for each of its steps at most as long as the options say.
    async fn bounded<T>(
        &self,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, CallError> {
        let (step, mut steps) = watch::channel(Step::Select);
        let mut call = std::pin::pin!(STEP.scope(step, call));
        let mut was_sent = false;
        loop {
            let limit = match *steps.borrow_and_update() {
                Step::Select => self.server_selection_timeout,
                Step::Connect => self.connection_timeout,
                Step::Command => {
                    was_sent = true;
                    self.read_timeout
                }
            };
            let outcome = tokio::select! {
                biased;
                outcome = &mut call => outcome.map_err(Cause::Driver),
                // The other end is in the call.
                Ok(()) = steps.changed() => continue,
                () = tokio::time::sleep(limit) => Err(Cause::TimedOut),
            };
            was_sent |= *steps.borrow() == Step::Command;
            return outcome.map_err(|cause| CallError { cause, was_sent });
        }
    }
}

/// The reply to a command that writes.
enum Reply {
    /// Whether a document was changed.
    Changed(bool),
    /// The command was received, as asked for.
    Unacknowledged,
}

fn primary() -> SelectionCriteria {
    SelectionCriteria::ReadPreference(ReadPreference::Primary)
}

/// Reads a number, whatever type the server has given it.
pub(super) fn number(document: &Document, key: &str) -> Option<i64> {
    match document.get(key)? {
        Bson::Int32(number) => Some((*number).into()),
        Bson::Int64(number) => Some(*number),
        // Counts of some servers; they are whole.
        Bson::Double(number) => format!("{number:.0}").parse().ok(),
        _ => None,
    }
}
