//! `orderBy` inputs to sort keys.

use std::sync::Arc;

use soml_core::datatype::Scalar;
use soml_core::lang::{LangConfig, LangHead, LangItem, LangSpec};
use soml_core::schema::{LiteralRange, Property, Range, Schema};

use super::condition::Step;
use super::filter::{name_groups, step};
use super::input::Input;
use super::selection::{OrderKey, SortBy};
use super::types::TypeIndex;
use crate::error::{ErrorCode, GraphqlError, Location};
use crate::typesystem::{Api, Field, TypeRef};

type Result<T> = std::result::Result<T, GraphqlError>;

/// Translates the `orderBy` input of one argument.
pub(crate) struct OrderBuilder<'a> {
    api: &'a Api,
    /// The language that the arguments around ask for.
    lang: Option<&'a LangSpec>,
    location: Option<Location>,
    keys: Vec<OrderKey>,
}

impl<'a> OrderBuilder<'a> {
    /// Returns the keys in the order written.
    pub(crate) fn objects(
        api: &'a Api,
        ty: TypeRef,
        input: &Input,
        lang: Option<&'a LangSpec>,
        location: Option<Location>,
    ) -> Result<Vec<OrderKey>> {
        let mut builder = OrderBuilder {
            api,
            lang,
            location,
            keys: Vec::new(),
        };
        builder.object(ty, &[], input)?;
        Ok(builder.keys)
    }

    fn object(&mut self, ty: TypeRef, path: &[Step], input: &Input) -> Result<()> {
        let Input::Object(fields) = input else {
            return Err(self.invalid());
        };
        for (key, value) in fields {
            // A null direction is as if the key were absent.
            if *value == Input::Null {
                continue;
            }
            match (key.as_str(), self.api.field(ty, key)) {
                ("_typename", _) => {
                    let index = Arc::new(type_index(self.api, ty));
                    self.push(path, SortBy::TypeName(index), value)?;
                }
                (_, Some(Field::Id)) => self.push(path, SortBy::Iri, value)?,
                (_, Some(Field::Name)) => self.name(ty, path, value)?,
                (_, Some(Field::Property(property))) => {
                    let schema: &Schema = self.api.soml();
                    self.property(&schema[property], path, value)?;
                }
                _ => return Err(self.invalid()),
            }
        }
        Ok(())
    }

    fn property(&mut self, property: &Property, path: &[Step], value: &Input) -> Result<()> {
        let path = &[path, &[step(&property.path)]].concat();
        match property.range {
            Range::Scalar(Scalar::String) => {
                // As the field shows it: of several variants the one that the client sees.
                let spec = self.lang.or(property.lang.fetch.as_ref()).or(self
                    .api
                    .soml()
                    .config
                    .lang
                    .fetch
                    .as_ref());
                let spec = spec.cloned().unwrap_or_else(any_language);
                self.push(path, SortBy::Text(Some(spec)), value)
            }
            Range::Scalar(scalar) if property.type_cast => {
                self.push(path, SortBy::Cast(scalar), value)
            }
            Range::Scalar(scalar) => self.push(path, SortBy::Scalar(scalar), value),
            Range::Enum(_) => self.push(path, SortBy::Text(None), value),
            Range::Literal(LiteralRange::LangString) => self.lang_string(path, value),
            Range::Literal(_) => self.literal(path, value),
            Range::Object(object) => self.object(self.api.range_type(object), path, value),
        }
    }

    fn name(&mut self, ty: TypeRef, path: &[Step], value: &Input) -> Result<()> {
        let schema: &Schema = self.api.soml();
        let spec = name_spec(&schema.config.lang, self.lang);
        match name_groups(self.api, ty).as_slice() {
            [] => Err(self.invalid()),
            [(step, _)] => {
                let path = [path, std::slice::from_ref(step)].concat();
                self.push(&path, SortBy::Text(Some(spec)), value)
            }
            _ => Err(GraphqlError::new(
                ErrorCode::ArgumentInvalid,
                "cannot order by `name` here, since the possible types take it from different properties",
            )
            .at(self.location)),
        }
    }

    fn lang_string(&mut self, path: &[Step], value: &Input) -> Result<()> {
        let Input::Object(fields) = value else {
            return Err(self.invalid());
        };
        let field = |name| {
            fields
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value)
        };
        let spec = match field("lang").and_then(Input::as_text) {
            None => None,
            Some(text) => Some(self.spec(text)?),
        };
        let direction = match field("dir") {
            None | Some(Input::Null) => &Input::Enum("ASC".to_owned()),
            Some(direction) => direction,
        };
        self.push(path, SortBy::Text(spec), direction)
    }

    fn literal(&mut self, path: &[Step], value: &Input) -> Result<()> {
        for (by, direction) in literal_keys(value).ok_or_else(|| self.invalid())? {
            self.push(path, by, &direction)?;
        }
        Ok(())
    }

    fn spec(&self, text: &str) -> Result<LangSpec> {
        LangSpec::parse(text).map_err(|error| {
            GraphqlError::new(
                ErrorCode::LangSpecInvalid,
                format!("`{text}` is not a language specification: {error}"),
            )
            .at(self.location)
        })
    }

    fn push(&mut self, path: &[Step], by: SortBy, direction: &Input) -> Result<()> {
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
            ErrorCode::ArgumentInvalid,
            "the `orderBy` argument has an unknown key",
        )
        .at(self.location)
    }
}

/// Returns the specification of a single string for which none is configured: untagged first.
pub(crate) fn any_language() -> LangSpec {
    LangSpec {
        head: LangHead::Preference,
        items: vec![LangItem::Any],
    }
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
pub(crate) fn literal_keys(input: &Input) -> Option<Vec<(SortBy, Input)>> {
    let Input::Object(fields) = input else {
        return None;
    };
    let mut keys = Vec::new();
    for (key, direction) in fields {
        let by = match key.as_str() {
            "value" => SortBy::Text(None),
            "lang" => SortBy::Lang,
            "type" => SortBy::Datatype,
            _ => return None,
        };
        if *direction != Input::Null {
            keys.push((by, direction.clone()));
        }
    }
    if !fields.iter().any(|(key, _)| key == "value") {
        keys.push((SortBy::Text(None), Input::Enum("ASC".to_owned())));
    }
    Some(keys)
}

/// Returns the index that tells the concrete types of objects of type `ty`.
pub(crate) fn type_index(api: &Api, ty: TypeRef) -> TypeIndex {
    let schema: &Schema = api.soml();
    TypeIndex::new(
        schema,
        api.possible_types(ty)
            .iter()
            .map(|&o| (o, api.type_name(o).as_str())),
    )
}
