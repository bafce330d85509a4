//! A repository of a real RDF4J Server, or a dataset of a real Fuseki server.

use std::sync::atomic::{AtomicU32, Ordering};

use graph_store::remote::http::{ConnectionOptions, HttpEndpoint, ServerKind, ServerType};
use oxrdf::{GraphName, Quad};
use oxrdfio::RdfFormat;

use crate::images;
use crate::repository::{MEMORY, repository};

/// A repository or dataset that is emptied at the end.
///
/// It is not removed: RDF4J hangs for good when one repository is removed while another is opened.
pub struct Server {
    kind: ServerKind,
    /// The server.
    address: String,
    /// The repository or dataset.
    name: String,
    /// Where all statements are put.
    statements: String,
}

fn address(variable: &str) -> String {
    let address =
        std::env::var(variable).unwrap_or_else(|_| panic!("{variable} names no running server"));
    address.trim_end_matches('/').to_owned()
}

/// Returns a name that no other store of a test has.
fn fresh_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("test-{}-{number}", std::process::id())
}

impl Server {
    /// Makes a repository in memory; one that infers knows RDF Schema.
    pub fn rdf4j(infers: bool) -> Self {
        let (address, name) = (address("RDF4J_URL"), fresh_name());
        let place = format!("{address}/repositories/{name}");
        let sail = if infers {
            let kind = "openrdf:ForwardChainingRDFSInferencer";
            format!("[ sail:sailType \"{kind}\" ; sail:delegate {MEMORY} ]")
        } else {
            MEMORY.to_owned()
        };
        let created = ureq::put(&place)
            .content_type("text/turtle")
            .send(repository(&name, &sail));
        created.expect("a repository is made");
        Server {
            kind: ServerKind::Rdf4j,
            statements: format!("{place}/statements"),
            address,
            name,
        }
    }

    pub fn fuseki() -> Self {
        let (address, name) = (address("FUSEKI_URL"), fresh_name());
        let created = ureq::post(format!("{address}/$/datasets"))
            .send_form([("dbName", name.as_str()), ("dbType", "mem")]);
        created.expect("a dataset is made");
        Server {
            kind: ServerKind::Fuseki,
            statements: format!("{address}/{name}/data"),
            address,
            name,
        }
    }

    /// Returns the way that the product takes to this server.
    pub fn endpoint(&self) -> HttpEndpoint {
        HttpEndpoint::new(self.options()).expect("options that agree")
    }

    pub fn options(&self) -> ConnectionOptions {
        ConnectionOptions {
            addresses: self.address.parse().expect("an address"),
            repository: Some(self.name.clone()),
            server: ServerType::Known(self.kind),
            ..ConnectionOptions::default()
        }
    }

    /// Changes quads as any other program does.
    pub fn change(&self, removed: &[Quad], added: &[Quad]) {
        let update = match self.kind {
            ServerKind::Rdf4j => &self.statements,
            _ => &self.statements.replace("/data", "/update"),
        };
        let shown = |quad: &Quad| match &quad.graph_name {
            GraphName::DefaultGraph => format!("{quad} . "),
            graph => {
                let Quad {
                    subject,
                    predicate,
                    object,
                    ..
                } = quad;
                format!("GRAPH {graph} {{ {subject} {predicate} {object} }} ")
            }
        };
        for (keyword, quads) in [("DELETE", removed), ("INSERT", added)] {
            let data: String = quads.iter().map(shown).collect();
            let changed = ureq::post(update)
                .content_type("application/sparql-update")
                .send(format!("{keyword} DATA {{ {data} }}"));
            changed.expect("data are changed");
        }
    }

    /// Returns the number of named graphs.
    pub fn graphs(&self) -> usize {
        let place = match self.kind {
            ServerKind::Rdf4j => self.statements.replace("/statements", ""),
            _ => self.statements.replace("/data", "/sparql"),
        };
        let found = ureq::post(place)
            .header("accept", "text/tab-separated-values")
            .content_type("application/sparql-query")
            .send("SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }");
        let mut found = found.expect("graphs are listed");
        let found = found.body_mut().read_to_string().expect("a text");
        found.lines().count() - 1
    }

    /// Returns all quads.
    pub fn quads(&self) -> Vec<Quad> {
        let found = ureq::get(&self.statements)
            .header("accept", "application/n-quads")
            .call();
        let mut found = found.expect("the quads are listed");
        let text = found.body_mut().read_to_string().expect("a text");
        images::quads(RdfFormat::NQuads, text)
    }

    pub fn load(&self, quads: &[Quad]) {
        let text: String = quads.iter().map(|quad| format!("{quad} .\n")).collect();
        ureq::put(&self.statements)
            .content_type("application/n-quads")
            .send(text)
            .expect("data are loaded");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What is left over goes with the server.
        let _ = ureq::put(&self.statements)
            .content_type("application/n-quads")
            .send("");
    }
}
