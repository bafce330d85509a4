//! Orders through a property pass over the objects that are not shown, whatever else they are.

use std::sync::Arc;

use graphql_service::{Caller, Request, RequestContext};
use object_engine::ServiceOptions;
use oxrdfio::RdfFormat;

use crate::back_end::{BackEnd, Kind};
use crate::fixture;
use crate::images;

const SCHEMA: &str = "
id: /soml/orders
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableConnections: true}
objects:
  Thing: {props: {next: {range: Part}}}
  Part: {kind: abstract, props: {size: {range: int}}}
  Secret: {inherits: Part}
  Open: {inherits: Part}
rbac: {roles: {R: {actions: ['*/*/read'], notActions: ['Secret/*/*']}}}
";

/// Of `:a` the smallest part is hidden, and the next one decides.
const DATA: &str = "
    @prefix : <http://e/> . @prefix v: <http://v/> .
    :a a v:Thing ; v:next :p1, :p2 . :b a v:Thing ; v:next :p3 . :c a v:Thing ; v:next :p4 .
    :p1 a v:Secret ; v:size 9 . :p2 a v:Open ; v:size 2 .
    :p3 a v:Open ; v:size 1 . :p4 a v:Open ; v:size 3 .
";

/// Returns the ids in the order of the size of what they lead to, as a list and as a connection.
fn ids(kind: Kind, data: &str) -> Vec<String> {
    let back_end = BackEnd::new(kind);
    back_end.load(&images::quads(RdfFormat::Turtle, data));
    let options = ServiceOptions::default().with_roles_enforced(true);
    let service = fixture::service(SCHEMA, back_end.graph_store(), options);
    let query = "{ thing(orderBy: {next: {size: ASC}}) { id }
        thingConnection(orderBy: {next: {size: ASC}}) { nodes { id } } }";
    let context = RequestContext::new().with_caller(Arc::new(Caller::with_roles(["R"])));
    let answer = fixture::json(&fixture::answer(&service, Request::new(query), context));
    let of = |list: &serde_json::Value| {
        let ids = list.as_array().expect("a list").iter();
        let ids = ids.map(|thing| thing["id"].as_str().expect("an id"));
        ids.collect::<Vec<_>>().join(" ")
    };
    let data = &answer["data"];
    vec![of(&data["thing"]), of(&data["thingConnection"]["nodes"])]
}

#[test]
fn a_hidden_object_does_not_decide_an_order() {
    let expected = "http://e/b http://e/a http://e/c";
    let embedded = [Kind::Image, Kind::WrittenImage, Kind::Pattern];
    for kind in embedded
        .into_iter()
        .chain([Kind::Remote, Kind::RemoteApart])
    {
        assert_eq!(ids(kind, DATA), [expected, expected], "{kind:?}");
        // What is an open one besides is shown as what the schema names first.
        let both = DATA.replace("a v:Secret", "a v:Open, v:Secret");
        assert_eq!(ids(kind, &both), [expected, expected], "{kind:?}");
    }
}
