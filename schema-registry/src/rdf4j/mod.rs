//! Documents in a repository of a server of RDF4J's protocol, such as RDF4J Server and GraphDB.
//!
//! Everything is in one named graph, [`SCHEMAS_GRAPH`], in terms of [`SCHEMAS_VOCABULARY`], here with the prefix `v:`:
//!
//! | node | properties |
//! |---|---|
//! | `urn:soml:schemas:schema:{id}` | `a v:Schema`, `v:id`, `v:text` (the document, a plain string), `v:bytes` |
//! | `urn:soml:schemas:rights` | `a v:Rights`, and the same |
//! | `urn:soml:schemas:binding:{application}:{objects or search}` | `a v:Binding`, `v:application`, `v:service`, `v:schema` (the node of the schema; none if nothing is bound) |
//! | `urn:soml:schemas:lease:{name}` | `a v:Lease`, `v:name`, `v:holder`, `v:number`, `v:beat` |
//! | `urn:soml:schemas:migration` | `a v:Migration`, `v:text` (how far a migration into the store has come); none otherwise |
//!
//! Each has `v:revision` and `v:modified` (`xsd:dateTime`) too. Names in nodes are percent-encoded.
//!
//! A change reads, compares and writes in one `SERIALIZABLE` transaction, of which RDF4J refuses one of two that conflict
//! ([`ServerTransaction`](graph_store::remote::http::ServerTransaction)). The refused change is repeated with its
//! comparison. If the answer to a commit is lost, the change is looked for by its revision, which nothing else has. No
//! records of changes are kept, so renewed leases take no room. GraphDB has to prove before the first change that it keeps
//! transactions apart; otherwise nothing is written to it.
//!
//! `vocabulary` has the names, `algebra` the queries and updates, `store` what each call does with them. `server` sends
//! them, and makes the repository from a `template` when it is missing; `failure` says what errors of the server mean.
//! GraphDB's part of it is tested at protocol level only, not against a GraphDB server.

mod algebra;
mod failure;
mod options;
mod server;
mod store;
mod template;
mod vocabulary;

pub use options::{Rdf4jOptionsError, Rdf4jSchemaOptions};
pub use store::Rdf4jSchemaStore;
pub use vocabulary::{SCHEMAS_GRAPH, SCHEMAS_VOCABULARY};
