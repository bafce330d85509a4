//! Documents in a collection of MongoDB, which several processes share.
//!
//! # Documents
//!
//! All documents are in one collection. The prefix of a key is the kind of document, so the name of a schema never
//! collides with another key. Only schemas have the field `@yaml`, so deleting the documents that have it deletes the
//! schemas.
//!
//! | `_id` | what | fields |
//! |---|---|---|
//! | `schema:films` | a schema | `@id` (its name), `@yaml` (its text), `revision`, `bytes`, `modified`, `bindings` |
//! | `rights` | who may manage schemas, the same for all applications | `text`, `revision`, `bytes`, `modified` |
//! | `binding:objects:shop` | what is bound to a service of an application | `application`, `service`, `schema` (`null` for nothing), `mark`, `version` |
//! | `lease:indexes` | a lease | `holder`, `number`, `beat` |
//! | `migration` | how far a migration into the store has come | `record` |
//!
//! # Changes
//!
//! Changes of one document are atomic, and a server that is not in a replica set has no transactions. So every change
//! is one command for one document: an insertion, which fails if the key is taken, or an update or deletion whose
//! filter contains what is expected. Each writes a random `revision` or `version`; a lease is recognised by its
//! content. If the answer is lost, a read with `majority` shows whether the change was made. If it does not, the
//! outcome is [unknown](crate::SchemaStoreError::OutcomeUnknown), since the server may still be working on it. The
//! outcome is also unknown if the change was made on fewer members than the write concern requires, because a
//! failover may undo it.
//!
//! The driver sends a read again once, after a network error or a change of primary, and a write never: its retries
//! of writes need a replica set, and they are turned off whatever the connection string says. The reads that a change
//! needs, such as the one that explains why a filter matched nothing, use `local`, since that is what the filter
//! sees. All other reads have the read concern of the options. If writes are acknowledged by fewer members than a
//! majority while reads use `majority`, a process may not see its own change for a moment.
//!
//! A write concern of `unacknowledged` is sent as it is. The server then answers without an outcome, so each change
//! is followed by a read with `local`. If another process overwrites the change between the two, it is reported as
//! refused.
//!
//! # Bindings
//!
//! A bound schema must not be removed, and a removed one must not be bound, which concerns two documents: the
//! binding, which is authoritative, and the schema, whose array `bindings` has a *mark* for it. The invariant is:
//! **if a binding names a schema, the schema has the mark that the binding names.** So a schema without marks is not
//! bound, and `remove` deletes with the filter `bindings: []`.
//!
//! To bind a schema:
//!
//! 1. read the binding and its `version`;
//! 2. add a new mark to the schema, if there is such a schema;
//! 3. change the binding to the schema and the mark, if it still has that version, and give it a new version; if it has
//!    another, take the mark off and begin again;
//! 4. take the earlier mark off the schema that was bound before.
//!
//! What is bound is forgotten by a change of the binding, which then has no `schema`. The binding stays, since its version does.
//!
//! To remove a schema that has marks, read the binding of each mark. If one names the schema, the schema is bound. If
//! not, another process is between 2 and 3, or stopped before 3 or 4. So give the binding a new version, which makes
//! a process between 2 and 3 begin again. Then take off the marks that were read, and only these, and delete.
//!
//! Step 3 of a mark that was read cannot happen any more: it expects a version that was read before the mark was
//! added, and thus before the binding got its new version. A mark that is added later stays, and the filter of the
//! deletion does not match. A process that stops between two steps leaves a superfluous mark, which costs the next
//! `remove` of the schema a few commands. Reads need no repair, because the binding is authoritative. A failover that
//! loses the latest writes loses them from the end, and a mark is written before the binding that needs it.
//!
//! # Limits
//!
//! A document of MongoDB has at most 16 MB, so a larger schema is refused. The connection string names the servers:
//! `mongodb+srv://`, which looks them up, is not supported. Certificates are checked against the authorities of
//! Mozilla, or those of the file that `tlsCAFile` names in the connection string.

mod bindings;
mod calls;
mod concern;
mod document;
mod failure;
mod options;
mod store;

pub use concern::{MongoReadConcern, MongoWriteConcern};
pub use options::{MongoOptionsError, MongoSchemaOptions};
pub use store::MongoSchemaStore;
