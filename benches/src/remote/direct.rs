//! Hand-written SPARQL, sent to a server as a client would: a pool of connections, results as JSON, as
//! the service asks for them.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::Failure;
use crate::workload::{Filling, Form, Instance};

/// A client of a server.
#[derive(Clone, Debug)]
pub(super) struct Direct {
    client: reqwest::Client,
    address: String,
}

/// As much of SPARQL JSON as later queries need.
#[derive(Deserialize)]
struct Results {
    head: Head,
    results: Bindings,
}

#[derive(Deserialize)]
struct Head {
    vars: Vec<String>,
}

#[derive(Deserialize)]
struct Bindings {
    bindings: Vec<serde_json::Map<String, Value>>,
}

/// Returns how many queries a form sends, one after the other.
pub(super) fn queries(form: &Form) -> usize {
    Filling::new(form).len()
}

impl Direct {
    pub(super) fn new(address: String) -> Self {
        Direct {
            client: reqwest::Client::new(),
            address,
        }
    }

    /// Sends all queries of a form, and reads the results; they are parsed where a later query needs them.
    pub(super) async fn ask(&self, form: &Form, instance: &Instance) -> Result<(), Failure> {
        let mut filling = Filling::new(form);
        while let Some(text) = filling.next(instance)? {
            let result = self.send(text).await?;
            if filling.is_done() {
                break;
            }
            let results: Results = serde_json::from_slice(&result)?;
            for variable in &results.head.vars {
                filling.expect(variable);
            }
            for row in &results.results.bindings {
                for (name, value) in row {
                    if let Some(iri) = value["value"].as_str().filter(|_| value["type"] == "uri") {
                        filling.found(name, format!("<{iri}>"));
                    }
                }
            }
        }
        Ok(())
    }

    async fn send(&self, text: String) -> Result<Bytes, Failure> {
        let sent = self
            .client
            .post(&self.address)
            .header("content-type", "application/sparql-query")
            .header("accept", "application/sparql-results+json")
            .body(text);
        Ok(sent.send().await?.error_for_status()?.bytes().await?)
    }
}
