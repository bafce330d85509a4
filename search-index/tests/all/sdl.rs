//! The schema of the search API, as a person reads it.

use std::path::Path;
use std::sync::Arc;

use search_index::sdl::SearchApi;

use crate::{indexes, schema};

const FILMS: &str = "
id: /soml/films
config: {search: {index: yes}}
types:
  Kind: {values: [{name: SHORT}, {name: LONG}]}
objects:
  Film:
    label: Motion picture
    props:
      title: {label: Title of it}
      subtitle: {range: langString, max: inf}
      kind: {range: Kind}
      length: {range: integer}
      planets: {range: Planet, max: inf}
  Planet:
    props: {seen: {range: boolean}, in: {range: Film}}
";

/// Set `UPDATE_EXPECT` to rewrite the file.
#[test]
fn the_schema_is_what_it_was() {
    let indexes = indexes(FILMS).expect("the schema can be searched");
    let api = SearchApi::new(Arc::new(schema(FILMS)), indexes).expect("the API is valid");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/films.graphql");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, api.sdl()).expect("the file is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        api.sdl() == expected,
        "the schema differs from {}",
        path.display()
    );
}

/// Objects of which each refers to all, one by one and several at once.
fn dense(objects: usize) -> String {
    let names: Vec<_> = (0..objects).map(|n| format!("O{n}")).collect();
    let props: String = names
        .iter()
        .map(|name| {
            format!(
                "      one{name}: {{range: {name}}}\n      all{name}: {{range: {name}, max: inf}}\n"
            )
        })
        .collect();
    let objects = names
        .iter()
        .map(|name| format!("  {name}:\n    props:\n      title: {{}}\n{props}"));
    let objects: String = objects.collect();
    format!("id: /soml/dense\nconfig: {{search: {{index: yes}}}}\nobjects:\n{objects}")
}

#[test]
fn the_number_of_types_grows_with_that_of_objects() {
    let types = |objects: usize| {
        let text = dense(objects);
        let indexes = indexes(&text).expect("the schema can be searched");
        let api = SearchApi::new(Arc::new(schema(&text)), indexes).expect("the API is valid");
        api.schema().types.len()
    };
    let (few, many) = (types(3), types(6));
    let of_one = types(4) - few;
    assert_eq!(many - few, 3 * of_one);
}
