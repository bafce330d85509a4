//! The search API of a schema, and operations of it as searches.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use apollo_compiler::executable;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Node, Schema};
use graphql_service::error::{GraphqlError, Location};
use graphql_service::limits::exceeded;
use graphql_service::{Prepared, denial};
use indexmap::IndexMap;
use soml_core::Finding;
use soml_core::schema;

use super::arguments::{Place, choice, flag};
use super::clause::{Clauses, missing};
use super::federation::{self, Entities};
use super::guard::{Guard, filtered};
use super::input::Input;
use super::nodes::Types;
use super::root::{RootField, RootFields, RootSearch};
use super::selection::{FieldGroup, Operation};
use super::shape::{KeyForm, Shapes, key_form};
use super::shared;
use super::sort;
use super::target::{Found, Member, follow, members, ways};
use super::types;
use crate::access::{Condition, Sight};
use crate::code;
use crate::dsl::{
    Aggregation, AggregationKind, BucketOrder, ClauseLimits, Counted, Query, Search, Sort,
    TermsAggregation, TotalHits,
};
use crate::limits::SearchLimits;
use crate::mapping::{
    Content, FACTS, FindingKind, IndexDefinition, Indexes, MappingError, ObjectFields,
};

/// The GraphQL API of the indexes of a schema.
#[derive(Debug)]
pub struct SearchApi {
    soml: Arc<soml_core::Valid<schema::Schema>>,
    schema: Valid<Schema>,
    indexes: Indexes,
    /// Positions of indexes by root field, in the order of the indexes.
    roots: IndexMap<String, Root>,
    /// What makes the API a subgraph, if it is one.
    subgraph: Option<Subgraph>,
}

/// What a subgraph has beside its searches.
#[derive(Debug)]
struct Subgraph {
    entities: Entities,
    /// What some caller may be denied is nullable in the schema as a gateway reads it.
    nullable: bool,
    /// The schema as a gateway reads it, once someone has.
    sdl: OnceLock<String>,
}

#[derive(Clone, Debug)]
struct Root {
    index: usize,
    /// The field of a hit that holds the object.
    object: String,
}

impl SearchApi {
    /// Generates the API.
    ///
    /// # Errors
    /// When two names of it would be the same.
    pub fn new(
        soml: Arc<soml_core::Valid<schema::Schema>>,
        indexes: Indexes,
    ) -> Result<SearchApi, MappingError> {
        SearchApi::generate(soml, indexes, false)
    }

    /// Generates the API as a subgraph of Federation 1, with `_service` and `_entities`: hits have
    /// references to objects, which the gateway completes from the service that owns them.
    ///
    /// # Errors
    /// Those of [`SearchApi::new`].
    pub fn subgraph(
        soml: Arc<soml_core::Valid<schema::Schema>>,
        indexes: Indexes,
    ) -> Result<SearchApi, MappingError> {
        SearchApi::generate(soml, indexes, true)
    }

    fn generate(
        soml: Arc<soml_core::Valid<schema::Schema>>,
        indexes: Indexes,
        is_subgraph: bool,
    ) -> Result<SearchApi, MappingError> {
        let mut types = Types::new();
        shared::add(&mut types);
        let mut references = is_subgraph.then(|| federation::Builder::new(&soml));
        let mut findings = Vec::new();
        let mut roots = IndexMap::new();
        let mut fields = Vec::new();
        for (position, index) in indexes.indexes.iter().enumerate() {
            check_names(&soml, index, &mut findings);
            let object = lower_first(&index.name);
            // Fields of a type have unique names
            // (<https://spec.graphql.org/September2025/#sec-Objects>).
            if ["id", "score", "sort"].contains(&object.as_str()) {
                let message = format!(
                    "a hit of `{}` would have the field `{object}` twice",
                    index.name
                );
                findings.push(taken(&soml, index, message));
            }
            let field = types::add_index(&mut types, &soml, index, &object, references.as_mut());
            let root = Root {
                index: position,
                object,
            };
            if roots.insert(field.name.to_string(), root).is_some() {
                let message = format!("another object gives the root field `{}` too", field.name);
                findings.push(taken(&soml, index, message));
            }
            fields.push(field);
        }
        let subgraph = references.map(|references| Subgraph {
            entities: references.finish(&mut types, &mut fields),
            nullable: false,
            sdl: OnceLock::new(),
        });
        types.object("Query", "Root searches", fields);
        for name in std::mem::take(&mut types.taken) {
            let message = format!("two types of the search API would be called `{name}`");
            findings.push(
                FindingKind::NameTaken
                    .at(None, message)
                    .with_help("rename one of the objects"),
            );
        }
        if !findings.is_empty() {
            return Err(MappingError { findings });
        }
        let schema = types.finish().validate().map_err(|invalid| {
            let message = format!("the generated schema is not valid: {}", invalid.errors);
            MappingError {
                findings: vec![FindingKind::SchemaInvalid.at(None, message)],
            }
        })?;
        Ok(SearchApi {
            soml,
            schema,
            indexes,
            roots,
            subgraph,
        })
    }

    /// Has gateways read a schema in which everything is nullable that some caller may be denied.
    #[must_use]
    pub fn nullable_where_denied(mut self) -> Self {
        if let Some(subgraph) = &mut self.subgraph {
            subgraph.nullable = true;
        }
        self
    }

    /// Returns the schema whose objects are searched.
    #[must_use]
    pub fn soml(&self) -> &Arc<soml_core::Valid<schema::Schema>> {
        &self.soml
    }

    /// Returns the schema that operations are validated against.
    #[must_use]
    pub fn schema(&self) -> &Valid<Schema> {
        &self.schema
    }

    /// Returns the indexes that are searched.
    #[must_use]
    pub fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    /// Returns the root field that searches an index, and the field of a hit that holds the object; `None`
    /// if there is no index at this position.
    #[must_use]
    pub fn field_names(&self, index: usize) -> Option<(&str, &str)> {
        let (root, names) = self.roots.get_index(index)?;
        Some((root, &names.object))
    }

    /// Prints the API in the GraphQL schema definition language.
    #[must_use]
    pub fn sdl(&self) -> String {
        self.schema.to_string()
    }

    /// Returns whether the API is a subgraph: whether objects of hits are references.
    #[must_use]
    pub fn is_subgraph(&self) -> bool {
        self.subgraph.is_some()
    }

    /// Returns the schema as a gateway reads it from `_service { sdl }`; `None` if the API is no subgraph.
    #[must_use]
    pub fn service_sdl(&self) -> Option<&str> {
        let subgraph = self.subgraph.as_ref()?;
        let print = || federation::print(&self.schema, &subgraph.entities, subgraph.nullable);
        Some(subgraph.sdl.get_or_init(print))
    }

    /// Returns the searches that an operation asks for, one for each root field that is one, in the
    /// order of the response.
    ///
    /// # Errors
    /// Those of [`SearchApi::roots`].
    pub fn searches(
        &self,
        prepared: &Prepared,
        limits: &SearchLimits,
    ) -> Result<Vec<RootSearch>, Vec<GraphqlError>> {
        let roots = self.roots(prepared, limits, None)?.fields;
        let searches = roots.into_iter().filter_map(|root| match root {
            RootField::Search(search) => Some(*search),
            _ => None,
        });
        Ok(searches.collect())
    }

    /// Returns the root fields of an operation, in the order of the response, as far as its sender may read them.
    ///
    /// The request has to be prepared for [`SearchApi::schema`]. Numbers in its variables keep the digits that
    /// are written, as those in the document do.
    ///
    /// # Errors
    /// What is wrong with each search that cannot be made, exceeds a limit, or asks about what its sender may not read.
    pub fn roots(
        &self,
        prepared: &Prepared,
        limits: &SearchLimits,
        sight: Option<&dyn Sight>,
    ) -> Result<RootFields, Vec<GraphqlError>> {
        let left_out = RefCell::default();
        let of = Selecting {
            of: Operation { prepared },
            sight,
            left_out: &left_out,
        };
        let by_key = of.of.by_key([&prepared.operation.selection_set]);
        let is_search =
            |field: &Node<executable::Field>| self.roots.contains_key(field.name.as_str());
        let searches = by_key.values().filter(|fields| is_search(fields[0]));
        if searches.count() > limits.searches {
            let message = "the request has too many searches";
            return Err(vec![exceeded(
                code::LIMIT_SEARCHES,
                message,
                limits.searches,
            )]);
        }
        let (mut roots, mut errors) = (Vec::new(), Vec::new());
        let mut representations = limits.representations;
        for (key, fields) in by_key {
            let group = FieldGroup {
                key,
                fields: &fields,
            };
            match self.root(of, group, limits, &mut representations) {
                Ok(root) => roots.extend(root),
                Err(error) => {
                    let key = graphql_service::PathSegment::Key(key.to_owned());
                    errors.push(error.on(vec![key]));
                }
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(RootFields {
            fields: roots,
            left_out: left_out.into_inner(),
        })
    }

    /// Reads a root field, unless it is left out; `representations` is how many of objects the request may still have.
    fn root<'d>(
        &self,
        of: Selecting<'d, '_>,
        group: FieldGroup<'d, '_>,
        limits: &SearchLimits,
        representations: &mut usize,
    ) -> Result<Option<RootField>, GraphqlError> {
        let name = group.first().name.as_str();
        if let Some(root) = self.roots.get(name) {
            let search = self.search(of, group, root, limits)?;
            return Ok(search.map(|search| RootField::Search(Box::new(search))));
        }
        Ok(Some(match (name, &self.subgraph) {
            (federation::SERVICE, Some(_)) => {
                if of.sight.is_some_and(|sight| !sight.reads_sdl()) {
                    of.leave_out(group, "Query");
                    return Ok(None);
                }
                RootField::Service(self.shapes(of, None).service(group))
            }
            (federation::ENTITIES, Some(subgraph)) => {
                let types = &subgraph.entities.all;
                let shapes = self.shapes(of, Some(types));
                let entities = shapes.entities(group, limits, representations)?;
                RootField::Entities(Box::new(entities))
            }
            _ => RootField::Introspection {
                key: group.key.to_owned(),
            },
        }))
    }

    fn shapes<'d, 's>(
        &'s self,
        of: Selecting<'d, 's>,
        references: Option<&'s Arc<federation::EntityTypes>>,
    ) -> Shapes<'d, 's> {
        Shapes {
            of: of.of,
            soml: &self.soml,
            references: references.map(|types| (&*self.schema, types)),
            guard: of.guard("", None),
            left_out: of.left_out,
        }
    }

    /// Reads a search; `None` where nothing of it can be read.
    fn search<'d>(
        &self,
        of: Selecting<'d, '_>,
        group: FieldGroup<'d, '_>,
        root: &Root,
        limits: &SearchLimits,
    ) -> Result<Option<RootSearch>, GraphqlError> {
        let object = &self.indexes.indexes[root.index].fields;
        let location = Location::of(group.first().name.location(), &of.of.document().sources);
        let shown = of.guard("", location).shown(object)?;
        if shown.is_nothing() {
            of.leave_out(group, "Query");
            return Ok(None);
        }
        if of.sight.is_some() {
            // What the sender asks for is held to the limits, not what is added.
            let everything = Selecting { sight: None, ..of };
            self.search_within(everything, group, root, limits)?;
        }
        let search = self.search_within(of, group, root, limits)?;
        let Some(condition) = shown.condition() else {
            return Ok(search);
        };
        Ok(search.map(|mut search| {
            let query = search
                .search
                .query
                .take()
                .unwrap_or(Query::MatchAll { boost: None });
            search.search.query = Some(filtered(query, condition.query(FACTS)));
            search.hides_some = true;
            search
        }))
    }

    fn search_within<'d>(
        &self,
        of: Selecting<'d, '_>,
        group: FieldGroup<'d, '_>,
        root: &Root,
        limits: &SearchLimits,
    ) -> Result<Option<RootSearch>, GraphqlError> {
        let field = group.first();
        let object = &self.indexes.indexes[root.index].fields;
        let place = Place {
            location: Location::of(field.name.location(), &of.of.document().sources),
        };
        let given = field.arguments.iter().filter_map(|argument| {
            let value = Input::new(&argument.value, of.of.prepared)?;
            (value != Input::Null).then(|| (argument.name.to_string(), value))
        });
        let given = Input::Object(given.collect());
        let counted = ClauseLimits::new(limits);
        let query = |key| {
            let clauses = Clauses::new(object, place, of.guard(key, place.location), &counted)?;
            given
                .get(key)
                .map(|clause| clauses.query(clause))
                .transpose()
        };
        let guard = of.guard("sort", place.location);
        let keys = sort::keys(object, given.get("sort"), place, guard)?;
        let after = given.get("search_after");
        let after = after
            .map(|after| sort::after(&keys, after, place))
            .transpose()?;
        let references = self
            .subgraph
            .as_ref()
            .map(|subgraph| &subgraph.entities.by_index[root.index]);
        let shapes = self.shapes(of, references);
        let Some(shape) = shapes.result(object, &root.object, group)? else {
            return Ok(None);
        };
        let guard = of.guard("aggregations", place.location);
        let aggregating = Aggregating {
            soml: &self.soml,
            object,
            place,
            guard,
            hides_some: guard.shown(object)?.condition().is_some(),
        };
        let (aggregations, key_forms) = aggregating
            .all(given.get("aggregations"))?
            .into_iter()
            .unzip();
        let search = Search {
            query: query("query")?,
            post_filter: query("post_filter")?,
            from: natural(&given, "from", place)?.unwrap_or(0),
            size: natural(&given, "size", place)?.unwrap_or(10),
            search_after: after,
            min_score: place.factor(&given, "min_score")?,
            track_scores: shape.shows_scores(),
            total_hits: match flag(&given, "track_total_hits") {
                Some(false) => TotalHits::Off,
                _ => TotalHits::Exact,
            },
            aggregations,
            source: shape.source(),
            sort: keys.into_iter().map(|key| key.sort).collect::<Vec<Sort>>(),
        };
        // Both say where to begin, and OpenSearch refuses the two together.
        if search.search_after.is_some() && search.from > 0 {
            let message = "`from` and `search_after` exclude each other";
            return Err(place.error(code::SEARCH_AFTER_INVALID, message));
        }
        if of.sight.is_none() {
            search
                .check(limits)
                .map_err(|error| error.at(place.location))?;
        }
        Ok(Some(RootSearch {
            key: group.key.to_owned(),
            index: root.index,
            search,
            shape,
            location: place.location,
            key_forms,
            hides_some: false,
        }))
    }
}

/// An operation whose root fields are read, and what its sender may read of them.
#[derive(Clone, Copy)]
struct Selecting<'d, 's> {
    of: Operation<'d>,
    sight: Option<&'s dyn Sight>,
    left_out: &'s RefCell<Vec<GraphqlError>>,
}

impl<'d, 's> Selecting<'d, 's> {
    fn guard(self, argument: &'s str, location: Option<Location>) -> Guard<'s> {
        Guard {
            sight: self.sight,
            argument,
            location,
        }
    }

    /// Warns of a root field that is left out.
    fn leave_out(self, group: FieldGroup<'d, '_>, ty: &str) {
        let name = &group.first().name;
        let roles = self.sight.map(Sight::roles).unwrap_or_default();
        let location = Location::of(name.location(), &self.of.document().sources);
        let path = vec![graphql_service::PathSegment::Key(group.key.to_owned())];
        let warning = denial::left_out(name, ty, &roles);
        self.left_out
            .borrow_mut()
            .push(warning.at(location).on(path));
    }
}

fn natural(given: &Input, key: &str, place: Place) -> Result<Option<u64>, GraphqlError> {
    place.parsed(given, key)
}

/// Reads the aggregations of a search.
#[derive(Clone, Copy)]
struct Aggregating<'a> {
    soml: &'a schema::Schema,
    object: &'a ObjectFields,
    place: Place,
    guard: Guard<'a>,
    /// Some of the objects are not shown.
    hides_some: bool,
}

impl Aggregating<'_> {
    fn all(self, given: Option<&Input>) -> Result<Vec<(Aggregation, KeyForm)>, GraphqlError> {
        let mut aggregations: Vec<(Aggregation, KeyForm)> = Vec::new();
        for input in given.map(Input::items).unwrap_or_default() {
            let (aggregation, form) = self.one(input)?;
            if aggregations
                .iter()
                .any(|(known, _)| known.name == aggregation.name)
            {
                let message = format!("there are two aggregations called `{}`", aggregation.name);
                return Err(self.place.error(code::CLAUSE_INVALID, message));
            }
            aggregations.push((aggregation, form));
        }
        Ok(aggregations)
    }

    fn one(self, input: &Input) -> Result<(Aggregation, KeyForm), GraphqlError> {
        let Aggregating {
            soml,
            object,
            place,
            guard,
            ..
        } = self;
        let invalid = |message: String| place.error(code::CLAUSE_INVALID, message);
        let name = input
            .get("name")
            .and_then(Input::text)
            .unwrap_or_default()
            .to_owned();
        // What else would be syntax in the engine's own names of aggregations.
        if name.is_empty() || name.contains(['[', ']', '>', '.']) {
            return Err(invalid(format!(
                "`{name}` cannot be the name of an aggregation"
            )));
        }
        let terms = input
            .get("terms")
            .ok_or_else(|| invalid(format!("aggregation `{name}` has no content")))?;
        let way = terms.get("field").and_then(Input::text).unwrap_or_default();
        let found = follow(object, way)
            .ok_or_else(|| invalid(format!("`{way}` is not searchable here")))?;
        const ORDERS: &[(&str, BucketOrder)] = &[
            ("COUNT_DESC", BucketOrder::CountDescending),
            ("COUNT_ASC", BucketOrder::CountAscending),
            ("KEY_ASC", BucketOrder::KeyAscending),
            ("KEY_DESC", BucketOrder::KeyDescending),
        ];
        let size = natural(terms, "size", place)?.unwrap_or(10);
        // OpenSearch refuses it (<https://docs.opensearch.org/latest/aggregations/bucket/terms/>).
        if size == 0 {
            let message = format!("`size` of aggregation `{name}` is 0, but must be greater");
            return Err(place.error(code::OPTION_INVALID, message));
        }
        let missing = terms
            .get("missing")
            .map(|value| missing(found.target, place, way, value));
        let conditions = guard.conditions(&found)?;
        let min_doc_count = natural(terms, "min_doc_count", place)?.unwrap_or(1);
        let is_limited = conditions.iter().any(Option::is_some);
        // Values of hidden objects would be shown, with a count of 0; and what is hidden of an object is not missing.
        if (min_doc_count == 0 && (is_limited || self.hides_some))
            || (missing.is_some() && is_limited)
        {
            return Err(guard.partly_denied(way));
        }
        let buckets = Aggregation {
            name: name.clone(),
            kind: AggregationKind::Terms(TermsAggregation {
                field: found.target.whole_path(),
                size,
                min_doc_count,
                order: choice(terms, "order", ORDERS).unwrap_or_default(),
                missing: missing.transpose()?.flatten(),
                // A facet counts objects, however many of those that are embedded in one have the value.
                counts: match found.nested {
                    Some(_) => Counted::Roots,
                    None => Counted::Documents,
                },
            }),
            aggregations: Vec::new(),
        };
        Ok((
            around(buckets, &found, &conditions),
            key_form(soml, found.target),
        ))
    }
}

/// Puts an aggregation of a target inside of those that lead to it: of nested objects, and of the objects of which the target
/// can be read.
fn around(
    aggregation: Aggregation,
    found: &Found<'_>,
    conditions: &[Option<Condition>],
) -> Aggregation {
    let inside = |kind: AggregationKind, inner: Aggregation| Aggregation {
        name: inner.name.clone(),
        kind,
        aggregations: vec![inner],
    };
    let mut aggregation = aggregation;
    let mut is_level_open = true;
    for (step, condition) in found.way.iter().zip(conditions).rev() {
        if let Some(condition) = condition {
            let query = condition.query(&step.object.path_of(FACTS));
            aggregation = inside(AggregationKind::Filter(query), aggregation);
            is_level_open = true;
        }
        if step.is_nested && is_level_open {
            let path = step.object.path.clone();
            aggregation = inside(AggregationKind::Nested { path }, aggregation);
            is_level_open = false;
        }
    }
    aggregation
}

/// Reports keys of an object, and ways through embedded ones, that would have the same name.
fn check_names(soml: &schema::Schema, index: &IndexDefinition, findings: &mut Vec<Finding>) {
    let mut report = |name: &str| {
        let message = format!(
            "two properties of the index of `{}` would be called `{name}`",
            index.name
        );
        findings.push(taken(soml, index, message));
    };
    let mut all = HashSet::new();
    for way in ways(&index.fields) {
        if !all.insert(way.clone()) {
            report(&way);
        }
    }
    // A property of the name of an embedded object is found there; one beside it has to differ.
    let mut objects = vec![&index.fields];
    while let Some(object) = objects.pop() {
        let mut keys = HashSet::new();
        for (key, member) in members(object) {
            if matches!(member, Member::Object(_)) && !keys.insert(key.clone()) {
                report(&key);
            }
            if matches!(member, Member::Target(_)) {
                keys.insert(key);
            }
        }
        for field in object.fields.values() {
            if let Content::Object(embedded) = &field.content {
                objects.push(&embedded.fields);
            }
        }
    }
}

fn taken(soml: &schema::Schema, index: &IndexDefinition, message: String) -> Finding {
    let span = soml[index.object].span;
    let finding = FindingKind::NameTaken.at(Some(span), message);
    finding.with_help("rename one of them and give its old IRI with `rdfProp` or `type`")
}

/// Returns a name with its first letter lowered, as root fields are named (docs/search.md,
/// "Searches").
fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_lowercase)
        .collect();
    first + letters.as_str()
}
