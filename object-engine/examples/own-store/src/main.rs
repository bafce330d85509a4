//! Serves GraphQL over quads in hash maps: prints the answer to one query.

use std::error::Error;
use std::sync::Arc;

use graph_store::pattern::PatternStore;
use object_engine::graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use own_store::QuadMap;
use oxrdf::vocab::rdf;
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};

const SCHEMA: &str = "
id: /soml/library
specialPrefixes: {vocab_iri: 'http://example.org/v#', vocab_prefix: v}
objects:
  Book:
    name: v:title
    props:
      title: {}
      pages: {range: int}
      author: {range: Author}
  Author:
    name: v:label
    props:
      label: {}
      wrote: {inverseAlias: author, range: Book, max: inf}
";

const QUERY: &str = "{ book(where: {pages: {GT: 400}}, orderBy: {pages: DESC}) {
  name pages author { name wrote(orderBy: {name: ASC}) { name } } } }";

fn v(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://example.org/v#{name}"))
}

/// Adds an object of a class with its values.
fn add(data: &mut QuadMap, id: &str, class: &str, values: &[(&str, Term)]) {
    let id = NamedNode::new_unchecked(format!("http://example.org/{id}"));
    let quad = |property: NamedNode, value: Term| {
        Quad::new(id.clone(), property, value, GraphName::DefaultGraph)
    };
    data.insert(quad(rdf::TYPE.into_owned(), v(class).into()));
    data.extend(
        values
            .iter()
            .map(|(name, value)| quad(v(name), value.clone())),
    );
}

fn library() -> QuadMap {
    let text = |text: &str| Term::from(Literal::new_simple_literal(text));
    let author =
        |id: &str| Term::from(NamedNode::new_unchecked(format!("http://example.org/{id}")));
    let mut data = QuadMap::default();
    add(
        &mut data,
        "herbert",
        "Author",
        &[("label", text("Frank Herbert"))],
    );
    add(
        &mut data,
        "austen",
        "Author",
        &[("label", text("Jane Austen"))],
    );
    for (id, title, pages, by) in [
        ("dune", "Dune", 612, "herbert"),
        ("messiah", "Dune Messiah", 256, "herbert"),
        ("emma", "Emma", 474, "austen"),
    ] {
        let pages = Literal::from(pages).into();
        let values = [
            ("title", text(title)),
            ("pages", pages),
            ("author", author(by)),
        ];
        add(&mut data, id, "Book", &values);
    }
    data
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let schema = soml_core::load(SCHEMA)
        .schema
        .ok_or("the schema has errors")?;
    let store = Arc::new(PatternStore::new(library()));
    let service = ObjectService::new(Arc::new(schema), store, ServiceOptions::default())?;
    let response = service
        .execute(Request::new(QUERY), RequestContext::new())
        .await;
    println!("{}", String::from_utf8_lossy(&response.body.to_bytes()));
    Ok(())
}
