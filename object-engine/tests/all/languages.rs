//! Language specifications over real data: labels and descriptions in 396 languages.
//!
//! One test for each row of the table of specifications. What must come is worked out here from the
//! raw triples, and for some objects it is written out as the file has it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use oxrdf::{Literal, NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};
use serde_json::{Value, json};

use crate::fixture::{answer, json};
use crate::images;

const SCHEMA: &str = "
id: /soml/languages
specialPrefixes:
  base_iri: https://swapi.co/resource/
  vocab_iri: https://swapi.co/vocabulary/
  vocab_prefix: voc
prefixes: {rdfs: 'http://www.w3.org/2000/01/rdf-schema#'}
objects:
  Thing:
    type: [voc:Film, voc:Character, voc:Planet, voc:Person, voc:Country]
    props:
      labels: {rdfProp: rdfs:label, range: stringOrLangString, max: inf}
      tagged: {rdfProp: rdfs:label, range: langString, max: inf}
      texts: {rdfProp: rdfs:label, range: string, max: inf}
      label: {rdfProp: rdfs:label, range: string}
      descs: {rdfProp: voc:desc, range: langString, max: inf}
      desc: {rdfProp: voc:desc, range: string}
  Country:
    name: rdfs:label
    props:
      rdfs:label: {range: langString, max: inf, lang: 'ALL:fr,en'}
      voc:desc: {range: langString, max: inf, lang: 'de~'}
";

const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";
const DESC: &str = "https://swapi.co/vocabulary/desc";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// A text with its tag in lower case.
type Tagged = (Option<String>, String);

/// The values of a property by object.
type ByObject = BTreeMap<String, Vec<Tagged>>;

struct Data {
    service: ObjectService,
    triples: u64,
    raw: Raw,
}

/// What the file says, without the engine.
#[derive(Default)]
struct Raw {
    labels: ByObject,
    descs: ByObject,
    /// Objects with their types, as last parts of their IRIs.
    types: BTreeMap<String, BTreeSet<String>>,
}

fn data() -> &'static Data {
    static DATA: OnceLock<Data> = OnceLock::new();
    DATA.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../servers/tests/data/star-wars-multilingual/data.ttl.gz");
        let file = std::fs::File::open(path).expect("the data are there");
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(file)
            .read_to_end(&mut text)
            .expect("the data are whole");
        // One tag of the file is longer than a tag may be.
        let parser = RdfParser::from_format(RdfFormat::Turtle).lenient();
        let mut quads = Vec::new();
        let mut raw = Raw::default();
        for quad in parser.for_slice(&text) {
            let quad = quad.expect("the data are Turtle");
            raw.add(&quad);
            quads.push(quad);
        }
        let store = images::of(&quads);
        let triples = store.quads();
        let service = crate::fixture::service(SCHEMA, Arc::new(store), ServiceOptions::default());
        Data {
            service,
            triples,
            raw,
        }
    })
}

impl Raw {
    fn add(&mut self, quad: &Quad) {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else {
            return;
        };
        let subject = subject.as_str().to_owned();
        let last = |iri: &str| iri.rsplit('/').next().unwrap_or_default().to_owned();
        match (quad.predicate.as_str(), &quad.object) {
            (TYPE, Term::NamedNode(ty)) => {
                let types = self.types.entry(subject).or_default();
                types.insert(last(ty.as_str()));
            }
            (LABEL, Term::Literal(text)) => {
                self.labels.entry(subject).or_default().push(tagged(text));
            }
            (DESC, Term::Literal(text)) => {
                self.descs.entry(subject).or_default().push(tagged(text));
            }
            _ => {}
        }
    }

    /// The objects of the type `Thing` of the schema.
    fn things(&self) -> BTreeSet<&String> {
        let classes = ["Film", "Character", "Planet", "Person", "Country"];
        let of = |types: &BTreeSet<String>| classes.iter().any(|class| types.contains(*class));
        let things = self.types.iter().filter(|(_, types)| of(types));
        things.map(|(subject, _)| subject).collect()
    }
}

fn tagged(literal: &Literal) -> Tagged {
    let tag = literal.language().map(str::to_ascii_lowercase);
    (tag, literal.value().to_owned())
}

fn run(query: &str, accepted: &[&str]) -> Value {
    let mut context = RequestContext::new();
    context.call.accept_language = accepted.iter().map(|tag| (*tag).to_owned()).collect();
    json(&answer(&data().service, Request::new(query), context))
}

/// What a specification wants of the values of an object: groups, the best first.
type Wanted = fn(&[Tagged]) -> Vec<Vec<Tagged>>;

fn having(values: &[Tagged], test: impl Fn(Option<&str>) -> bool) -> Vec<Tagged> {
    let mut found: Vec<Tagged> = values.to_vec();
    found.retain(|(tag, _)| test(tag.as_deref()));
    found
}

/// The first of some groups that has values.
fn first(groups: Vec<Vec<Tagged>>) -> Vec<Vec<Tagged>> {
    groups
        .into_iter()
        .find(|group| !group.is_empty())
        .into_iter()
        .collect()
}

/// Untagged values, else those of the smallest tag.
fn any_of(values: Vec<Tagged>) -> Vec<Vec<Tagged>> {
    let least = values.iter().map(|(tag, _)| tag.clone()).min();
    let group = values
        .into_iter()
        .filter(|(tag, _)| Some(tag) == least.as_ref());
    first(vec![group.collect()])
}

fn is(wanted: &'static str) -> impl Fn(Option<&str>) -> bool {
    move |tag| tag == Some(wanted)
}

/// The values of a list of literals in the order given, tags in lower case.
fn listed(list: &Value) -> Vec<Tagged> {
    let items = list.as_array().expect("a list");
    let items = items.iter().filter(|item| !item.is_null()).map(|item| {
        let tag = item["lang"].as_str().map(str::to_ascii_lowercase);
        (tag, item["value"].as_str().expect("a text").to_owned())
    });
    items.collect()
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort();
    values.dedup();
    values
}

/// The smallest text of the smallest tag of the first group.
fn single(groups: &[Vec<Tagged>]) -> Value {
    let least = groups.first().and_then(|group| group.iter().min());
    json!(least.map(|(_, text)| text))
}

/// The smallest text of all.
fn least_text(groups: &[Vec<Tagged>]) -> Value {
    json!(groups.iter().flatten().map(|(_, text)| text).min())
}

/// What is wanted, or where that is nothing the untagged values.
fn or_untagged(wanted: Wanted, values: &[Tagged]) -> Vec<Vec<Tagged>> {
    let groups = wanted(values);
    if groups.iter().any(|group| !group.is_empty()) {
        return groups;
    }
    first(vec![having(values, |tag| tag.is_none())])
}

/// Compares all fields of all objects with what `wanted` says; returns how many values there were.
#[track_caller]
fn agree(spec: Option<&str>, accepted: &[&str], wanted: Wanted) -> usize {
    let argument = spec.map_or(String::new(), |spec| format!("(lang: {spec:?})"));
    let query = format!(
        "{{ thing{argument} {{ id labels {{ value lang }} texts label descs {{ value lang }} desc }} }}"
    );
    let answer = run(&query, accepted);
    let data = &data().raw;
    let things = answer["data"]["thing"].as_array().expect("a list");
    let found: BTreeSet<&str> = things.iter().filter_map(|t| t["id"].as_str()).collect();
    let expected: BTreeSet<&str> = data.things().iter().map(|id| id.as_str()).collect();
    assert_eq!(found, expected);
    let is_choice = spec.is_none_or(|spec| !spec.starts_with("ALL"));
    let single: fn(&[Vec<Tagged>]) -> Value = match spec {
        Some(spec) if spec == "ALL" || spec.starts_with("ALL,") => least_text,
        _ => single,
    };
    let (mut values, mut ill_typed) = (0, 0);
    for thing in things {
        let id = thing["id"].as_str().expect("an id");
        let of = |from: &ByObject| {
            let values = from.get(id).map_or(&[][..], Vec::as_slice);
            or_untagged(wanted, values)
        };
        let (labels, desc) = (of(&data.labels), of(&data.descs));
        // Of a `langString` what has a tag is chosen first, since the others do not fit.
        let with_tags = data.descs.get(id).map_or(&[][..], Vec::as_slice);
        let with_tags = wanted(&having(with_tags, |tag| tag.is_some()));
        let descs = if is_choice && !with_tags.is_empty() {
            with_tags
        } else {
            desc.clone()
        };
        for (field, groups) in [("labels", &labels), ("descs", &descs)] {
            let mut expected = sorted(groups.concat());
            if field == "descs" {
                // A `langString` has a tag: other values are null, each with an error.
                let all = expected.len();
                expected.retain(|(tag, _)| tag.is_some());
                ill_typed += all - expected.len();
                let nulls = thing[field].as_array().expect("a list").iter();
                assert_eq!(
                    nulls.filter(|v| v.is_null()).count(),
                    all - expected.len(),
                    "{id}"
                );
            }
            values += expected.len();
            let found = listed(&thing[field]);
            assert_eq!(sorted(found.clone()), expected, "{field} of {id}");
            // The groups come one after the other.
            let group = |value: &Tagged| groups.iter().position(|group| group.contains(value));
            assert!(found.is_sorted_by_key(group), "{field} of {id}: {found:?}");
        }
        let texts = thing["texts"].as_array().expect("a list");
        let texts = texts
            .iter()
            .map(|text| text.as_str().expect("a text").to_owned());
        let expected = labels.concat().into_iter().map(|(_, text)| text);
        assert_eq!(
            sorted(texts.collect()),
            sorted(expected.collect::<Vec<_>>()),
            "texts of {id}"
        );
        assert_eq!(thing["label"], single(&labels), "label of {id}");
        assert_eq!(thing["desc"], single(&desc), "desc of {id}");
    }
    let errors = answer["errors"].as_array().into_iter().flatten();
    let codes = errors.map(|error| error["extensions"]["code"].as_str().expect("a code"));
    let (repaired, other): (Vec<_>, Vec<_>) = codes.partition(|code| *code == "MULTIPLE_VALUES");
    assert!(repaired.len() <= 2, "one warning for each single field");
    assert_eq!(other, vec!["VALUE_ILL_TYPED"; ill_typed]);
    values
}

/// The label and the description of one object.
fn texts_of(id: &str, spec: &str, accepted: &[&str]) -> Value {
    let id = format!("https://swapi.co/resource/{id}");
    let query = format!("{{ thing(ID: {id:?}, lang: {spec:?}) {{ label desc }} }}");
    run(&query, accepted)["data"]["thing"][0].take()
}

fn of_one(values: &[Tagged], wanted: &[&str]) -> Vec<Vec<Tagged>> {
    let groups = wanted
        .iter()
        .map(|tag| having(values, |found| found == Some(*tag)));
    first(groups.collect())
}

#[test]
fn the_whole_set_is_there() {
    assert_eq!(data().triples, 68_981);
    let data = &data().raw;
    let tags = data.labels.values().chain(data.descs.values()).flatten();
    let tags: BTreeSet<&String> = tags.filter_map(|(tag, _)| tag.as_ref()).collect();
    assert!(tags.len() > 300, "only {} languages", tags.len());
    // The file has no value in American English, so that others stand in for it below.
    assert!(!tags.contains(&"en-us".to_owned()) && tags.contains(&"en-gb".to_owned()));
}

#[test]
fn without_a_specification_lists_have_all_values_and_single_fields_any_one() {
    let data = &data().raw;
    let answer = run("{ thing { id labels { value lang } label desc } }", &[]);
    let things = answer["data"]["thing"].as_array().expect("a list");
    for thing in things {
        let id = thing["id"].as_str().expect("an id");
        let labels = data.labels.get(id).cloned().unwrap_or_default();
        let descs = data.descs.get(id).cloned().unwrap_or_default();
        assert_eq!(
            sorted(listed(&thing["labels"])),
            sorted(labels.clone()),
            "{id}"
        );
        assert_eq!(thing["label"], single(&any_of(labels)), "{id}");
        assert_eq!(thing["desc"], single(&any_of(descs)), "{id}");
    }
    assert!(things.len() > 200);
}

#[test]
fn all_gives_all_values() {
    let values = agree(Some("ALL"), &[], |values| vec![values.to_vec()]);
    assert!(values > 20_000, "only {values} values");
}

#[test]
fn all_but_a_dialect_gives_the_others() {
    let all = agree(Some("ALL"), &[], |values| vec![values.to_vec()]);
    let but = |values: &[Tagged]| vec![having(values, |tag| tag != Some("en-gb"))];
    let without = agree(Some("ALL,-en-GB"), &[], but);
    assert!(without < all, "nothing was left out");
    // Nothing is in American English.
    assert_eq!(
        agree(Some("ALL,-en-US"), &[], |values| vec![values.to_vec()]),
        all
    );
}

#[test]
fn all_of_a_list_gives_the_listed_languages_in_that_order() {
    let wanted: Wanted = |values| {
        let groups = [
            having(values, is("en")),
            having(values, |tag| tag.is_none()),
        ];
        groups
            .into_iter()
            .filter(|group| !group.is_empty())
            .collect()
    };
    assert!(agree(Some("ALL:en,NONE"), &[], wanted) > 500);
    let droid = run(
        "{ thing(ID: \"https://swapi.co/resource/droid/2\") {
            labels(lang: \"ALL:en,NONE\") { value lang } other: labels(lang: \"ALL:NONE,en\") { lang } } }",
        &[],
    );
    let expected = json!([{
        "labels": [{"value": "C-3PO", "lang": "en"}, {"value": "C-3PO", "lang": null}],
        "other": [{"lang": null}, {"lang": "en"}],
    }]);
    assert_eq!(droid["data"]["thing"], expected);
}

#[test]
fn browser_follows_the_accepted_languages() {
    // A language counts before its dialects, and each before the next language.
    let wanted: Wanted = |values| {
        let mut groups = Vec::new();
        for language in ["gsw", "zh", "en"] {
            groups.push(having(values, is(language)));
            let dialect = |tag: &str| tag.starts_with(&format!("{language}-"));
            groups.push(having(values, |tag| tag.is_some_and(dialect)));
        }
        first(groups)
    };
    assert!(agree(Some("BROWSER"), &["gsw", "zh", "en"], wanted) > 500);
    let expected = json!({"label": "Star Wars", "desc": "Amerikaanse sciencefictionfilm uit 1977"});
    assert_eq!(
        texts_of("film/1", "BROWSER", &["nl"])["desc"],
        expected["desc"]
    );
    assert_eq!(
        texts_of("film/1", "BROWSER", &["en-GB"])["label"],
        expected["label"]
    );
    let none = json!({"label": null, "desc": null});
    assert_eq!(texts_of("film/1", "BROWSER,-NONE", &["qqq"]), none);
    let untagged = texts_of("film/1", "NONE", &[]);
    assert!(untagged["label"].is_string() && untagged["desc"].is_string());
    assert_eq!(texts_of("film/1", "BROWSER", &["qqq"]), untagged);
    // Where no language is named, any will do.
    let any = texts_of("film/1", "ANY", &[]);
    assert!(any["label"].is_string() && any["desc"].is_string());
    assert_eq!(texts_of("film/1", "BROWSER", &[]), any);
    assert_eq!(texts_of("film/1", "BROWSER", &["*"]), any);
}

#[test]
fn a_tag_gives_that_language_alone() {
    assert!(agree(Some("en"), &[], |values| of_one(values, &["en"])) > 500);
    let expected = json!({
        "label": "Star Wars",
        "desc": "1977 American epic space opera film directed by George Lucas",
    });
    assert_eq!(texts_of("film/1", "en", &[]), expected);
    let expected = json!({
        "label": "Krieg der Sterne",
        "desc": "Spielfilm der Star-Wars-Reihe",
    });
    assert_eq!(texts_of("film/1", "de", &[]), expected);
}

#[test]
fn a_tag_with_a_tilde_gives_the_language_with_its_dialects() {
    let wanted: Wanted = |values| {
        let english = |tag: &str| tag == "en" || tag.starts_with("en-");
        first(vec![having(values, |tag| tag.is_some_and(english))])
    };
    let with_dialects = agree(Some("en~"), &[], wanted);
    let alone = agree(Some("en"), &[], |values| of_one(values, &["en"]));
    assert!(
        with_dialects > alone + 400,
        "{with_dialects} against {alone}"
    );
    let film = run(
        "{ thing(ID: \"https://swapi.co/resource/film/1\") { labels(lang: \"en~\", orderBy: {lang: ASC}) { value lang } } }",
        &[],
    );
    let label = |lang: &str| json!({"value": "Star Wars", "lang": lang});
    let expected = json!([{"labels": [label("en"), label("en-CA"), label("en-GB")]}]);
    assert_eq!(film["data"]["thing"], expected);
}

#[test]
fn of_several_tags_the_first_that_exists_is_taken() {
    assert!(agree(Some("fr,en"), &[], |values| of_one(values, &["fr", "en"])) > 500);
    // A language that few objects have, so that the second is needed often.
    assert!(agree(Some("vls,en"), &[], |values| of_one(values, &["vls", "en"])) > 500);
    let film = texts_of("film/1", "fr,en", &[]);
    assert_eq!(film["label"], "Star Wars, épisode IV : Un nouvel espoir");
    assert_eq!(
        texts_of("film/1", "qu-BO,vls-XX,nl", &[])["label"],
        "Star Wars: Episode IV: A New Hope"
    );
}

#[test]
fn any_except_a_dialect_leaves_that_one_out() {
    let wanted: Wanted = |values| any_of(having(values, |tag| tag != Some("en-gb")));
    assert!(agree(Some("-en-GB"), &[], wanted) > 500);
    agree(Some("-en-US"), &[], |values| any_of(values.to_vec()));
    agree(Some("ANY"), &[], |values| any_of(values.to_vec()));
}

#[test]
fn none_gives_the_values_without_a_tag() {
    let wanted: Wanted = |values| first(vec![having(values, |tag| tag.is_none())]);
    assert!(agree(Some("NONE"), &[], wanted) > 100);
    assert_eq!(texts_of("droid/3", "NONE", &[])["label"], "R2-D2");
}

#[test]
fn all_as_a_last_resort_is_not_of_the_grammar() {
    for spec in ["en,ALL", "en, de", "ALL;en", "~en"] {
        let answer = run(&format!("{{ thing(lang: {spec:?}) {{ id }} }}"), &[]);
        let error = &answer["errors"][0];
        assert_eq!(error["extensions"]["code"], "LANG_SPEC_INVALID", "{spec}");
        assert_eq!(answer.get("data"), None, "{spec}");
    }
}

#[test]
fn the_specification_of_a_property_holds_where_no_argument_says_otherwise() {
    let query = "{ country { id name rdfs_label { value lang } desc { lang } en: rdfs_label(lang: \"en\") { lang } } }";
    let answer = run(query, &[]);
    let countries = answer["data"]["country"].as_array().expect("a list");
    assert!(countries.len() > 5, "{answer}");
    let data = &data().raw;
    for country in countries {
        let id = country["id"].as_str().expect("an id");
        let labels = &data.labels[id];
        let expected = [having(labels, is("fr")), having(labels, is("en"))].concat();
        assert_eq!(listed(&country["rdfs_label"]), expected, "{id}");
        let english = country["en"].as_array().expect("a list");
        assert!(english.iter().all(|label| label["lang"] == "en"), "{id}");
        let german = country["desc"].as_array().expect("a list");
        let german = german
            .iter()
            .map(|desc| desc["lang"].as_str().expect("a tag"));
        let german: Vec<_> = german.collect();
        assert!(
            german
                .iter()
                .all(|tag| *tag == "de" || tag.starts_with("de-")),
            "{id}"
        );
        assert_eq!(country["name"], single(&any_of(labels.clone())), "{id}");
    }
}

#[test]
fn untagged_texts_under_lang_string_are_null_with_an_error() {
    let query =
        "{ thing(ID: \"https://swapi.co/resource/droid/2\") { tagged(lang: \"NONE\") { value } } }";
    let answer = run(query, &[]);
    assert_eq!(answer["data"]["thing"], json!([{"tagged": [null]}]));
    assert_eq!(answer["errors"][0]["extensions"]["code"], "VALUE_ILL_TYPED");
    assert_eq!(
        answer["errors"][0]["path"],
        json!(["thing", 0, "tagged", 0])
    );
}
