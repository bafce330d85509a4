//! Translates `where` inputs to conditions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use graph_store::facts::parameter;
use graph_store::query::{
    Comparison, Constant, Domain, NodeCondition, Operator, Regex, RegexError, Step, TagRange,
    TermCondition, TypeTest, ValueTest,
};
use graphql_gen::typesystem::{Field, TypeRef};
use graphql_service::{ErrorCode, GraphqlError, Location};
use oxrdf::{Literal, NamedNode};
use serde_json::Value as Json;
use soml_core::access::Part;
use soml_core::datatype::Scalar;
use soml_core::lang::{LangHead, LangItem, LangRange, LangSpec};
use soml_core::schema::{EnumId, Property, PropertyId, Range, Schema};

use super::coercion::expanded;
use super::constant::{OperandError, constant};
use super::input::{Input, lang_spec};
use super::set_where::{Combine, SetWhere};
use crate::access::{
    Shown, View, each_by_its_own, filter_alike, name_readings, property_readings, type_readings,
};
use crate::code;
use crate::limits::EngineLimits;
use crate::rdf::{classes, with_subclasses};

type Result<T> = std::result::Result<T, GraphqlError>;

/// How the values of a scalar input are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operands {
    Scalar(Scalar),
    /// A scalar whose stored values are cast.
    Cast(Scalar),
    Enum(EnumId),
    /// An enumeration whose stored values are cast.
    CastEnum(EnumId),
    /// The lexical form of any literal, for `Literal_Where.value`.
    AnyText,
    /// The classes of an object.
    Class,
    /// The datatype of a literal, by its IRI or with a prefix of the schema, as in input.
    Datatype,
}

impl Operands {
    fn domain(self) -> Domain {
        match self {
            Operands::Scalar(scalar) => Domain::of(scalar),
            Operands::Class | Operands::Datatype => Domain::Iri,
            Operands::Enum(_) => Domain::Typed(Scalar::String),
            Operands::AnyText | Operands::CastEnum(_) | Operands::Cast(Scalar::String) => {
                Domain::Lexical
            }
            Operands::Cast(scalar) => Domain::Cast(scalar),
        }
    }

    fn scalar(self) -> Scalar {
        match self {
            Operands::Scalar(scalar) | Operands::Cast(scalar) => scalar,
            Operands::Class | Operands::Datatype => Scalar::Iri,
            Operands::Enum(_) | Operands::CastEnum(_) | Operands::AnyText => Scalar::String,
        }
    }
}

/// Translates the `where` input of one argument.
pub(crate) struct FilterBuilder<'a> {
    view: View<'a>,
    limits: &'a EngineLimits,
    /// Position of the argument, for errors.
    location: Option<Location>,
    /// Path of keys from the argument to the current operand, for errors.
    keys: Vec<String>,
    conditions: usize,
    claims: Claims<'a>,
}

/// The claims of a sender, in the condition of a role.
#[derive(Default)]
struct Claims<'a> {
    of_sender: Option<&'a BTreeMap<String, Json>>,
    /// One is missing, or has a value that does not fit.
    do_not_fit: bool,
    /// Comparisons with claims, where parameters stand for these.
    compared: Option<Vec<Compared>>,
}

/// A comparison with claims of senders, in the condition of a role.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compared {
    /// How values are compared; `None` for the objects themselves.
    operands: Option<Operands>,
    key: String,
    value: Input,
}

impl Compared {
    /// Returns the comparison with the claims of a sender; one that nothing passes where a claim is missing or does not
    /// fit.
    pub(crate) fn with(
        &self,
        view: View<'_>,
        limits: &EngineLimits,
        claims: &BTreeMap<String, Json>,
    ) -> Operator {
        let mut builder = FilterBuilder::new(view, limits, None);
        builder.claims.of_sender = Some(claims);
        let operator = match self.operands {
            None => match builder.one_of(&self.value) {
                Ok(NodeCondition::OneOf(ids)) => {
                    Some(Operator::In(ids.into_iter().map(Constant::Iri).collect()))
                }
                _ => None,
            },
            Some(operands) => match builder.operator(operands, &self.key, &self.value) {
                Ok(TermCondition::Value(test)) => Some(test.operator),
                Ok(_) => Some(Operator::NotIn(Vec::new())),
                Err(_) => None,
            },
        };
        let fitting = operator.filter(|_| !builder.claims.do_not_fit);
        fitting.unwrap_or_else(|| Operator::In(Vec::new()))
    }
}

impl<'a> Claims<'a> {
    /// Returns the value of a claim in place of the claim; null where it is missing or has a value of another form.
    fn single<'i>(&mut self, input: &'i Input) -> Cow<'i, Input> {
        let Input::Claim(path) = input else {
            return Cow::Borrowed(input);
        };
        let claim = self.at(path);
        Cow::Owned(self.of_claim(claim))
    }

    fn of_claim(&mut self, claim: Option<&Json>) -> Input {
        let value = claim.and_then(Input::of_claim);
        self.do_not_fit |= value.is_none();
        value.unwrap_or(Input::Null)
    }

    /// Returns all values of a claim in place of the claim.
    fn listed<'i>(&mut self, input: &'i Input) -> Cow<'i, Input> {
        let Input::Claim(path) = input else {
            return Cow::Borrowed(input);
        };
        let Some(Json::Array(values)) = self.at(path) else {
            return Cow::Borrowed(input);
        };
        let values = values.iter().map(|value| self.of_claim(Some(value)));
        Cow::Owned(Input::List(values.collect()))
    }

    fn at(&self, path: &str) -> Option<&'a Json> {
        self.of_sender?.get(path)
    }
}

impl<'a> FilterBuilder<'a> {
    pub(crate) fn new(
        view: View<'a>,
        limits: &'a EngineLimits,
        location: Option<Location>,
    ) -> Self {
        FilterBuilder {
            view,
            limits,
            location,
            keys: vec!["where".to_owned()],
            conditions: 0,
            claims: Claims::default(),
        }
    }

    /// Translates a condition of a role, with the claims of a sender.
    ///
    /// `None` means that no object satisfies it: a claim is missing, or its value does not fit.
    pub(crate) fn rows(
        mut self,
        ty: TypeRef,
        input: &Input,
        claims: &'a BTreeMap<String, Json>,
    ) -> Result<Option<NodeCondition>> {
        self.claims.of_sender = Some(claims);
        let condition = self.objects(ty, input)?;
        Ok((!self.claims.do_not_fit).then_some(condition))
    }

    /// Translates a condition of a role, with a parameter in place of the operand of each comparison with claims. Takes the
    /// comparisons that have parameters already, and returns them with the new ones: the number of a parameter is the
    /// index of its comparison.
    pub(crate) fn parametrized(
        mut self,
        ty: TypeRef,
        input: &Input,
        known: Vec<Compared>,
    ) -> (Result<NodeCondition>, Vec<Compared>) {
        self.claims.compared = Some(known);
        let condition = self.objects(ty, input);
        (condition, self.claims.compared.unwrap_or_default())
    }

    /// Returns the parameter of a comparison with claims; `None` where it has none, or their values are known.
    fn parameter(
        &mut self,
        operands: Option<Operands>,
        key: &str,
        value: &Input,
    ) -> Option<NamedNode> {
        let known = self.claims.compared.as_mut()?;
        if !value
            .as_list()
            .iter()
            .any(|item| matches!(item, Input::Claim(_)))
        {
            return None;
        }
        let compared = Compared {
            operands,
            key: key.to_owned(),
            value: value.clone(),
        };
        let place = known
            .iter()
            .position(|known| *known == compared)
            .unwrap_or_else(|| {
                known.push(compared);
                known.len() - 1
            });
        Some(parameter(place))
    }

    fn schema(&self) -> &'a Schema {
        self.view.api.soml()
    }

    fn error(&self, code: ErrorCode, message: impl Into<String>) -> GraphqlError {
        self.located(GraphqlError::new(code, message))
    }

    /// Adds the position of the argument, and the path of keys to the current operand.
    fn located(&self, error: GraphqlError) -> GraphqlError {
        error
            .at(self.location)
            .with("argumentPath", self.keys.join("."))
    }

    /// Translates a condition on objects of type `ty`.
    pub(crate) fn objects(&mut self, ty: TypeRef, input: &Input) -> Result<NodeCondition> {
        Ok(self.node(ty, input)?.of_one())
    }

    /// Translates a condition on the values of a list of scalars.
    pub(crate) fn scalars(
        &mut self,
        scalar: Scalar,
        cast: bool,
        input: &Input,
    ) -> Result<TermCondition> {
        Ok(self.terms(of_scalar(scalar, cast), input)?.of_one())
    }

    /// Translates a condition on the classes of an object.
    pub(crate) fn classes_where(&mut self, input: &Input) -> Result<TermCondition> {
        Ok(self.terms(Operands::Class, input)?.of_one())
    }

    /// Translates a condition on the values of a list of enum values.
    pub(crate) fn enums(&mut self, id: EnumId, cast: bool, input: &Input) -> Result<TermCondition> {
        Ok(self.terms(of_enum(id, cast), input)?.of_one())
    }

    /// Translates a condition on the values of a list of literals.
    pub(crate) fn literals(&mut self, input: &Input) -> Result<TermCondition> {
        Ok(self.literal(input)?.of_one())
    }

    /// Translates a condition on the lexical form of a literal.
    pub(crate) fn literal_value(&mut self, input: &Input) -> Result<TermCondition> {
        Ok(self.terms(Operands::AnyText, input)?.of_one())
    }

    /// Visits the keys of an object input, within the limits.
    fn each_key<C: Combine>(
        &mut self,
        input: &Input,
        mut apply: impl FnMut(&mut Self, &mut SetWhere<C>, &str, &Input) -> Result<()>,
    ) -> Result<SetWhere<C>> {
        let mut set = SetWhere::empty();
        let Input::Object(fields) = input else {
            return Err(self.error(code::ARGUMENT_INVALID, "a filter must be an input object"));
        };
        if self.keys.len() > self.limits.where_depth {
            return Err(self
                .error(code::LIMIT_WHERE_DEPTH, "the filter nests too deeply")
                .with("limit", self.limits.where_depth));
        }
        for (key, value) in fields {
            self.conditions += 1;
            if self.conditions > self.limits.where_conditions {
                return Err(self
                    .error(
                        code::LIMIT_WHERE_CONDITIONS,
                        "the filter has too many conditions",
                    )
                    .with("limit", self.limits.where_conditions));
            }
            self.keys.push(key.clone());
            // Null never means "everything" (docs/queries.md, "Filters").
            if *value == Input::Null {
                return Err(self.error(
                    code::NULL_OPERAND,
                    format!("the operand of `{key}` is null; leave the key out, or use NOT to ask for absence"),
                ));
            }
            apply(self, &mut set, key, value)?;
            self.keys.pop();
        }
        Ok(set)
    }

    fn each_element<T>(
        &mut self,
        input: &Input,
        mut translate: impl FnMut(&mut Self, &Input) -> Result<T>,
    ) -> Result<Vec<T>> {
        let items = input.as_list();
        self.check_length(items.len())?;
        items.iter().map(|item| translate(self, item)).collect()
    }

    fn check_length(&self, length: usize) -> Result<()> {
        if length > self.limits.list_length {
            return Err(self
                .error(code::LIMIT_LIST_LENGTH, "the list has too many elements")
                .with("limit", self.limits.list_length));
        }
        Ok(())
    }

    fn node(&mut self, ty: TypeRef, input: &Input) -> Result<SetWhere<NodeCondition>> {
        self.each_key(input, |this, set, key, value| {
            match key {
                "AND" => set.and_all(this.each_element(value, |t, v| t.node(ty, v))?),
                "OR" => set.and_any(this.each_element(value, |t, v| t.node(ty, v))?),
                "NOT" => set.and_not(this.node(ty, value)?),
                "ALL" => set.and_every(this.node(ty, value)?),
                "ALL_EXISTS" => set.and_every_and_some(this.node(ty, value)?),
                "ID" => {
                    // A condition on what may not be read would reveal it (docs/access.md, "What a
                    // caller sees").
                    let readable = this.readable(ty, Part::Id, key)?;
                    let meant = readable
                        .condition()
                        .into_iter()
                        .chain([this.one_of(value)?]);
                    set.and_each(NodeCondition::all(meant));
                }
                _ => set.and_each(this.node_key(ty, key, value)?),
            }
            Ok(())
        })
    }

    fn node_key(&mut self, ty: TypeRef, key: &str, value: &Input) -> Result<NodeCondition> {
        match self.view.api.field(ty, key) {
            Some(Field::Id) => {
                let readable = self.readable(ty, Part::Id, key)?;
                let set = self.terms(Operands::Scalar(Scalar::Iri), value)?;
                let meant = readable
                    .condition()
                    .into_iter()
                    .chain([on_iri(set.of_one())]);
                Ok(NodeCondition::all(meant))
            }
            Some(Field::Type) => {
                let readings = type_readings(self.view, ty);
                self.require(!readings.is_empty(), key)?;
                let set = self.terms(Operands::Class, value)?;
                each_by_its_own(&readings, |property| {
                    let step = Step::forward(NamedNode::new_unchecked(*property));
                    Ok(set.clone().along(&step))
                })
            }
            Some(Field::Name) => self.name(ty, value),
            Some(Field::Property(_)) => {
                let readings = property_readings(self.view, ty, key, filter_alike);
                self.require(!readings.is_empty(), key)?;
                each_by_its_own(&readings, |property| self.property(*property, value))
            }
            None => self.narrowed(ty, key, value),
            Some(Field::Count(_) | Field::Aggregate(_)) => Err(self.unknown_key(key)),
        }
    }

    /// Translates `_if<Type>`: the object is of that type or a subtype, and satisfies the condition
    /// (docs/queries.md, "Filters").
    fn narrowed(&mut self, ty: TypeRef, key: &str, value: &Input) -> Result<NodeCondition> {
        let narrow = key
            .strip_prefix("_if")
            .and_then(|name| self.view.api.type_ref(name))
            .map(|narrow| with_subclasses(self.view.api, narrow));
        let Some(narrow) = narrow else {
            return Err(self.unknown_key(key));
        };
        let test = if narrow == ty {
            None
        } else {
            Some(self.view.test(narrow))
        };
        let shown = self.view.shown(narrow);
        self.require(!shown.is_nothing(), key)?;
        let condition = self.node(narrow, value)?.of_one();
        let test = test.map(NodeCondition::Instance).into_iter();
        Ok(NodeCondition::all(
            test.chain(shown.condition()).chain([condition]),
        ))
    }

    /// Refuses a key for what cannot be read (docs/access.md, "What a caller sees").
    fn require(&self, holds: bool, key: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        Err(self.located(self.view.denied(&self.keys[0], key)))
    }

    fn readable(&self, ty: TypeRef, part: Part, key: &str) -> Result<Shown> {
        let readable = self.view.readable(ty, part);
        self.require(!readable.is_nothing(), key)?;
        Ok(readable)
    }

    fn unknown_key(&self, key: &str) -> GraphqlError {
        self.error(
            code::ARGUMENT_INVALID,
            format!("`{key}` is not a key of this filter"),
        )
    }

    fn property(&mut self, property: PropertyId, value: &Input) -> Result<NodeCondition> {
        let schema = self.schema();
        let property = &schema[property];
        let step = Step::from(&property.path);
        let cast = property.type_cast;
        Ok(match property.range {
            Range::Scalar(scalar) => self
                .cast_terms(of_scalar(scalar, cast), value)?
                .along(&step),
            Range::Enum(id) => self.cast_terms(of_enum(id, cast), value)?.along(&step),
            Range::Literal(_) => self.literal(value)?.along(&step),
            Range::Object(object) => {
                let range = self.view.api.range_type(object);
                let shown = self.view.shown(range);
                self.require(!shown.is_nothing(), &property.name.graphql)?;
                let mut set = self.node(range, value)?;
                // Values of another type count as absent, for `ALL` and `NOT` too (docs/queries.md,
                // "Filters").
                if property.range_check {
                    set = checked(set, self.view.test(range));
                }
                if let Some(condition) = shown.condition() {
                    set = set.on_instances(condition);
                }
                set.along(&step)
            }
        })
    }

    /// Translates a condition on the name. It holds for any value of the name property: filters see
    /// all values, not only the one that the field shows (docs/queries.md, "Language").
    fn name(&mut self, ty: TypeRef, value: &Input) -> Result<NodeCondition> {
        let same = |a: &Property, b: &Property| Step::from(&a.path) == Step::from(&b.path);
        let readings = name_readings(self.view, ty, same);
        self.require(!readings.is_empty(), "name")?;
        let condition = self.terms(Operands::Scalar(Scalar::String), value)?;
        let schema = self.schema();
        each_by_its_own(&readings, |property| {
            let step = Step::from(&schema[*property].path);
            Ok(condition.clone().along(&step))
        })
    }

    fn one_of(&mut self, value: &Input) -> Result<NodeCondition> {
        if let Some(parameter) = self.parameter(None, "ID", value) {
            return Ok(NodeCondition::one_of(vec![parameter]));
        }
        let value = &*self.claims.listed(value);
        let ids = value.as_list();
        self.check_length(ids.len())?;
        let ids = ids.iter().filter_map(|id| {
            let id = self.claims.single(id);
            NamedNode::new(id.as_text()?).ok()
        });
        let ids = ids.collect();
        Ok(NodeCondition::one_of(ids))
    }

    fn terms(&mut self, operands: Operands, input: &Input) -> Result<SetWhere<TermCondition>> {
        let mut set = self.each_key(input, |this, set, key, value| {
            match key {
                "AND" => set.and_all(this.each_element(value, |t, v| t.terms(operands, v))?),
                "OR" => set.and_any(this.each_element(value, |t, v| t.terms(operands, v))?),
                "ALL" => set.and_every(this.terms(operands, value)?),
                "ALL_EXISTS" => set.and_every_and_some(this.terms(operands, value)?),
                _ => set.and_each(this.operator(operands, key, value)?),
            }
            Ok(())
        })?;
        if matches!(input, Input::Object(fields) if fields.is_empty()) {
            set.and_each(any_value(operands));
        }
        Ok(set)
    }

    /// Like `terms`; values that cannot be cast count as absent.
    fn cast_terms(&mut self, operands: Operands, input: &Input) -> Result<SetWhere<TermCondition>> {
        let set = self.terms(operands, input)?;
        Ok(match operands {
            Operands::Cast(_) | Operands::CastEnum(_) => {
                set.on_instances(TermCondition::Value(presence(operands.domain())))
            }
            Operands::Scalar(_)
            | Operands::Enum(_)
            | Operands::AnyText
            | Operands::Class
            | Operands::Datatype => set,
        })
    }

    fn operator(&mut self, operands: Operands, key: &str, value: &Input) -> Result<TermCondition> {
        let comparison = match key {
            "EQ" => Comparison::Equal,
            "NEQ" => Comparison::NotEqual,
            "LT" => Comparison::Less,
            "LTE" => Comparison::LessOrEqual,
            "GT" => Comparison::Greater,
            "GTE" => Comparison::GreaterOrEqual,
            "IN" => {
                let constants = match self.parameter(Some(operands), key, value) {
                    Some(parameter) => vec![Constant::Iri(parameter)],
                    None => self.constants(operands, value)?,
                };
                return Ok(test(operands, Operator::In(constants)));
            }
            // Any value that is there, be it ill-typed: there is nothing to compare it with
            // (docs/queries.md, "Filters").
            "NIN" if value.as_list().is_empty() => return Ok(any_value(operands)),
            "NIN" => {
                let constants = match self.parameter(Some(operands), key, value) {
                    Some(parameter) => vec![Constant::Iri(parameter)],
                    None => self.constants(operands, value)?,
                };
                return Ok(test(operands, Operator::NotIn(constants)));
            }
            "RE" | "IRE" | "NRE" | "NIRE" => return self.matches(operands, key, value),
            _ => return Err(self.unknown_key(key)),
        };
        if let Some(parameter) = self.parameter(Some(operands), key, value) {
            let operator = Operator::Compare(comparison, Constant::Iri(parameter));
            return Ok(test(operands, operator));
        }
        let constant = self.constant(operands, value)?;
        // The class of a concrete type stands for the classes of its subtypes too (docs/queries.md,
        // "Filters").
        if let (Operands::Class, Some(Constant::Iri(class))) = (operands, &constant) {
            let classes = self.classes(class);
            match comparison {
                Comparison::Equal if classes.len() > 1 => {
                    return Ok(test(operands, Operator::In(classes)));
                }
                Comparison::NotEqual if classes.len() > 1 => {
                    return Ok(test(operands, Operator::NotIn(classes)));
                }
                _ => {}
            }
        }
        if let (Scalar::Boolean, Some(Constant::Literal(literal))) = (operands.scalar(), &constant)
        {
            return Ok(test(operands, boolean_order(comparison, literal)));
        }
        Ok(test(
            operands,
            match (constant, comparison) {
                (Some(constant), _) => Operator::Compare(comparison, constant),
                // No value equals an operand that is no IRI; every IRI differs from it.
                (None, Comparison::NotEqual) => Operator::NotIn(Vec::new()),
                (None, _) => Operator::In(Vec::new()),
            },
        ))
    }

    fn constants(&mut self, operands: Operands, value: &Input) -> Result<Vec<Constant>> {
        let value = &*self.claims.listed(value);
        let constants = self
            .each_element(value, |this, item| this.constant(operands, item))?
            .into_iter()
            .flatten();
        Ok(match operands {
            Operands::Class => constants
                .flat_map(|constant| match &constant {
                    Constant::Iri(class) => self.classes(class),
                    Constant::Literal(_) => vec![constant],
                })
                .collect(),
            _ => constants.collect(),
        })
    }

    /// Returns the classes that a class means.
    fn classes(&self, class: &NamedNode) -> Vec<Constant> {
        let classes = classes(self.schema(), class).into_iter();
        classes.map(Constant::Iri).collect()
    }

    fn constant(&mut self, operands: Operands, value: &Input) -> Result<Option<Constant>> {
        let Input::Claim(_) = value else {
            return self.constant_of(operands, value);
        };
        let value = self.claims.single(value).into_owned();
        let constant = self.constant_of(operands, &value);
        // A claim that is no such value is no mistake of the sender.
        self.claims.do_not_fit |= constant.is_err();
        Ok(constant.unwrap_or(None))
    }

    fn constant_of(&self, operands: Operands, value: &Input) -> Result<Option<Constant>> {
        if let (Operands::Enum(id) | Operands::CastEnum(id), Some(text)) =
            (operands, value.as_text())
            && !self.schema()[id].values.iter().any(|v| v.name == text)
        {
            let name = &self.schema()[id].name.graphql;
            return Err(self.error(
                code::SCALAR_INVALID,
                format!("{text} is not a value of the enum {name}"),
            ));
        }
        let expanded = match (operands, value.as_text()) {
            (Operands::Datatype, Some(text)) => Some(Input::String(expanded(self.schema(), text))),
            _ => None,
        };
        let value = expanded.as_ref().unwrap_or(value);
        constant(operands.scalar(), value).map_err(|error| match error {
            OperandError::Invalid(message) => self.error(code::SCALAR_INVALID, message),
            OperandError::Unsupported(message) => self.error(code::STORE_UNSUPPORTED, message),
        })
    }

    /// Translates a regular expression: the subset of SPARQL's
    /// (<https://www.w3.org/TR/sparql11-query/#func-regex>) on which all stores agree
    /// (docs/queries.md, "Regular expressions").
    fn matches(&self, operands: Operands, key: &str, value: &Input) -> Result<TermCondition> {
        self.refuse_claim(value, key)?;
        let pattern = value.as_text().unwrap_or_default();
        let (negated, rest) = match key.strip_prefix('N') {
            Some(rest) => (true, rest),
            None => (false, key),
        };
        let regex = Regex::new(pattern, rest.starts_with('I'), self.limits.regex_length).map_err(
            |error| {
                let code = match error {
                    RegexError::Invalid { .. } => code::REGEX_INVALID,
                    RegexError::Unsupported { .. } => code::REGEX_UNSUPPORTED,
                    RegexError::TooLarge(_) => code::LIMIT_REGEX,
                };
                self.error(code, error.to_string())
            },
        )?;
        Ok(test(operands, Operator::Matches(regex, negated)))
    }

    fn literal(&mut self, input: &Input) -> Result<SetWhere<TermCondition>> {
        self.each_key(input, |this, set, key, value| {
            match key {
                "AND" => set.and_all(this.each_element(value, Self::literal)?),
                "OR" => set.and_any(this.each_element(value, Self::literal)?),
                "NOT" => set.and_not(this.literal(value)?),
                "ALL" => set.and_every(this.literal(value)?),
                "ALL_EXISTS" => set.and_every_and_some(this.literal(value)?),
                "value" => set.and_each(this.terms(Operands::AnyText, value)?.of_one()),
                "lang" => set.and_each(this.lang(value)?),
                "type" => {
                    let types = this.terms(Operands::Datatype, value)?;
                    // A literal with a language tag displays no datatype.
                    let present = TermCondition::Value(presence(Domain::Iri));
                    set.and_each(on_datatype(present));
                    set.and_each(on_datatype(types.of_one()));
                }
                // A literal equals no IRI.
                "ID" => set.and_each(TermCondition::Any(Vec::new())),
                _ => return Err(this.unknown_key(key)),
            }
            Ok(())
        })
    }

    /// Refuses a claim where a text has a syntax of its own.
    fn refuse_claim(&self, value: &Input, key: &str) -> Result<()> {
        match value {
            Input::Claim(_) => Err(self.error(
                code::ARGUMENT_INVALID,
                format!("`{key}` takes no claim of the sender"),
            )),
            _ => Ok(()),
        }
    }

    fn lang(&self, value: &Input) -> Result<TermCondition> {
        self.refuse_claim(value, "lang")?;
        let text = value.as_text().unwrap_or_default();
        let spec = lang_spec(text, self.limits).map_err(|error| self.located(error))?;
        lang_condition(&spec).map_err(|message| self.error(code::LANG_SPEC_INVALID, message))
    }
}

fn of_scalar(scalar: Scalar, cast: bool) -> Operands {
    if cast {
        Operands::Cast(scalar)
    } else {
        Operands::Scalar(scalar)
    }
}

fn of_enum(id: EnumId, cast: bool) -> Operands {
    if cast {
        Operands::CastEnum(id)
    } else {
        Operands::Enum(id)
    }
}

fn test(operands: Operands, operator: Operator) -> TermCondition {
    TermCondition::Value(ValueTest {
        domain: operands.domain(),
        operator,
    })
}

/// The condition that every value satisfies, be it ill-typed; an IRI has no text, though.
fn any_value(operands: Operands) -> TermCondition {
    match operands {
        Operands::AnyText => TermCondition::Value(presence(Domain::Lexical)),
        _ => TermCondition::TRUE,
    }
}

/// A test that every value of a domain passes.
fn presence(domain: Domain) -> ValueTest {
    ValueTest {
        domain,
        operator: Operator::NotIn(Vec::new()),
    }
}

/// Expresses a comparison of Booleans by equality, since not every store orders them. False is less
/// than true (<https://www.w3.org/TR/sparql11-query/#OperatorMapping>).
fn boolean_order(comparison: Comparison, literal: &Literal) -> Operator {
    let operand = literal.value() == "true";
    let satisfies = |value: bool| match comparison {
        Comparison::Equal => value == operand,
        Comparison::NotEqual => value != operand,
        Comparison::Less => !value & operand,
        Comparison::LessOrEqual => value <= operand,
        Comparison::Greater => value & !operand,
        Comparison::GreaterOrEqual => value >= operand,
    };
    let values = [false, true].into_iter().filter(|value| satisfies(*value));
    Operator::In(
        values
            .map(|value| Constant::Literal(Literal::from(value)))
            .collect(),
    )
}

/// Converts a specification to a condition on one value; preference has no meaning in a filter.
fn lang_condition(spec: &LangSpec) -> std::result::Result<TermCondition, String> {
    let mut include = Vec::new();
    let mut exclude = Vec::new();
    let mut any = spec.head == LangHead::All;
    for item in &spec.items {
        match item {
            LangItem::Include(range) => include.push(tag_range(range)),
            LangItem::Exclude(range) => exclude.push(tag_range(range)),
            LangItem::Any => any = true,
            // A filter that depends on the browser would select other objects for each user.
            LangItem::Browser => {
                return Err("`BROWSER` cannot be used in a filter; name the languages".to_owned());
            }
        }
    }
    if any {
        include.clear();
    }
    Ok(TermCondition::Lang { include, exclude })
}

/// Converts a range of language tags, which compare without case
/// (<https://www.rfc-editor.org/rfc/rfc5646#section-2.1.1>).
fn tag_range(range: &LangRange) -> TagRange {
    match range {
        LangRange::Tag(tag) => TagRange::Tag(tag.to_ascii_lowercase()),
        LangRange::Dialects(tag) => TagRange::Dialects(tag.to_ascii_lowercase()),
        LangRange::Untagged => TagRange::Untagged,
    }
}

/// Converts a condition on a value to one on the IRI of an object.
fn on_iri(condition: TermCondition) -> NodeCondition {
    let each = |parts: Vec<TermCondition>| parts.into_iter().map(on_iri).collect::<Vec<_>>();
    match condition {
        TermCondition::All(parts) => NodeCondition::all(each(parts)),
        TermCondition::Any(parts) => NodeCondition::Any(each(parts)),
        TermCondition::Not(inner) => NodeCondition::Not(Box::new(on_iri(*inner))),
        TermCondition::Value(test) => NodeCondition::Iri(test),
        // An IRI has neither language nor datatype.
        TermCondition::Lang { .. } | TermCondition::Datatype(_) => NodeCondition::Any(Vec::new()),
    }
}

/// Converts a condition on a value to one on its datatype.
fn on_datatype(condition: TermCondition) -> TermCondition {
    let each = |parts: Vec<TermCondition>| parts.into_iter().map(on_datatype).collect::<Vec<_>>();
    match condition {
        TermCondition::All(parts) => TermCondition::all(each(parts)),
        TermCondition::Any(parts) => TermCondition::Any(each(parts)),
        TermCondition::Not(inner) => TermCondition::Not(Box::new(on_datatype(*inner))),
        TermCondition::Value(test) => TermCondition::Datatype(test),
        other @ (TermCondition::Lang { .. } | TermCondition::Datatype(_)) => other,
    }
}

fn checked(set: SetWhere<NodeCondition>, test: TypeTest) -> SetWhere<NodeCondition> {
    set.on_instances(NodeCondition::Instance(test))
}
