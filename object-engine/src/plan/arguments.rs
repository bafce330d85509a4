//! Reads and translates the arguments of a field.

use graph_store::query::{
    Constant, Dataset, Domain, NodeCondition, Operator, OrderKey, Page, TermCondition, ValueTest,
};
use graph_store::value::LiteralKey;
use graph_store::{Inference, StoreFeatures};
use graphql_gen::typesystem::TypeRef;
use graphql_service::error::{GraphqlError, Location};
use oxrdf::NamedNode;
use soml_core::access::Part;
use soml_core::lang::LangSpec;

use super::filter::FilterBuilder;
use super::input::{Arguments, Input, lang_spec};
use super::order::{OrderBuilder, descending, literal_keys};
use super::{ListOutput, ScalarKind, ValueOrder};
use crate::access::View;
use crate::code;
use crate::limits::EngineLimits;
use crate::rdf::classes;

type Result<T> = std::result::Result<T, GraphqlError>;

/// The arguments of one field.
pub(super) struct FieldArguments<'a> {
    pub(super) view: View<'a>,
    pub(super) limits: &'a EngineLimits,
    pub(super) features: &'a StoreFeatures,
    pub(super) values: Arguments<'a>,
}

impl FieldArguments<'_> {
    /// Translates `ID` of a list of IRIs.
    fn ids(&self) -> Result<Option<(Vec<NamedNode>, Option<Location>)>> {
        let Some((ids, location)) = self.values.get("ID") else {
            return Ok(None);
        };
        Ok(Some((self.id_list(&ids, location)?, location)))
    }

    /// Translates `ID` and `where`.
    pub(super) fn object_conditions(&self, target: TypeRef) -> Result<Vec<NodeCondition>> {
        let mut conditions = Vec::new();
        if let Some((ids, location)) = self.ids()? {
            // The answer tells which ids exist, so it needs the right to read ids (docs/access.md,
            // "What a caller sees").
            let readable = self.view.readable(target, Part::Id);
            if readable.is_nothing() {
                return Err(self.view.denied("ID", "id").at(location));
            }
            conditions.extend(readable.condition());
            conditions.push(NodeCondition::one_of(ids));
        }
        if let Some((filter, location)) = self.values.get("where") {
            let mut builder = FilterBuilder::new(self.view, self.limits, location);
            conditions.push(builder.objects(target, &filter)?);
        }
        Ok(conditions)
    }

    /// Returns whether `where` filters objects, even if only by existence.
    pub(super) fn filters(&self) -> bool {
        self.values
            .get("where")
            .is_some_and(|(filter, _)| says_something(&filter))
    }

    /// Reads a list of ids.
    fn id_list(&self, input: &Input, location: Option<Location>) -> Result<Vec<NamedNode>> {
        let ids = input.as_list();
        if ids.len() > self.limits.list_length {
            return Err(GraphqlError::new(
                code::LIMIT_LIST_LENGTH,
                "the list of ids has too many elements",
            )
            .at(location)
            .with("limit", self.limits.list_length));
        }
        // A string that cannot be an IRI is the id of no object, and unknown ids are ignored
        // (docs/queries.md, "Root fields").
        Ok(ids
            .iter()
            .filter_map(|id| NamedNode::new(id.as_text()?).ok())
            .collect())
    }

    /// Translates `orderBy` of objects.
    pub(super) fn object_order(
        &self,
        target: TypeRef,
        lang: Option<&LangSpec>,
    ) -> Result<Vec<OrderKey>> {
        match self.values.get("orderBy") {
            None => Ok(Vec::new()),
            Some((order, location)) => {
                let mut builder = OrderBuilder::new(self.view, self.limits, lang, location);
                builder.objects(target, &order)
            }
        }
    }

    /// Reads the dataset arguments: `from`, `includeInferred`, `expandOwlSameAs` and `repository`
    /// (docs/queries.md, "Root fields").
    pub(super) fn dataset(&self) -> Result<Dataset> {
        let config = &self.view.api.soml().config;
        self.check_repository(config.repository.as_deref())?;
        Ok(Dataset {
            graphs: self.graphs()?,
            include_inferred: self.inference(
                "includeInferred",
                config.include_inferred,
                self.features.inference,
            )?,
            expand_same_as: self.inference(
                "expandOwlSameAs",
                config.expand_owl_same_as,
                self.features.same_as,
            )?,
        })
    }

    /// Refuses any repository other than that of the store.
    fn check_repository(&self, configured: Option<&str>) -> Result<()> {
        let (given, location) = match self.values.get("repository") {
            None => (None, None),
            Some((given, location)) => (given.as_text().map(str::to_owned), location),
        };
        let wanted = given.as_deref().or(configured).unwrap_or_default();
        if wanted.is_empty() || self.features.repository.as_deref() == Some(wanted) {
            return Ok(());
        }
        let message = format!("the store has one repository; it cannot read `{wanted}`");
        Err(GraphqlError::new(code::STORE_UNSUPPORTED, message).at(location))
    }

    /// Reads whether inferred statements are wanted.
    fn inference(&self, name: &str, configured: bool, offered: Inference) -> Result<bool> {
        let given = self.values.get(name);
        let (wanted, location) = match given {
            Some((Input::Boolean(wanted), location)) => (wanted, Some(location)),
            _ => (configured, None),
        };
        match offered {
            // Both values mean the explicit statements, so they are one dataset and share what is
            // cached.
            Inference::None => Ok(true),
            Inference::Switchable => Ok(wanted),
            Inference::Always if wanted => Ok(true),
            // Only here would the answer be wrong: it would have statements that were excluded.
            Inference::Always => {
                let asked_by = match location {
                    Some(_) => format!("`{name}`"),
                    None => format!("`config.{name}` of the schema"),
                };
                let message = format!("the store cannot leave out what {asked_by} excludes");
                let error = GraphqlError::new(code::STORE_UNSUPPORTED, message);
                Err(error.at(location.flatten()))
            }
        }
    }

    /// Reads `from`: as with SPARQL's `FROM`, exactly these graphs, merged
    /// (<https://www.w3.org/TR/sparql11-query/#specifyingDataset>). A name that is no IRI is
    /// refused: to ignore it would be to read less than is asked for.
    fn graphs(&self) -> Result<Option<Vec<NamedNode>>> {
        let Some((from, location)) = self.values.get("from") else {
            return Ok(None);
        };
        let names = from.as_list();
        if names.len() > self.limits.graphs {
            return Err(GraphqlError::new(
                code::LIMIT_GRAPHS,
                "the argument `from` names too many graphs",
            )
            .at(location)
            .with("limit", self.limits.graphs));
        }
        let graphs = names.iter().map(|graph| {
            let text = graph.as_text().unwrap_or_default();
            NamedNode::new(text).map_err(|_| {
                GraphqlError::new(
                    code::ARGUMENT_INVALID,
                    format!("`{text}` is not the IRI of a graph"),
                )
                .at(location)
            })
        });
        graphs.collect::<Result<_>>().map(Some)
    }

    /// Reads `lang`.
    pub(super) fn lang(&self) -> Result<Option<LangSpec>> {
        let Some((spec, location)) = self.values.get("lang") else {
            return Ok(None);
        };
        let text = spec.as_text().unwrap_or_default();
        lang_spec(text, self.limits)
            // A specification without items is as if absent (docs/queries.md, "Language").
            .map(|spec| Some(spec).filter(|spec| !spec.is_empty()))
            .map_err(|error| error.at(location))
    }

    /// Reads `limit` and `offset`.
    pub(super) fn page(&self) -> Result<Page> {
        let number = |name: &str, least: u64| match self.values.get(name) {
            None => Ok(None),
            Some((input, location)) => {
                let value = input.as_text().and_then(|text| text.parse::<u64>().ok());
                value
                    .filter(|&n| n >= least)
                    .map(|n| Some((n, location)))
                    .ok_or_else(|| {
                        GraphqlError::new(
                            code::SCALAR_INVALID,
                            format!("`{name}` must be a whole number of at least {least}"),
                        )
                        .at(location)
                    })
            }
        };
        let limit = number("limit", 1)?;
        // Refused, never cut silently: a client could not tell a cut page from the last one.
        if let (Some((n, location)), Some(greatest)) = (limit, self.limits.page)
            && n > greatest
        {
            return Err(GraphqlError::new(code::LIMIT_PAGE, "the page is too large")
                .at(location)
                .with("limit", greatest));
        }
        Ok(Page {
            limit: limit.map(|(n, _)| n),
            offset: number("offset", 0)?.map(|(n, _)| n),
        })
    }

    /// Translates `where` on scalars.
    pub(super) fn scalar_condition(
        &self,
        kind: ScalarKind,
        cast: bool,
    ) -> Result<Option<TermCondition>> {
        let Some((filter, location)) = self.values.get("where") else {
            return Ok(None);
        };
        let mut builder = FilterBuilder::new(self.view, self.limits, location);
        Ok(Some(match kind {
            ScalarKind::Scalar(scalar) => builder.scalars(scalar, cast, &filter)?,
            ScalarKind::Enum(id) => builder.enums(id, cast, &filter)?,
        }))
    }

    /// Translates `where` and `ID` on the classes of an object. The class of a concrete type stands
    /// for those of its subtypes (docs/queries.md, "Filters").
    pub(super) fn class_conditions(&self) -> Result<Vec<TermCondition>> {
        let mut conditions = Vec::new();
        if let Some((ids, _)) = self.ids()? {
            let meant = ids.iter().flat_map(|id| classes(self.view.api.soml(), id));
            let operator = Operator::In(meant.map(Constant::Iri).collect());
            conditions.push(TermCondition::Value(ValueTest {
                domain: Domain::Iri,
                operator,
            }));
        }
        if let Some((filter, location)) = self.values.get("where") {
            let mut builder = FilterBuilder::new(self.view, self.limits, location);
            conditions.push(builder.classes_where(&filter)?);
        }
        Ok(conditions)
    }

    /// Translates `where` and `value` on literals.
    pub(super) fn literal_condition(&self) -> Result<Vec<TermCondition>> {
        let mut conditions = Vec::new();
        if let Some((filter, location)) = self.values.get("where") {
            let mut builder = FilterBuilder::new(self.view, self.limits, location);
            conditions.push(builder.literals(&filter)?);
        }
        if let Some((filter, location)) = self.values.get("value") {
            let mut builder = FilterBuilder::new(self.view, self.limits, location);
            conditions.push(builder.literal_value(&filter)?);
        }
        Ok(conditions)
    }

    /// Reads how a list of scalars is built.
    pub(super) fn scalar_list(&self, non_null_elements: bool) -> Result<ListOutput> {
        let order = match self.values.get("orderBy") {
            None => Vec::new(),
            Some((direction, location)) => {
                let is_descending = descending(&direction).ok_or_else(|| {
                    GraphqlError::new(code::ARGUMENT_INVALID, "`orderBy` must be ASC or DESC")
                        .at(location)
                })?;
                vec![ValueOrder {
                    part: LiteralKey::Value,
                    is_descending,
                }]
            }
        };
        Ok(ListOutput {
            non_null_elements,
            order,
            page: self.page()?,
        })
    }

    /// Reads how a list of literals is built.
    pub(super) fn literal_list(&self, non_null_elements: bool) -> Result<ListOutput> {
        let mut order = Vec::new();
        if let Some((input, location)) = self.values.get("orderBy") {
            let invalid = || {
                GraphqlError::new(code::ARGUMENT_INVALID, "`orderBy` has an unknown key")
                    .at(location)
            };
            for (part, direction) in literal_keys(&input).ok_or_else(invalid)? {
                order.push(ValueOrder {
                    part,
                    is_descending: descending(&direction).ok_or_else(invalid)?,
                });
            }
        }
        Ok(ListOutput {
            non_null_elements,
            order,
            page: self.page()?,
        })
    }
}

/// Returns whether a filter requires anything of an object, be it only that it is one
/// (docs/queries.md, "Filters": `AND: []` and `where: {}` match everything).
fn says_something(filter: &Input) -> bool {
    match filter {
        Input::Object(fields) => fields.iter().any(|(key, value)| match key.as_str() {
            "AND" | "ALL" | "ALL_EXISTS" => says_something(value),
            _ => true,
        }),
        Input::List(items) => items.iter().any(says_something),
        _ => false,
    }
}
