//! Translates `orderBy` inputs to sort keys.

use std::sync::Arc;

use graph_store::query::{OrderKey, OrderStep, OrderWay, SortBy, Step, TypeGuard, TypeTest};
use graph_store::value::{LiteralKey, LiteralTypes};
use graphql_gen::typesystem::{Field, TypeRef};
use graphql_service::error::{GraphqlError, Location};
use soml_core::access::Part;
use soml_core::datatype::Scalar;
use soml_core::lang::{LangConfig, LangHead, LangSpec};
use soml_core::schema::{LiteralRange, Property, Range, Schema};

use super::input::{Input, lang_spec};
use crate::access::{Reading, Shown, View, name_readings, property_readings, show_alike};
use crate::code;
use crate::limits::EngineLimits;
use crate::rdf::takes_any;

/// Maximum number of ways that one key may take; each step multiplies them by the number of
/// different
/// ways in which the types there store the property.
const MAX_WAYS: usize = 1_000;

type Result<T> = std::result::Result<T, GraphqlError>;

/// Translates the `orderBy` input of one argument.
pub(crate) struct OrderBuilder<'a> {
    view: View<'a>,
    limits: &'a EngineLimits,
    /// The language specification of the enclosing arguments.
    lang: Option<&'a LangSpec>,
    location: Option<Location>,
    keys: Vec<OrderKey>,
    /// Number of keys read so far, including those that lead to others.
    read: usize,
}

impl<'a> OrderBuilder<'a> {
    pub(crate) fn new(
        view: View<'a>,
        limits: &'a EngineLimits,
        lang: Option<&'a LangSpec>,
        location: Option<Location>,
    ) -> Self {
        OrderBuilder {
            view,
            limits,
            lang,
            location,
            keys: Vec::new(),
            read: 0,
        }
    }

    /// Returns the keys in the order written, which is that of the sort keys (docs/queries.md,
    /// "Root fields"). Input objects are unordered in GraphQL
    /// (<https://spec.graphql.org/September2025/#sec-Input-Object-Values>); the order in the text,
    /// or in the JSON of a variable, is kept for this.
    pub(crate) fn objects(&mut self, ty: TypeRef, input: &Input) -> Result<Vec<OrderKey>> {
        let path = Vec::new();
        self.object(&[Branch { ty, path }], input)?;
        Ok(std::mem::take(&mut self.keys))
    }

    fn object(&mut self, at: &[Branch], input: &Input) -> Result<()> {
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
            // A null direction means that the key is absent.
            if *value == Input::Null {
                continue;
            }
            match (key.as_str(), self.view.api.field(at[0].ty, key)) {
                ("_typename", _) => {
                    self.require_all(at, Part::TypeName, key)?;
                    let ways = at
                        .iter()
                        .map(|branch| branch.way(self.type_name(branch.ty)));
                    self.push(ways.collect(), value)?;
                }
                (_, Some(Field::Id)) => {
                    self.require_all(at, Part::Id, key)?;
                    let ways = at.iter().map(|branch| branch.way(SortBy::Iri));
                    self.push(ways.collect(), value)?;
                }
                (_, Some(Field::Name)) => {
                    let ways = self.names(at)?;
                    self.require(!ways.is_empty(), key)?;
                    self.push(ways, value)?;
                }
                (_, Some(Field::Property(property))) => {
                    self.property(&self.schema()[property], at, key, value)?;
                }
                _ => return Err(self.invalid()),
            }
        }
        Ok(())
    }

    /// Refuses a key that speaks of what cannot be read: the order would reveal it (docs/access.md,
    /// "What a caller sees").
    fn require(&self, holds: bool, key: &str) -> Result<()> {
        if holds {
            Ok(())
        } else {
            Err(self.view.denied("orderBy", key).at(self.location))
        }
    }

    /// Refuses a key that cannot be read of all objects here. Those of the type itself are those that
    /// are selected; behind a property, there are others where some are not shown.
    fn require_all(&self, at: &[Branch], part: Part, key: &str) -> Result<()> {
        let readable = |branch: &Branch| {
            let ty = branch.ty;
            if branch.path.is_empty() {
                self.view.reads_wherever_shown(ty, part)
            } else {
                matches!(self.view.readable(ty, part), Shown::All)
            }
        };
        self.require(at.iter().all(readable), key)
    }

    /// Refuses a key whose values conditions of roles hide from the sender in some objects
    /// (docs/access.md, "Conditions on objects").
    fn require_of_all<T>(
        &self,
        reading: &Reading<T>,
        property: &Property,
        key: &str,
    ) -> Result<()> {
        let leads_to_rows = match property.range {
            Range::Object(object) => {
                let target = self.view.api.range_type(object);
                matches!(self.view.shown(target), Shown::Rows(_))
            }
            _ => false,
        };
        if reading.rows.is_some() || leads_to_rows {
            return Err(self.view.partly_denied("orderBy", key).at(self.location));
        }
        Ok(())
    }

    fn schema(&self) -> &'a Schema {
        self.view.api.soml()
    }

    fn type_name(&self, ty: TypeRef) -> SortBy {
        match ty {
            TypeRef::Concrete(object) => {
                SortBy::Constant(self.view.api.type_name(object).to_string())
            }
            _ => SortBy::TypeName(Arc::clone(&self.view.of_type(ty).index)),
        }
    }

    /// Adds the keys of a property; `declared` is what the type says of it for all its objects.
    fn property(
        &mut self,
        declared: &Property,
        at: &[Branch],
        field: &str,
        value: &Input,
    ) -> Result<()> {
        let steps = self.steps(at, field)?;
        self.require(!steps.is_empty(), field)?;
        match declared.range {
            Range::Object(_) => {
                let further = steps.into_iter().filter_map(|(property, path)| {
                    let Range::Object(object) = property.range else {
                        return None;
                    };
                    let ty = self.view.api.range_type(object);
                    Some(Branch { ty, path })
                });
                let further: Vec<Branch> = further.collect();
                let is_shown = |branch: &Branch| !self.view.shown(branch.ty).is_nothing();
                self.require(further.iter().all(is_shown), field)?;
                self.object(&further, value)
            }
            Range::Literal(LiteralRange::LangString) => self.lang_string(steps, value),
            Range::Literal(_) => {
                for (part, direction) in literal_keys(value).ok_or_else(|| self.invalid())? {
                    let ways = steps.iter().map(|(property, path)| {
                        let lang = self.shown_language(property);
                        way(path.clone(), self.literal(property, part, lang))
                    });
                    self.push(ways.collect(), &direction)?;
                }
                Ok(())
            }
            Range::Scalar(_) | Range::Enum(_) => {
                let ways = steps
                    .into_iter()
                    .map(|(property, path)| way(path, self.scalar(property)));
                self.push(ways.collect(), value)
            }
        }
    }

    /// Returns the paths to the values of a property, with the property that each reads.
    fn steps(&self, at: &[Branch], field: &str) -> Result<Vec<(&'a Property, Vec<OrderStep>)>> {
        let mut steps = Vec::new();
        for branch in at {
            for reading in property_readings(self.view, branch.ty, field, show_alike) {
                let property = &self.schema()[reading.by];
                self.require_of_all(&reading, property, field)?;
                let last = OrderStep {
                    of: reading.of,
                    step: Step::from(&property.path),
                    tests: self.shown_objects(property),
                    displayed: self.displayed(property),
                };
                steps.push((property, [branch.path.as_slice(), &[last]].concat()));
            }
        }
        if steps.len() > MAX_WAYS {
            let message = "the argument `orderBy` goes through too many types that store its \
                           properties differently";
            return Err(GraphqlError::new(code::LIMIT_ORDER, message)
                .at(self.location)
                .with("limit", MAX_WAYS));
        }
        Ok(steps)
    }

    /// Returns what the objects that a property leads to are instances of, where it shows no others.
    fn shown_objects(&self, property: &Property) -> Vec<TypeTest> {
        let mut tests = Vec::new();
        if let Range::Object(object) = property.range {
            let target = self.view.api.range_type(object);
            if property.range_check {
                tests.push(self.view.test(target));
            }
            if !takes_any(self.view.api, target) {
                tests.push(self.view.test_of_known(target));
            }
        }
        tests
    }

    /// Returns which objects that a property leads to are shown to the sender, where some are not.
    fn displayed(&self, property: &Property) -> Option<TypeGuard> {
        let Range::Object(object) = property.range else {
            return None;
        };
        match self.view.shown(self.view.api.range_type(object)) {
            Shown::Some(guard) => Some(guard),
            Shown::All | Shown::Nothing | Shown::Rows(_) => None,
        }
    }

    /// Returns what compares the values of a scalar or an enumeration.
    fn scalar(&self, property: &Property) -> SortBy {
        let cast = property.type_cast;
        match property.range {
            Range::Enum(id) => {
                let names = self.schema()[id]
                    .values
                    .iter()
                    .map(|v| v.name.clone())
                    .collect();
                SortBy::Enum { names, cast }
            }
            range => {
                let scalar = match range {
                    Range::Scalar(scalar) => scalar,
                    _ => Scalar::String,
                };
                let lang = self
                    .shown_language(property)
                    .filter(|_| scalar == Scalar::String);
                SortBy::Scalar { scalar, cast, lang }
            }
        }
    }

    /// Returns what compares a part of a literal.
    fn literal(&self, property: &Property, part: LiteralKey, lang: Option<LangSpec>) -> SortBy {
        let range = match property.range {
            Range::Literal(range) => range,
            _ => LiteralRange::Any,
        };
        let types = LiteralTypes::new(self.schema(), range);
        SortBy::Literal { part, lang, types }
    }

    /// Returns the specification by which a single-valued field chooses what it shows, since sort
    /// keys are the values that the fields return: the nearest one (docs/queries.md, "Order" and
    /// "Language").
    fn shown_language(&self, property: &Property) -> Option<LangSpec> {
        let config = &self.schema().config.lang;
        let spec = self
            .lang
            .or(property.lang.fetch.as_ref())
            .or(config.fetch.as_ref());
        spec.cloned().map(for_single)
    }

    /// Returns the ways to the names.
    fn names(&self, at: &[Branch]) -> Result<Vec<OrderWay>> {
        let spec = for_single(name_spec(&self.schema().config.lang, self.lang));
        let same = |a: &Property, b: &Property| {
            Step::from(&a.path) == Step::from(&b.path) && a.type_cast == b.type_cast
        };
        let mut ways = Vec::new();
        for branch in at {
            for reading in name_readings(self.view, branch.ty, same) {
                let property = &self.schema()[reading.by];
                self.require_of_all(&reading, property, "name")?;
                let by = SortBy::Scalar {
                    scalar: Scalar::String,
                    cast: property.type_cast,
                    lang: Some(spec.clone()),
                };
                let last = OrderStep {
                    of: reading.of,
                    ..OrderStep::new(Step::from(&property.path))
                };
                ways.push(way([branch.path.as_slice(), &[last]].concat(), by));
            }
        }
        Ok(ways)
    }

    fn lang_string(
        &mut self,
        steps: Vec<(&'a Property, Vec<OrderStep>)>,
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
        let given = field("lang")
            .and_then(Input::as_text)
            .map(|text| self.spec(text))
            .transpose()?
            .filter(|spec| !spec.is_empty())
            .map(for_single);
        let direction = match field("dir") {
            None | Some(Input::Null) => &Input::Enum("ASC".to_owned()),
            Some(direction) => direction,
        };
        let ways = steps.into_iter().map(|(property, path)| {
            let lang = given.clone().or_else(|| self.shown_language(property));
            way(path, self.literal(property, LiteralKey::Value, lang))
        });
        self.push(ways.collect(), direction)
    }

    /// Reads a specification that chooses the one value to order by, so it cannot begin with `ALL`
    /// (docs/queries.md, "Language").
    fn spec(&self, text: &str) -> Result<LangSpec> {
        let spec = lang_spec(text, self.limits).map_err(|error| error.at(self.location))?;
        if spec.head == LangHead::Preference {
            return Ok(spec);
        }
        let message = "`orderBy` takes one value of each object, so its `lang` cannot begin with \
                       `ALL`; write a preference such as `en,ANY`";
        Err(GraphqlError::new(code::LANG_SPEC_INVALID, message).at(self.location))
    }

    fn push(&mut self, ways: Vec<OrderWay>, direction: &Input) -> Result<()> {
        let descending = descending(direction).ok_or_else(|| self.invalid())?;
        self.keys.push(OrderKey { ways, descending });
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

/// A path to objects of a type; several where types store a property differently.
struct Branch {
    ty: TypeRef,
    path: Vec<OrderStep>,
}

impl Branch {
    fn way(&self, by: SortBy) -> OrderWay {
        way(self.path.clone(), by)
    }
}

fn way(path: Vec<OrderStep>, by: SortBy) -> OrderWay {
    OrderWay { path, by }
}

/// Returns the specification of a field that shows one value: of listed languages the first that
/// has values counts, as in a list of preferences.
pub(crate) fn for_single(mut spec: LangSpec) -> LangSpec {
    if spec.head == LangHead::AllOf {
        spec.head = LangHead::Preference;
    }
    spec
}

/// Returns the specification of the field `name`, if arguments specify languages of their own.
pub(crate) fn name_spec(config: &LangConfig, given: Option<&LangSpec>) -> LangSpec {
    match given {
        None => config.default_name_fetch.clone(),
        Some(given) => {
            let mut spec = given.clone();
            // `name` is one string: the default follows what is asked for (docs/queries.md,
            // "Language").
            if config.append_default_name_fetch && spec.head == LangHead::Preference {
                spec.items
                    .extend(config.default_name_fetch.items.iter().cloned());
            }
            spec
        }
    }
}

/// Returns whether an `_OrderBy` value means descending.
pub(crate) fn descending(input: &Input) -> Option<bool> {
    match input.as_text()? {
        "ASC" => Some(false),
        "DESC" => Some(true),
        _ => None,
    }
}

/// Returns the keys of a `Literal_OrderBy` input in the order written, its default `value: ASC`
/// last, since it was not written.
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
