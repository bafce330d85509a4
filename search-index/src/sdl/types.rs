//! Generates the types of the search API.

use apollo_compiler::ast::{FieldDefinition, IntValue, Value};
use soml_core::datatype::Scalar;
use soml_core::schema::{Range, Schema};

use super::federation;
use super::nodes::{Input, Types, field, input, input_or, inputs};
use super::shared::{BOOST, MINIMUM, Row};
use super::target::{Kind, Member, members, ways};
use crate::mapping::{Content, Embedded, Field, IndexDefinition, ObjectFields, Reads, ScalarIndex};

/// Adds the types of one index, and returns its root field. In a subgraph, objects of hits are references.
pub(super) fn add_index(
    types: &mut Types,
    soml: &Schema,
    index: &IndexDefinition,
    field_name: &str,
    references: Option<&mut federation::Builder<'_>>,
) -> FieldDefinition {
    let name = index.name.as_str();
    let mut adder = Adder { types, soml };
    let object = match references {
        Some(references) => references.reference(adder.types, index.object),
        None => {
            adder.object(name, &index.fields);
            format!("{name}!")
        }
    };
    adder.clauses(name, &index.fields);
    adder.sort(name, &index.fields, true);
    let terms = vec![
        input("field", &format!("{name}_Search_Field!"), "The property"),
        input_or("size", "Int", "Maximum number of buckets", Some(number(10))),
        input_or(
            "min_doc_count",
            "Int",
            "Least number of objects in a bucket",
            Some(number(1)),
        ),
        input(
            "order",
            "Search_BucketOrder",
            "Most objects first, if absent",
        ),
        input(
            "missing",
            "Search_Value",
            "The value of objects without one",
        ),
    ];
    let types = adder.types;
    let aggregation_terms = format!("{name}_Search_TermsAggregation");
    types.inputs(&aggregation_terms, "A bucket for each value", terms);
    let aggregation = vec![
        input("name", "String!", "Its name in the answer"),
        input("terms", &aggregation_terms, "A bucket for each value"),
    ];
    types.inputs(
        &format!("{name}_Search_Aggregation"),
        "An aggregation",
        aggregation,
    );
    add_result(types, name, field_name, &object);
    root(
        name,
        &format!("{}{field_name}_search", soml.config.query_pfx),
    )
}

/// Adds the types of the answer to a search; hits have the object in a field of some name and type.
fn add_result(types: &mut Types, name: &str, field_name: &str, object: &str) {
    let hit = vec![
        field("id", "ID!", "The IRI of the object"),
        field("score", "Float", "How well it matches"),
        field(
            "sort",
            "[String]",
            "Its sort keys in the form of the index, for `search_after`",
        ),
        field(field_name, object, "The object"),
    ];
    types.object(&format!("{name}_Search_Hit"), "An object that matches", hit);
    let result = vec![
        field("took", "Int!", "Time of the search in milliseconds"),
        field("total", "Search_Total", "How many objects match"),
        field("max_score", "Float", "The best score"),
        field(
            "hits",
            &format!("[{name}_Search_Hit!]!"),
            "The objects that match, in order",
        ),
        field(
            "aggregations",
            "[Search_Aggregation!]",
            "Aggregations of all that match",
        ),
    ];
    types.object(
        &format!("{name}_Search_Result"),
        "The answer to a search",
        result,
    );
}

fn root(name: &str, field_name: &str) -> FieldDefinition {
    let query = format!("{name}_Search_Query");
    let mut root = field(
        field_name,
        &format!("{name}_Search_Result"),
        &format!("Searches {name}"),
    );
    root.arguments = vec![
        input("query", &query, "What to find; everything, if absent"),
        input(
            "post_filter",
            &query,
            "Narrows the hits, but not what is aggregated",
        ),
        input_or("from", "Int", "Number of hits to skip", Some(number(0))),
        input_or("size", "Int", "Maximum number of hits", Some(number(10))),
        input(
            "sort",
            &format!("[{name}_Search_Sort!]"),
            "Sort keys; the score, if absent",
        ),
        input(
            "search_after",
            "[String]",
            "Sort keys of the hit after which to continue",
        ),
        input("min_score", "Float", "Least score of a hit"),
        input_or(
            "track_total_hits",
            "Boolean",
            "Counts all hits",
            Some(Value::Boolean(true)),
        ),
        input(
            "aggregations",
            &format!("[{name}_Search_Aggregation!]"),
            "Aggregations of all that match",
        ),
    ];
    root
}

fn number(value: i32) -> Value {
    Value::Int(IntValue::from(value))
}

/// Adds the types of an object and of those that it embeds.
struct Adder<'a> {
    types: &'a mut Types,
    soml: &'a Schema,
}

impl Adder<'_> {
    /// Adds the output types; each is named after the way to it.
    fn object(&mut self, name: &str, object: &ObjectFields) {
        let mut fields = vec![field("id", "ID!", "IRI")];
        if !object.id_only {
            fields.push(field("type", "[ID]", "Type"));
        }
        for (key, of) in &object.fields {
            let ty = match &of.content {
                Content::Object(embedded) => self.inner(name, key, embedded),
                Content::Leaf(_) => self.output(of),
            };
            let ty = if of.multiple { format!("[{ty}]") } else { ty };
            let property = &self.soml[of.reads.property()];
            let description = property.label.as_deref().or(property.descr.as_deref());
            fields.push(field(key, &ty, description.unwrap_or_default()));
        }
        let of = &self.soml[object.object];
        let description = of.label.as_deref().or(of.descr.as_deref());
        let description = if object.id_only {
            "An object of which the index has the id"
        } else {
            description.unwrap_or(&of.name.graphql)
        };
        self.types.object(name, description, fields);
        for (key, embedded) in embedded(object) {
            let way = self.inner(name, key, embedded);
            if self.is_missing(&way, embedded, "") {
                self.object(&way, &embedded.fields);
            }
        }
    }

    /// Returns whether the types of an embedded object are still to be added: shared ones are added
    /// once.
    fn is_missing(&mut self, way: &str, embedded: &Embedded, part: &str) -> bool {
        !is_shared(embedded) || self.types.is_new(&format!("{way} {part}"))
    }

    /// Returns the name of the types of an object that another embeds.
    ///
    /// Those that embed nothing further, or are nothing but an id, are the same whatever the way to them: so
    /// the number of types grows with that of objects, not with that of ways through them.
    fn inner(&self, name: &str, key: &str, embedded: &Embedded) -> String {
        match is_shared(embedded) {
            _ if embedded.fields.id_only => REFERENCE.to_owned(),
            true => format!(
                "{}_Embedded",
                self.soml[embedded.fields.object].name.graphql
            ),
            false => format!("{name}__{key}"),
        }
    }

    /// Returns the name of the type of a value of a field, and makes sure that it is there.
    fn output(&mut self, of: &Field) -> String {
        let range = match of.reads {
            Reads::Name(_) => Range::Scalar(Scalar::String),
            Reads::Property(id) => self.soml[id].range,
        };
        match range {
            Range::Object(id) => unreachable!("`{}` is embedded", self.soml[id].name),
            Range::Scalar(scalar) => {
                let name = scalar.graphql_name();
                if self.types.is_new(name) && !is_standard(scalar) {
                    self.types.scalar(name, scalar.soml_name());
                }
                name.to_owned()
            }
            Range::Enum(id) => {
                let ty = &self.soml[id];
                let name = ty.name.graphql.clone();
                if self.types.is_new(&name) {
                    let values = ty.values.iter().map(|value| value.name.as_str());
                    let description = ty.label.as_deref().or(ty.descr.as_deref());
                    self.types
                        .choice(&name, description.unwrap_or(&name), values);
                }
                name
            }
            Range::Literal(_) => {
                if self.types.is_new("Literal") {
                    let fields = vec![
                        field("value", "String", "Value"),
                        field("lang", "String", "Language tag"),
                        field("type", "ID", "Type"),
                    ];
                    self.types.object("Literal", "Literal value", fields);
                }
                "Literal".to_owned()
            }
        }
    }

    /// Adds the inputs of clauses about an object that is a document, in its own right or inside.
    fn clauses(&mut self, name: &str, object: &ObjectFields) {
        let own = |suffix: &str| format!("{name}_Search_{suffix}");
        for &(suffix, description, rows) in COMBINATIONS {
            let rows = inputs(&own(""), rows);
            self.types.inputs(&own(suffix), description, rows);
        }
        let all_ways = ways(object);
        let paths = all_ways.iter().map(String::as_str);
        let description = "Properties, those of embedded objects after `__`";
        self.types.choice(&own("Field"), description, paths);
        let mut query = inputs(&own(""), QUERY);
        query.extend(self.by_properties(name, object));
        // Only documents have ids that the engine finds them by.
        if object.path.is_empty() {
            query.push(input("ids", "Search_Ids", "Objects by id"));
        }
        if self.nested(name, object) {
            let description = "Several conditions on one embedded object";
            query.push(input("nested", &own("Nested"), description));
        }
        let description = "A clause: exactly one of these";
        self.types.inputs(&own("Query"), description, query);
    }

    /// Adds the inputs of clauses that go by property, for an object and those that it embeds; returns
    /// the clauses.
    fn by_properties(&mut self, name: &str, object: &ObjectFields) -> Vec<Input> {
        let mut clauses = Vec::new();
        for clause in CLAUSES {
            if self.by_property(clause, name, object) {
                let ty = format!("{name}_Search_{}", clause.suffix);
                clauses.push(input(clause.key, &ty, clause.description));
            }
        }
        for (key, embedded) in embedded(object) {
            let way = self.inner(name, key, embedded);
            if embedded.nested {
                if self.is_missing(&way, embedded, "nested clauses") {
                    self.clauses(&way, &embedded.fields);
                }
            } else if self.is_missing(&way, embedded, "clauses") {
                self.by_properties(&way, &embedded.fields);
            }
        }
        clauses
    }

    /// Adds the input of a clause that goes by property; returns whether any property has it.
    fn by_property(&mut self, clause: &Clause, name: &str, object: &ObjectFields) -> bool {
        let mut keys = Vec::new();
        for (key, member) in members(object) {
            match member {
                Member::Target(target) => {
                    let ty = (clause.input)(target.kind());
                    keys.extend(ty.map(|ty| input(&key, ty, "")));
                }
                Member::Object(embedded) => {
                    let way = self.inner(name, &key, embedded);
                    keys.push(input(&key, &format!("{way}_Search_{}", clause.suffix), ""));
                }
            }
        }
        let own = format!("{name}_Search_{}", clause.suffix);
        self.types.inputs(&own, clause.description, keys)
    }

    /// Adds the input of the clause `nested`; returns whether there are nested objects.
    fn nested(&mut self, name: &str, object: &ObjectFields) -> bool {
        let mut keys = Vec::new();
        for (key, embedded) in embedded(object) {
            let way = self.inner(name, key, embedded);
            if embedded.nested {
                let ty = format!("{way}_Search_NestedQuery");
                let rows = inputs(&format!("{way}_Search_"), NESTED);
                let description = "Conditions on one embedded object";
                self.types.inputs(&ty, description, rows);
                keys.push(input(key, &ty, ""));
            } else if self.nested(&way, &embedded.fields) {
                keys.push(input(key, &format!("{way}_Search_Nested"), ""));
            }
        }
        let own = format!("{name}_Search_Nested");
        let description = "An embedded object: exactly one of these";
        self.types.inputs(&own, description, keys)
    }

    fn sort(&mut self, name: &str, object: &ObjectFields, is_root: bool) {
        let mut keys = Vec::new();
        if is_root {
            // Only documents have a score; embedded objects have none of their own to sort by.
            keys.push(input("_score", "Search_ScoreSort", "The score"));
        }
        for (key, member) in members(object) {
            match member {
                Member::Target(target) => {
                    // Sums and means of exact numbers are not exact: engines compute with doubles.
                    let is_number = matches!(
                        target.index(),
                        ScalarIndex::Integer(_) | ScalarIndex::Double | ScalarIndex::Instant
                    );
                    let ty = if is_number {
                        "Search_NumberSort"
                    } else {
                        "Search_Sort"
                    };
                    keys.push(input(&key, ty, ""));
                }
                Member::Object(embedded) => {
                    let way = self.inner(name, &key, embedded);
                    keys.push(input(&key, &format!("{way}_Search_Sort"), ""));
                }
            }
        }
        self.types.inputs(
            &format!("{name}_Search_Sort"),
            "A sort key: exactly one of these",
            keys,
        );
        for (key, embedded) in embedded(object) {
            let way = self.inner(name, key, embedded);
            if self.is_missing(&way, embedded, "sort") {
                self.sort(&way, &embedded.fields, false);
            }
        }
    }
}

/// Suffix, description and fields of the inputs that combine clauses.
const COMBINATIONS: &[Combination] = &[
    (
        "Bool",
        "A combination of clauses",
        &[
            ("must", "[*Query!]", "All of them match"),
            ("filter", "[*Query!]", "All of them match, without a score"),
            ("should", "[*Query!]", "Some of them match"),
            ("must_not", "[*Query!]", "None of them matches"),
            MINIMUM,
            BOOST,
        ],
    ),
    (
        "ConstantScore",
        "Matches with the same score",
        &[("filter", "*Query!", "What matches"), BOOST],
    ),
    (
        "DisMax",
        "The best of some clauses",
        &[
            ("queries", "[*Query!]!", "One of them matches"),
            (
                "tie_breaker",
                "Float",
                "Factor of the scores of all but the best",
            ),
            BOOST,
        ],
    ),
    (
        "Exists",
        "Objects with a value",
        &[("field", "*Field!", "The property"), BOOST],
    ),
];

/// The clauses that do not go by property.
const QUERY: &[Row] = &[
    ("match_all", "Search_All", "Everything"),
    ("match_none", "Search_All", "Nothing"),
    ("bool", "*Bool", "A combination of clauses"),
    (
        "constant_score",
        "*ConstantScore",
        "Matches with the same score",
    ),
    ("dis_max", "*DisMax", "The best of some clauses"),
    ("exists", "*Exists", "Objects with a value"),
];

const NESTED: &[Row] = &[
    ("query", "*Query!", "What one of the objects matches"),
    (
        "score_mode",
        "Search_ScoreMode",
        "How scores are combined, the mean if absent",
    ),
];

type Combination = (&'static str, &'static str, &'static [Row]);

/// A clause that goes by property.
struct Clause {
    key: &'static str,
    suffix: &'static str,
    description: &'static str,
    /// The input type for the properties of a kind, if they have the clause.
    input: fn(Kind) -> Option<&'static str>,
}

const CLAUSES: &[Clause] = &[
    Clause {
        key: "match",
        suffix: "Match",
        description: "Analysed text, or a value: exactly one of these",
        input: |kind| {
            Some(match kind {
                Kind::Text | Kind::Keyword => "Search_Match",
                Kind::Language => "Search_LanguageMatch",
                Kind::Boolean | Kind::Number => "Search_ValueMatch",
            })
        },
    },
    Clause {
        key: "term",
        suffix: "Term",
        description: "One term or value: exactly one of these",
        input: |kind| {
            Some(match kind {
                Kind::Text | Kind::Keyword => "Search_Term",
                Kind::Language => "Search_LanguageTerm",
                Kind::Boolean | Kind::Number => "Search_ValueTerm",
            })
        },
    },
    Clause {
        key: "terms",
        suffix: "Terms",
        description: "Any of some terms or values: exactly one of these",
        input: |_| Some("Search_Terms"),
    },
    Clause {
        key: "range",
        suffix: "Range",
        description: "Values between bounds: exactly one of these",
        input: |kind| matches!(kind, Kind::Keyword | Kind::Number).then_some("Search_Range"),
    },
    Clause {
        key: "prefix",
        suffix: "Prefix",
        description: "Terms by their beginning: exactly one of these",
        input: |kind| match kind {
            Kind::Text | Kind::Keyword => Some("Search_Prefix"),
            Kind::Language => Some("Search_LanguagePrefix"),
            Kind::Boolean | Kind::Number => None,
        },
    },
];

/// Returns whether a scalar is there without being added: those of GraphQL itself, and that of
/// counts.
fn is_standard(scalar: Scalar) -> bool {
    matches!(
        scalar,
        Scalar::Int
            | Scalar::Double
            | Scalar::String
            | Scalar::Boolean
            | Scalar::Iri
            | Scalar::Long
    )
}

/// The name of the types of embedded objects that are nothing but an id.
const REFERENCE: &str = "Search_Reference";

/// Returns whether the types of an embedded object do not depend on the way to it.
fn is_shared(of: &Embedded) -> bool {
    of.fields.id_only || embedded(&of.fields).all(|(_, inner)| inner.fields.id_only)
}

fn embedded(object: &ObjectFields) -> impl Iterator<Item = (&str, &Embedded)> {
    object
        .fields
        .iter()
        .filter_map(|(key, field)| match &field.content {
            Content::Object(embedded) => Some((key.as_str(), embedded)),
            Content::Leaf(_) => None,
        })
}
