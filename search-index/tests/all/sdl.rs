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
