//! Documents in a collection of MongoDB, which several processes share.
//!
//! # Documents
//!
//! All are in one collection, and the prefix of a key says what a document is, so that no name of a schema is the key of
//! something else. Only schemas have the field `@yaml`: to remove the documents that have it is to remove the schemas.
//!
//! | `_id` | what | fields |
//! |---|---|---|
//! | `schema:films` | a schema | `@id` (its name), `@yaml` (its text), `revision`, `bytes`, `modified`, `bindings` |
//! | `rights` | who may manage schemas, the same for all applications | `text`, `revision`, `bytes`, `modified` |
//! | `binding:objects:shop` | what is bound to a service of an application | `application`, `service`, `schema` (`null` for nothing), `mark`, `version` |
//! | `lease:indexes` | a lease | `holder`, `number`, `beat` |
//!
//! # Changes
//!
//! A server changes one document at a time atomically, and only replica sets have transactions, so every change is one
//! command for one document: an insertion, which fails if the key is taken, or an update or deletion whose filter has
//! what is expected. Each writes a random `revision` or `version` (leases are recognised by their content), so if the
//! answer is lost, reading the document shows whether the change was made. If that does not show it, or cannot be
//! read, the outcome is [unknown](crate::SchemaStoreError::OutcomeUnknown), since the server may still be working on it.
//!
//! The driver repeats reads once, and nothing else: its retries of writes need a replica set, and are turned off in the
//! connection string, too. What explains why a filter matched nothing is read with `local` from the primary, as the
//! filter saw it; all other reads have the read concern of the options. With a write concern weaker than `majority` and
//! a read concern of `majority`, a process may read what was there before its own change for a moment.
//!
//! # Bindings
//!
//! A schema that is bound must not be removed, and one that is removed must not be bound. These are two documents:
//! the binding, which is authoritative, and the schema, whose `bindings` has a *mark* for it. What is true at all times:
//! **if a binding names a schema, the schema has the mark that the binding names.** So a schema without marks is bound
//! nowhere, and `remove` deletes with the filter `bindings: []`.
//!
//! To bind a schema:
//!
//! 1. read the binding and its `version`;
//! 2. add a new mark to the schema; if there is none, the answer is "not found";
//! 3. change the binding to the schema and the mark, if it still has that version, and give it a new version; if it has
//!    another, take the mark off and begin again;
//! 4. take the earlier mark off the schema that was bound before.
//!
//! To remove a schema that has marks: read the binding of each. If it names the schema, the schema is bound. If not,
//! somebody is between 2 and 3, or has stopped before 3 or 4. So give the binding a new version, by which whoever is
//! between 2 and 3 has to begin again; take off exactly those marks that were read before; and try to delete again.
//!
//! The step 3 of a mark that was read cannot follow then: it compares a version that was read before the mark was added, so
//! before the new version was given. A mark that is added later is not taken off, and keeps the schema from being
//! deleted. A process that stops between two steps leaves a mark too many, which keeps nobody from anything but costs
//! the next `remove` of the schema two more commands. Nothing has to be repaired on read. A failover that loses the
//! latest writes loses them from the end, and the mark is written before the binding that needs it.
//!
//! # Limits
//!
//! A document of MongoDB has at most 16 MB, so a larger schema is refused. The driver is told the servers;
//! `mongodb+srv://` is not supported. Certificates are checked against the authorities of Mozilla, or those of the file
//! that `tlsCAFile` names in the connection string.

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
