//! The places of requests that texts are put into, and what the requests then ask for.

use std::collections::BTreeSet;

use graph_store::value::canonical_value;
use oxrdf::{Literal, NamedNode, Term};
use serde_json::{Value, json};
use soml_core::datatype::Scalar;

use super::texts::{self, HALF, escaped};
use super::world::{Before, State, THINGS, node, plain_schema, property, schema, shown};
use crate::differential::random::Random;

/// A request with a text in it.
pub(super) struct Attempt {
    pub(super) place: &'static str,
    pub(super) schema: String,
    /// The JSON text of the request.
    pub(super) body: String,
    pub(super) key: Option<String>,
    pub(super) caller: Option<String>,
    /// The text is no text, so the request must be refused.
    pub(super) is_no_text: bool,
    pub(super) expected: Expected,
}

/// What a request asks for.
pub(super) enum Expected {
    /// Nothing changes.
    Nothing,
    /// Exactly these things are found, and nothing changes.
    Found(BTreeSet<String>),
    /// There is a new object with these values.
    Created {
        ty: &'static str,
        id: NewId,
        values: Vec<(&'static str, Wanted)>,
    },
    /// A thing has another set of values of a property.
    Set {
        thing: &'static str,
        property: &'static str,
        removed: Vec<Term>,
        added: Vec<Wanted>,
    },
    /// Things are deleted: these, where it is known which.
    Deleted(Option<BTreeSet<String>>),
}

/// The id of a new object.
pub(super) enum NewId {
    Given(String),
    /// It has this in it, and is a valid IRI.
    With(String),
    /// It is made of a value.
    OfSlug(String),
}

/// Forms of numbers and times.
const NUMBERS: &[&str] = &[
    "5",
    "05",
    "+5",
    "-7.50",
    "1e3",
    "INF",
    "2020-02-29",
    "2020-02-29Z",
    "2021-01-01T12:00:00Z",
    "2021-01-01T12:00:00.5+01:00",
];

/// Language specifications.
const LANGUAGES: &[&str] = &[
    "en", "de,en", "en~,NONE", "ANY", "BROWSER", "-en", "ALL", "en-GB",
];

/// What may stand around a number.
const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];

/// A value.
#[derive(Clone)]
pub(super) enum Wanted {
    Term(Term),
    /// A literal of a datatype in some form, equal to that of a text.
    Typed(Scalar, String),
}

impl Wanted {
    fn text(text: &str) -> Self {
        Wanted::Term(Literal::new_simple_literal(text).into())
    }

    fn tagged(text: &str, tag: &str) -> Option<Self> {
        let literal = Literal::new_language_tagged_literal(text, tag).ok()?;
        Some(Wanted::Term(literal.into()))
    }

    fn iri(text: &str) -> Option<Self> {
        Some(Wanted::Term(NamedNode::new(text).ok()?.into()))
    }

    /// Returns the quad that is stored of it; how it is written is known once it is.
    fn quad(&self, subject: &str, name: &str, after: &State) -> Result<String, String> {
        let name = property(name);
        match self {
            Wanted::Term(term) => Ok(shown(subject, &name, term.clone())),
            Wanted::Typed(scalar, text) => {
                let datatype = NamedNode::new_unchecked(scalar.datatype_iri());
                let given: Term =
                    Literal::new_typed_literal(text.trim_matches(SPACES), datatype.clone()).into();
                let start = format!("{} {name} \"", node(subject));
                let found = after.iter().find(|quad| quad.starts_with(&start));
                let found = found.ok_or("the value is not stored")?;
                let form = found[start.len()..].split('"').next().unwrap_or_default();
                let stored: Term = Literal::new_typed_literal(form, datatype).into();
                let (wanted, kept) = (
                    canonical_value(*scalar, &given),
                    canonical_value(*scalar, &stored),
                );
                let is_it = wanted.is_some() && wanted == kept || is_number(*scalar, text, form);
                if is_it {
                    Ok(shown(subject, &name, stored))
                } else {
                    Err(format!("{found} is stored for {text:?}"))
                }
            }
        }
    }
}

/// Returns whether a number is meant that RDF writes otherwise, such as `1e3` for an integer.
fn is_number(scalar: Scalar, text: &str, form: &str) -> bool {
    let read = |text: &str| text.trim_matches(SPACES).parse::<f64>().ok();
    let is_exact = matches!(scalar, Scalar::Integer | Scalar::Decimal);
    is_exact && read(text).is_some_and(|number| number.is_finite() && Some(number) == read(form))
}

impl Expected {
    /// Returns what the store must hold once the request is carried out.
    pub(super) fn after(
        &self,
        before: &Before,
        answer: &Value,
        after: &State,
    ) -> Result<State, String> {
        let mut state = before.quads.clone();
        match self {
            Expected::Nothing => {}
            Expected::Found(ids) => {
                let found: BTreeSet<String> = objects(&answer["data"]["thing"]).collect();
                if found != *ids {
                    return Err(format!("{ids:?} are asked for, but {found:?} are found"));
                }
            }
            Expected::Created { ty, id, values } => {
                let id = id.check(&affected(answer))?;
                if before
                    .quads
                    .iter()
                    .any(|quad| quad.starts_with(&format!("<{id}> ")))
                {
                    return Err(format!("{id} was there"));
                }
                state.insert(shown(
                    &id,
                    &oxrdf::vocab::rdf::TYPE.into_owned(),
                    property(ty),
                ));
                for (name, value) in values {
                    state.insert(value.quad(&id, name, after)?);
                }
            }
            Expected::Set {
                thing,
                property: name,
                removed,
                added,
            } => {
                for term in removed {
                    state.remove(&shown(thing, &property(name), term.clone()));
                }
                for value in added {
                    state.insert(value.quad(thing, name, after)?);
                }
            }
            Expected::Deleted(ids) => {
                let found = affected(answer);
                if ids.as_ref().is_some_and(|ids| *ids != found) {
                    return Err(format!("{ids:?} are asked for, but {found:?} are deleted"));
                }
                state = before.without(&found);
            }
        }
        Ok(state)
    }
}

impl NewId {
    /// Returns the id of the only object that was affected.
    fn check(&self, affected: &BTreeSet<String>) -> Result<String, String> {
        let id = affected.first().ok_or("nothing is affected")?;
        let is_right = match self {
            NewId::Given(given) => given == id,
            NewId::With(part) => id.contains(part.as_str()),
            NewId::OfSlug(slug) => id.strip_prefix("http://e/named/").is_some_and(|end| {
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte);
                end.bytes().all(is_plain) && decoded(end).as_deref() == Some(slug.as_bytes())
            }),
        };
        if affected.len() == 1 && is_right && NamedNode::new(id).is_ok() {
            Ok(id.clone())
        } else {
            Err(format!("other objects are affected: {affected:?}"))
        }
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    Some(bytes)
}

/// The ids of the objects of a list.
fn objects(list: &Value) -> impl Iterator<Item = String> {
    let list = list.as_array().into_iter().flatten();
    list.map(|object| object["id"].as_str().expect("an id").to_owned())
}

/// The ids of the objects that the fields of a mutation have affected.
fn affected(answer: &Value) -> BTreeSet<String> {
    let fields = answer["data"].as_object().into_iter().flatten();
    let groups =
        fields.flat_map(|(_, field)| field["affected_objects"].as_array().into_iter().flatten());
    let ids = groups.flat_map(|group| group["ids"].as_array().into_iter().flatten());
    ids.map(|id| id.as_str().expect("an id").to_owned())
        .collect()
}

/// A request in parts.
struct Draft {
    place: &'static str,
    text: String,
    /// The field, with `OBJECTS` and `WHERE` for the inputs.
    field: String,
    /// The type of the input, its place in the field, and its value.
    input: Option<(&'static str, &'static str, Value)>,
    expected: Expected,
}

/// Returns a request with a hostile text in it.
pub(super) fn attempt(random: &mut Random, before: &Before) -> Attempt {
    let of_schema = random.chance(6);
    let (draft, schema) = match (of_schema, random.below(6)) {
        (true, _) => in_schema(random),
        (_, 0) => in_values(random),
        (_, 1) => in_other_values(random),
        (_, 2) => in_updates(random, before),
        (_, 3) => in_deletions(random, before),
        (_, 4) => in_queries(random, before),
        _ => in_ids(random),
    };
    let is_mutation = !draft.field.starts_with("thing(");
    let keyed = is_mutation && random.chance(12);
    let (key, caller) = if keyed {
        let mut text = || texts::hostile(random).replace(HALF, "");
        (Some(text()), Some(text()))
    } else {
        (None, None)
    };
    Attempt {
        place: draft.place,
        schema,
        body: body(random, &draft, is_mutation),
        key,
        caller,
        is_no_text: draft.text.contains(HALF),
        expected: draft.expected,
    }
}

/// Returns the JSON text of a request: its input is a variable, or in the document, in which all
/// characters of its texts may be escapes.
fn body(random: &mut Random, draft: &Draft, is_mutation: bool) -> String {
    let keyword = if is_mutation { "mutation" } else { "query" };
    let half = if random.chance(50) {
        "\\ud83d"
    } else {
        "\\udc00"
    };
    let body = match &draft.input {
        None => json!({ "query": format!("{keyword} {{ {} }}", draft.field) }),
        Some((ty, place, input)) if random.chance(50) => {
            let field = draft.field.replace(place, "$input");
            let query = format!("{keyword}($input: {ty}) {{ {field} }}");
            json!({ "query": query, "variables": { "input": input } })
        }
        Some((_, place, input)) => {
            let escapes = random.chance(50);
            let literal = literal(input, escapes);
            // As an escape of GraphQL in place of one of JSON.
            let literal = literal.replace("\\uf8ff", half);
            let literal = if random.chance(50) {
                literal.replace(HALF, half)
            } else {
                literal
            };
            let field = draft.field.replace(place, &literal);
            json!({ "query": format!("{keyword} {{ {field} }}") })
        }
    };
    body.to_string().replace(HALF, half)
}

/// Returns a value as GraphQL writes it.
fn literal(value: &Value, escapes: bool) -> String {
    match value {
        Value::String(text) if escapes => escaped(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| literal(item, escapes)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members: Vec<String> = members
                .map(|(key, value)| format!("{key}: {}", literal(value, escapes)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// What a place has: the request, and the schema.
type Place = (Draft, String);

fn created(
    (place, text): (&'static str, String),
    ty: &'static str,
    input: Value,
    expected: Option<(NewId, Vec<(&'static str, Wanted)>)>,
) -> Draft {
    let (input_type, field) = match ty {
        "Named" => ("[Named_Create_Input!]!", "create_Named"),
        "Placed" => ("[Placed_Create_Input!]!", "create_Placed"),
        _ => ("[Thing_Create_Input!]!", "create_Thing"),
    };
    Draft {
        place,
        text,
        field: format!("{field}(objects: OBJECTS) {{ affected_objects {{ ids }} }}"),
        input: Some((input_type, "OBJECTS", json!([input]))),
        expected: match expected {
            Some((id, values)) => Expected::Created { ty, id, values },
            // It must be refused: whatever is stored is too much.
            None => Expected::Nothing,
        },
    }
}

fn made_up() -> NewId {
    NewId::With("http://e/".to_owned())
}

/// In values of new objects that are no numbers or times.
fn in_values(random: &mut Random) -> Place {
    let text = texts::hostile(random);
    let draft = match random.below(6) {
        0 => {
            let wanted = vec![("text", Wanted::text(&text))];
            let input = json!({ "text": text });
            created(("a text", text), "Thing", input, Some((made_up(), wanted)))
        }
        1 => {
            let wanted = vec![("texts", Wanted::text(&text)), ("texts", Wanted::text("x"))];
            let input = json!({ "texts": [text, "x"] });
            created(("texts", text), "Thing", input, Some((made_up(), wanted)))
        }
        2 => {
            let wanted =
                Wanted::tagged(&text, "en").map(|value| (made_up(), vec![("label", value)]));
            let input = json!({ "label": [{ "value": text, "lang": "en" }] });
            created(("a text in a language", text), "Thing", input, wanted)
        }
        3 => {
            let text = if random.chance(30) {
                random
                    .choose(&["en-GB", "de", "x-a", "i-klingon", "en_GB"])
                    .to_owned()
            } else {
                text
            };
            let wanted =
                Wanted::tagged("x", &text).map(|value| (made_up(), vec![("label", value)]));
            let input = json!({ "label": [{ "value": "x", "lang": text }] });
            created(("a language tag", text), "Thing", input, wanted)
        }
        4 => {
            let iri = texts::iri(random);
            let wanted = Wanted::iri(&iri).map(|value| (made_up(), vec![("link", value)]));
            let input = json!({ "link": iri });
            created(("an IRI", iri), "Thing", input, wanted)
        }
        _ => {
            let mut ids = THINGS.to_vec();
            let iri = texts::iri(random);
            ids.truncate(random.between(1, 3));
            let is_there = THINGS.contains(&iri.as_str());
            let mut wanted: Vec<_> = ids
                .iter()
                .map(|id| ("near", Wanted::Term(node(id).into())))
                .collect();
            wanted.extend(is_there.then(|| ("near", Wanted::Term(node(&iri).into()))));
            ids.push(&iri);
            let input = json!({ "near": [{ "ids": ids }] });
            let wanted = is_there.then(|| (made_up(), wanted));
            created(("a reference", iri.clone()), "Thing", input, wanted)
        }
    };
    (draft, plain_schema())
}

/// In values with a datatype.
fn in_other_values(random: &mut Random) -> Place {
    let text = texts::nearly(random, NUMBERS);
    let typed = |place, name: &'static str, scalar, text: String, input: Value| {
        let wanted = vec![(name, Wanted::Typed(scalar, text.clone()))];
        created((place, text), "Thing", input, Some((made_up(), wanted)))
    };
    let draft = match random.below(8) {
        0 => typed(
            "an integer",
            "whole",
            Scalar::Integer,
            text.clone(),
            json!({ "whole": text }),
        ),
        1 => typed(
            "a decimal",
            "amount",
            Scalar::Decimal,
            text.clone(),
            json!({ "amount": text }),
        ),
        2 => typed(
            "a double",
            "weight",
            Scalar::Double,
            text.clone(),
            json!({ "weight": text }),
        ),
        3 => typed(
            "a date",
            "day",
            Scalar::Date,
            text.clone(),
            json!({ "day": text }),
        ),
        4 => typed(
            "a time",
            "moment",
            Scalar::DateTime,
            text.clone(),
            json!({ "moment": text }),
        ),
        5 => {
            let input = json!({ "mixed": [{ "value": text, "type": "xsd:integer" }] });
            typed(
                "an integer among others",
                "mixed",
                Scalar::Integer,
                text,
                input,
            )
        }
        6 => {
            let wanted = vec![("mixed", Wanted::text(&text))];
            let input = json!({ "mixed": [{ "value": text, "type": "xsd:string" }] });
            created(
                ("a text among others", text),
                "Thing",
                input,
                Some((made_up(), wanted)),
            )
        }
        _ => {
            let input = json!({ "mixed": [{ "value": "5", "type": text }] });
            created(("a datatype", text), "Thing", input, None)
        }
    };
    (draft, plain_schema())
}

/// In ids of new objects.
fn in_ids(random: &mut Random) -> Place {
    let draft = match random.below(3) {
        0 | 1 => {
            let iri = texts::iri(random);
            let wanted = NamedNode::new(&iri).is_ok();
            let wanted =
                wanted.then(|| (NewId::Given(iri.clone()), vec![("text", Wanted::text("x"))]));
            let input = json!({ "id": iri, "text": "x" });
            created(("an id", iri), "Thing", input, wanted)
        }
        _ => {
            let text = texts::hostile(random);
            let wanted = (
                NewId::OfSlug(text.clone()),
                vec![("slug", Wanted::text(&text))],
            );
            let input = json!({ "slug": text });
            created(("a value in an id", text), "Named", input, Some(wanted))
        }
    };
    (draft, plain_schema())
}

/// In the patterns and prefixes of the schema itself.
fn in_schema(random: &mut Random) -> Place {
    let text = texts::hostile(random).replace(HALF, "");
    let (pattern, prefix, ty) = if random.chance(50) {
        (format!("{text}${{slug}}"), "placed/".to_owned(), "Named")
    } else {
        ("named/${slug}".to_owned(), text.clone(), "Placed")
    };
    let schema = schema(&pattern, &prefix);
    let is_valid = soml_core::load(&schema).schema.is_some();
    let input = json!({ "slug": "x" });
    let wanted = (
        NewId::With(String::new()),
        vec![("slug", Wanted::text("x"))],
    );
    let draft = created(("a pattern or a prefix", text), ty, input, Some(wanted));
    if is_valid {
        (draft, schema)
    } else {
        in_ids(random)
    }
}

fn updated(place: &'static str, text: String, input: Value, expected: Expected) -> Draft {
    Draft {
        place,
        text,
        field: "update_Thing(objects: OBJECTS) { affected_objects { ids } }".to_owned(),
        input: Some(("[Thing_Update_Input!]!", "OBJECTS", json!([input]))),
        expected,
    }
}

/// In updates.
fn in_updates(random: &mut Random, before: &Before) -> Place {
    let at = random.below(THINGS.len());
    let (thing, known) = (THINGS[at], &before.texts[at]);
    let text = texts::hostile(random);
    let old = || Term::from(Literal::new_simple_literal(known));
    let draft = match random.below(5) {
        0 => {
            let expected = Expected::Set {
                thing,
                property: "text",
                removed: vec![old()],
                added: vec![Wanted::text(&text)],
            };
            let input = json!({ "id": thing, "text": text });
            updated("a text that changes", text, input, expected)
        }
        1 => {
            let expected = Expected::Set {
                thing,
                property: "texts",
                removed: vec![old()],
                added: vec![Wanted::text(&text)],
            };
            let input = json!({ "id": thing, "texts": { "value": [text], "patch": known } });
            updated("a text in place of a stored one", text, input, expected)
        }
        2 => {
            let is_stored = text == *known || text == "plain";
            let removed = vec![Literal::new_simple_literal(&text).into()];
            let expected = if is_stored {
                Expected::Set {
                    thing,
                    property: "texts",
                    removed,
                    added: vec![Wanted::text("x")],
                }
            } else {
                Expected::Nothing
            };
            let input = json!({ "id": thing, "texts": { "value": ["x"], "patch": text } });
            updated("a text to be patched", text, input, expected)
        }
        3 => {
            let removed = Literal::new_language_tagged_literal_unchecked(known, "en");
            let expected = Expected::Set {
                thing,
                property: "label",
                removed: vec![removed.into()],
                added: Wanted::tagged(&text, "fr").into_iter().collect(),
            };
            let value = json!([{ "value": text, "lang": "fr" }]);
            let patch = json!({ "value": known, "lang": "en" });
            let input = json!({ "id": thing, "label": { "value": value, "patch": patch } });
            updated("a label in place of a stored one", text, input, expected)
        }
        _ => {
            let iri = texts::iri(random);
            let input = json!({ "id": iri, "text": "x" });
            let expected = match THINGS.iter().find(|thing| **thing == iri) {
                Some(thing) => Expected::Set {
                    thing,
                    property: "text",
                    removed: before_text(before, thing),
                    added: vec![Wanted::text("x")],
                },
                None => Expected::Nothing,
            };
            updated("the id of what changes", iri, input, expected)
        }
    };
    (draft, plain_schema())
}

fn before_text(before: &Before, thing: &str) -> Vec<Term> {
    let at = THINGS.iter().position(|known| *known == thing);
    let text = at.map(|at| Literal::new_simple_literal(&before.texts[at]));
    text.into_iter().map(Term::from).collect()
}

/// In filters of deletions.
fn in_deletions(random: &mut Random, before: &Before) -> Place {
    let text = if random.chance(50) {
        random.pick(&before.texts).clone()
    } else {
        texts::hostile(random)
    };
    let is_it = |value: &str| value == text;
    let (place, text, filter, expected) = match random.below(7) {
        0 => {
            let found = before.things("text", is_it);
            (
                "an operand",
                text.clone(),
                json!({ "text": { "EQ": text } }),
                Some(found),
            )
        }
        1 => {
            let found = before.things("texts", is_it);
            (
                "an operand among several",
                text.clone(),
                json!({ "texts": { "IN": [text, "y"] } }),
                Some(found),
            )
        }
        2 => {
            let found = before.things("text", |value| value.contains(&text));
            let filter = json!({ "text": { "RE": regex::escape(&text) } });
            ("an escaped regular expression", text, filter, Some(found))
        }
        3 => (
            "a regular expression",
            text.clone(),
            json!({ "text": { "RE": text } }),
            None,
        ),
        4 => {
            let filter = json!({ "label": { "value": { "EQ": text }, "lang": "en" } });
            let found = before.things("label", is_it);
            // One thing has `x` in German alone.
            let found = (text != "x").then_some(found);
            ("an operand with a language", text, filter, found)
        }
        5 => {
            let text = texts::nearly(random, LANGUAGES);
            let filter = json!({ "label": { "value": { "EQ": "x" }, "lang": text } });
            ("a language of a filter", text, filter, None)
        }
        _ => {
            let iri = texts::iri(random);
            let found = THINGS.iter().filter(|thing| **thing == iri);
            let found = found.map(|thing| (*thing).to_owned()).collect();
            (
                "an id to be deleted",
                iri.clone(),
                json!({ "ID": [iri] }),
                Some(found),
            )
        }
    };
    let draft = Draft {
        place,
        text,
        field: "delete_Thing(where: WHERE) { affected_objects { ids } }".to_owned(),
        input: Some(("Thing_Where_Multi!", "WHERE", filter)),
        expected: Expected::Deleted(expected),
    };
    (draft, plain_schema())
}

/// In queries, and in what mutations read back.
fn in_queries(random: &mut Random, before: &Before) -> Place {
    let text = if random.chance(40) {
        random.pick(&before.texts).clone()
    } else {
        texts::hostile(random)
    };
    let found = |passes: &dyn Fn(&str) -> bool| Expected::Found(before.things("text", passes));
    let (place, text, field, input, expected) = match random.below(7) {
        0 => {
            let expected = found(&|value| value == text);
            let filter = json!({ "text": { "EQ": text } });
            (
                "an operand of a query",
                text,
                "thing(where: INPUT) { id }",
                ("Thing_Where_Multi", filter),
                expected,
            )
        }
        1 => {
            let expected = found(&|value| value.contains(&text));
            let filter = json!({ "text": { "RE": regex::escape(&text) } });
            (
                "a pattern of a query",
                text,
                "thing(where: INPUT) { id }",
                ("Thing_Where_Multi", filter),
                expected,
            )
        }
        2 => {
            let iri = texts::iri(random);
            let ids = THINGS.iter().filter(|thing| **thing == iri);
            let expected = Expected::Found(ids.map(|thing| (*thing).to_owned()).collect());
            (
                "an id of a query",
                iri.clone(),
                "thing(ID: INPUT) { id }",
                ("[ID!]", json!([iri])),
                expected,
            )
        }
        3 => {
            let text = texts::nearly(random, LANGUAGES);
            let field = "thing(lang: INPUT, orderBy: {title: {lang: INPUT}}) { id title { value } label(lang: INPUT) { value } }";
            (
                "a language of a query",
                text.clone(),
                field,
                ("String", json!(text)),
                Expected::Nothing,
            )
        }
        4 => {
            let iri = texts::iri(random);
            let field = "thing(from: INPUT) { id }";
            (
                "a graph of a query",
                iri.clone(),
                field,
                ("[String!]", json!([iri])),
                Expected::Nothing,
            )
        }
        _ => {
            let text = texts::nearly(random, LANGUAGES);
            let field = "create_Thing(objects: [{text: \"new\"}]) { affected_objects { ids }
                thing(lang: INPUT, orderBy: {title: {lang: INPUT, dir: DESC}}) {
                    id title { value } label(lang: INPUT) { value } } }";
            let expected = Expected::Created {
                ty: "Thing",
                id: made_up(),
                values: vec![("text", Wanted::text("new"))],
            };
            (
                "a language of what is read back",
                text.clone(),
                field,
                ("String", json!(text)),
                expected,
            )
        }
    };
    let draft = Draft {
        place,
        text,
        field: field.to_owned(),
        input: Some((input.0, "INPUT", input.1)),
        expected,
    };
    (draft, plain_schema())
}
