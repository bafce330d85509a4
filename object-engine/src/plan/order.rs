//! `orderBy` inputs to sort keys.

use std::sync::Arc;

use graph_store::query::{OrderKey, OrderStep, SortBy, Step};
use graph_store::value::{LiteralKey, LiteralTypes};
use graphql_gen::typesystem::{Api, Field, TypeRef};
use graphql_service::error::{GraphqlError, Location};
use soml_core::datatype::Scalar;
use soml_core::lang::{LangConfig, LangHead, LangSpec};
use soml_core::schema::{LiteralRange, Property, Range, Schema};

use super::input::{Input, lang_spec};
use super::rdf::{name_groups, type_index, type_test};
use crate::code;
use crate::limits::EngineLimits;

type Result<T> = std::result::Result<T, GraphqlError>;

/// Translates the `orderBy` input of one argument.
pub(crate) struct OrderBuilder<'a> {
    api: &'a Api,
    limits: &'a EngineLimits,
    /// The language that the arguments around ask for.
    lang: Option<&'a LangSpec>,
    location: Option<Location>,
    keys: Vec<OrderKey>,
    /// Keys read so far, those included that lead to others.
    read: usize,
}

impl<'a> OrderBuilder<'a> {
    pub(crate) fn new(
        api: &'a Api,
        limits: &'a EngineLimits,
        lang: Option<&'a LangSpec>,
        location: Option<Location>,
    ) -> Self {
        OrderBuilder {
            api,
            limits,
            lang,
            location,
            keys: Vec::new(),
            read: 0,
        }
    }

    /// Returns the keys in the order written.
    pub(crate) fn objects(&mut self, ty: TypeRef, input: &Input) -> Result<Vec<OrderKey>> {
        self.object(ty, &[], input)?;
        Ok(std::mem::take(&mut self.keys))
    }

    fn object(&mut self, ty: TypeRef, path: &[OrderStep], input: &Input) -> Result<()> {
        let Input::Object(fields) = input else {
            return Err(self.invalid());
        };
        for (key, value) in fields {
            self.read += 1;
            if self.read > self.limits.order_keys {
                let message = "the argument `orderBy` has too many keys";
                return Err(GraphqlError::new(code::LIMIT_ORDER, message)
                    .at(self.location)
                    .with("limit", self.limits.order_keys));
            }
            // A null direction is as if the key were absent.
            if *value == Input::Null {
                continue;
            }
            match (key.as_str(), self.api.field(ty, key)) {
                ("_typename", _) => self.push(path, self.type_name(ty), value)?,
                (_, Some(Field::Id)) => self.push(path, SortBy::Iri, value)?,
                (_, Some(Field::Name)) => self.name(ty, path, value)?,
                (_, Some(Field::Property(property))) => {
                    self.property(&self.schema()[property], path, value)?;
                }
                _ => return Err(self.invalid()),
            }
        }
        Ok(())
    }

    fn schema(&self) -> &'a Schema {
        self.api.soml()
    }

    fn type_name(&self, ty: TypeRef) -> SortBy {
        match ty {
            TypeRef::Concrete(object) => SortBy::Constant(self.api.type_name(object).to_string()),
            _ => SortBy::TypeName(Arc::new(type_index(self.api, ty))),
        }
    }

    fn property(&mut self, property: &Property, path: &[OrderStep], value: &Input) -> Result<()> {
        let mut last = OrderStep {
            step: Step::from(&property.path),
            tests: Vec::new(),
        };
        if let Range::Object(object) = property.range {
            let target = self.api.range_type(object);
            if property.range_check {
                last.tests.push(type_test(self.api, target));
            }
            if !matches!(target, TypeRef::Concrete(_)) {
                last.tests.push(type_index(self.api, target).test());
            }
            let path = [path, &[last]].concat();
            return self.object(target, &path, value);
        }
        let path = &[path, &[last]].concat();
        let cast = property.type_cast;
        match property.range {
            Range::Scalar(scalar) => {
                let lang = self
                    .shown_language(property)
                    .filter(|_| scalar == Scalar::String);
                self.push(path, SortBy::Scalar { scalar, cast, lang }, value)
            }
            Range::Enum(id) => {
                let names = self.schema()[id]
                    .values
                    .iter()
                    .map(|v| v.name.clone())
                    .collect();
                self.push(path, SortBy::Enum { names, cast }, value)
            }
            Range::Literal(LiteralRange::LangString) => self.lang_string(property, path, value),
            Range::Literal(range) => {
                let types = LiteralTypes::new(self.schema(), range);
                let lang = self.shown_language(property);
                for (part, direction) in literal_keys(value).ok_or_else(|| self.invalid())? {
                    let by = SortBy::Literal {
                        part,
                        lang: lang.clone(),
                        types: types.clone(),
                    };
                    self.push(path, by, &direction)?;
                }
                Ok(())
            }
            Range::Object(_) => unreachable!("objects are handled above"),
        }
    }

    /// Returns the specification by which a single-valued field chooses what it shows.
    fn shown_language(&self, property: &Property) -> Option<LangSpec> {
        let config = &self.schema().config.lang;
        let spec = self
            .lang
            .or(property.lang.fetch.as_ref())
            .or(config.fetch.as_ref());
        spec.cloned().map(for_single)
    }

    fn name(&mut self, ty: TypeRef, path: &[OrderStep], value: &Input) -> Result<()> {
        let lang = for_single(name_spec(&self.schema().config.lang, self.lang));
        let groups = name_groups(self.api, ty);
        let [(step, objects)] = groups.as_slice() else {
            let message = "cannot order by `name` here, since the possible types take it from \
                           different properties";
            return Err(GraphqlError::new(code::ARGUMENT_INVALID, message).at(self.location));
        };
        let named = objects
            .first()
            .and_then(|&object| self.schema()[object].name_property);
        let by = SortBy::Scalar {
            scalar: Scalar::String,
            cast: named.is_some_and(|property| self.schema()[property].type_cast),
            lang: Some(lang),
        };
        let last = OrderStep {
            step: step.clone(),
            tests: Vec::new(),
        };
        self.push(&[path, &[last]].concat(), by, value)
    }

    fn lang_string(
        &mut self,
        property: &Property,
        path: &[OrderStep],
        value: &Input,
    ) -> Result<()> {
        let Input::Object(fields) = value else {
            return Err(self.invalid());
        };
        let field = |name| {
            fields
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value)
        };
        let lang = match field("lang").and_then(Input::as_text) {
            None => self.shown_language(property),
            Some(text) => Some(for_single(self.spec(text)?)),
        };
        let direction = match field("dir") {
            None | Some(Input::Null) => &Input::Enum("ASC".to_owned()),
            Some(direction) => direction,
        };
        let types = LiteralTypes::new(self.schema(), LiteralRange::LangString);
        let by = SortBy::Literal {
            part: LiteralKey::Value,
            lang,
            types,
        };
        self.push(path, by, direction)
    }

    fn spec(&self, text: &str) -> Result<LangSpec> {
        lang_spec(text, self.limits).map_err(|error| error.at(self.location))
    }

    fn push(&mut self, path: &[OrderStep], by: SortBy, direction: &Input) -> Result<()> {
        let descending = descending(direction).ok_or_else(|| self.invalid())?;
        self.keys.push(OrderKey {
            path: path.to_vec(),
            by,
            descending,
        });
        Ok(())
    }

    fn invalid(&self) -> GraphqlError {
        GraphqlError::new(
            code::ARGUMENT_INVALID,
            "the `orderBy` argument has an unknown key",
        )
        .at(self.location)
    }
}

/// Returns the specification of a field that shows one value: of listed languages the first that
/// has values counts, as in a list of preferences.
pub(crate) fn for_single(mut spec: LangSpec) -> LangSpec {
    if spec.head == LangHead::AllOf {
        spec.head = LangHead::Preference;
    }
    spec
}

/// Returns the specification of the field `name`, when arguments ask for languages of their own.
pub(crate) fn name_spec(config: &LangConfig, given: Option<&LangSpec>) -> LangSpec {
    match given {
        None => config.default_name_fetch.clone(),
        Some(given) => {
            let mut spec = given.clone();
            if config.append_default_name_fetch && spec.head == LangHead::Preference {
                spec.items
                    .extend(config.default_name_fetch.items.iter().cloned());
            }
            spec
        }
    }
}

/// Returns whether an `_OrderBy` value means greatest first.
pub(crate) fn descending(input: &Input) -> Option<bool> {
    match input.as_text()? {
        "ASC" => Some(false),
        "DESC" => Some(true),
        _ => None,
    }
}

/// Returns the keys of a `Literal_OrderBy` input in the order written, its default `value` last.
pub(crate) fn literal_keys(input: &Input) -> Option<Vec<(LiteralKey, Input)>> {
    let Input::Object(fields) = input else {
        return None;
    };
    let mut keys = Vec::new();
    for (key, direction) in fields {
        let by = match key.as_str() {
            "value" => LiteralKey::Value,
            "lang" => LiteralKey::Lang,
            "type" => LiteralKey::Datatype,
            _ => return None,
        };
        if *direction != Input::Null {
            keys.push((by, direction.clone()));
        }
    }
    if !fields.iter().any(|(key, _)| key == "value") {
        keys.push((LiteralKey::Value, Input::Enum("ASC".to_owned())));
    }
    Some(keys)
}
