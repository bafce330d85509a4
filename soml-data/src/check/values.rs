//! The checks of the values that one object has of one property.

use std::collections::{HashMap, HashSet};

use graph_store::value::{Numbers, cast, is_text, write_enum, write_scalar};
use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{ObjectId, ObjectKind, Range, Schema};

use super::code::CheckCode;
use super::object::{PropertyCheck, most, text};
use super::report::Tally;
use super::types::NodeTypes;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// What a value that should be an object turned out to be.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) types: NodeTypes,
    /// Nothing is stored about it; only known of stores that can tell.
    pub(super) is_missing: bool,
}

/// The values of one object under one property.
pub(super) struct Values<'a> {
    pub(super) schema: &'a Schema,
    pub(super) check: &'a PropertyCheck<'a>,
    pub(super) subject: &'a NamedNode,
    pub(super) values: &'a [Term],
    /// The objects that lead to the subject, of `inverseOf` and `symmetric`.
    pub(super) back: Option<&'a [Term]>,
    pub(super) targets: &'a HashMap<NamedNode, Target>,
}

/// How a value fits its range.
enum Fit {
    Fits,
    /// Worth the same in the datatype of the range.
    Converted,
    No,
}

impl Values<'_> {
    /// Runs all checks.
    pub(super) fn check(&self, tally: &mut Tally) {
        self.cardinality(tally);
        for value in self.values {
            self.value(value, tally);
        }
        self.languages(tally);
        if let Some(back) = self.back {
            self.partners(back, tally);
        }
    }

    fn add(&self, tally: &mut Tally, code: CheckCode, detail: &str, value: Option<&Term>) {
        let value = value.map(|value| value as &dyn std::fmt::Display);
        tally.add(
            code,
            self.check.element,
            detail,
            self.subject.as_str(),
            value,
        );
    }

    fn count(&self, tally: &mut Tally, code: CheckCode, detail: &str, count: usize) {
        let said = match count {
            1 => "1 value".to_owned(),
            n => format!("{n} values"),
        };
        let subject = self.subject.as_str();
        tally.add(code, self.check.element, detail, subject, Some(&said));
    }

    fn cardinality(&self, tally: &mut Tally) {
        let property = self.check.property;
        let counted = || self.values.iter().filter(|value| !self.is_left_out(value));
        let count = counted().count();
        if count < property.min as usize {
            let detail = format!("min: {}", property.min);
            self.count(tally, CheckCode::TooFewValues, &detail, count);
        }
        let Some(most) = most(property).filter(|most| count > *most) else {
            return;
        };
        // Texts in several languages are one value to who reads one of them.
        let mut languages: HashMap<Option<String>, usize> = HashMap::new();
        for value in counted() {
            *languages.entry(language(value)).or_default() += 1;
        }
        let count = languages.into_values().max().unwrap_or(0);
        if count > most {
            let detail = format!("max: {most}");
            self.count(tally, CheckCode::TooManyValues, &detail, count);
        }
    }

    fn value(&self, value: &Term, tally: &mut Tally) {
        if let Range::Object(range) = self.check.property.range {
            match value {
                Term::NamedNode(node) => self.target(range, node, value, tally),
                other => {
                    let wanted = &self.schema[range].name.written;
                    let detail = format!("{} where {wanted} is declared", kind(other));
                    self.add(tally, CheckCode::ValueNotOfRange, &detail, Some(value));
                }
            }
        } else {
            let code = match self.fit(value) {
                Fit::Fits => None,
                Fit::Converted => Some(CheckCode::ValueConverted),
                Fit::No => Some(CheckCode::ValueNotOfRange),
            };
            if let Some(code) = code {
                let detail = self.misfit(code, value);
                self.add(tally, code, &detail, Some(value));
            }
        }
        for constraint in &self.check.values.texts {
            if !constraint.holds(text(value)) {
                self.add(
                    tally,
                    CheckCode::ValueMismatch,
                    &constraint.text,
                    Some(value),
                );
            }
        }
        if !self.check.values.lists(value) {
            self.add(tally, CheckCode::ValueNotListed, "", Some(value));
        }
    }

    /// Describes how a value differs from its range.
    fn misfit(&self, code: CheckCode, value: &Term) -> String {
        let (found, declared) = (kind(value), self.range_name());
        match (code, self.check.property.range) {
            (CheckCode::ValueNotOfRange, Range::Scalar(scalar)) if may_be_of(scalar, value) => {
                format!("{found} that is malformed or out of bounds, where {declared} is declared")
            }
            _ => format!("{found} where {declared} is declared"),
        }
    }

    fn fit(&self, value: &Term) -> Fit {
        let property = self.check.property;
        let fits = |fits: bool| if fits { Fit::Fits } else { Fit::No };
        match property.range {
            Range::Object(_) => Fit::Fits,
            Range::Literal(_) => {
                let types = self.check.values.literals.as_ref();
                let accepts = |literal: &Literal| types.is_none_or(|types| types.accepts(literal));
                fits(matches!(value, Term::Literal(literal) if accepts(literal)))
            }
            Range::Enum(id) => {
                let ty = &self.schema[id];
                let names = |literal: &Literal| ty.values.iter().any(|v| v.name == literal.value());
                match value {
                    _ if write_enum(&mut Vec::new(), ty, value) => Fit::Fits,
                    Term::Literal(literal) if property.type_cast && names(literal) => {
                        Fit::Converted
                    }
                    _ => Fit::No,
                }
            }
            Range::Scalar(scalar) => scalar_fit(scalar, value, property.type_cast),
        }
    }

    fn range_name(&self) -> &str {
        use soml_core::schema::LiteralRange as Literals;
        match self.check.property.range {
            Range::Scalar(scalar) => scalar.soml_name(),
            Range::Enum(id) => &self.schema[id].name.written,
            Range::Object(id) => &self.schema[id].name.written,
            Range::Literal(Literals::LangString) => "langString",
            Range::Literal(Literals::StringOrLangString) => "stringOrLangString",
            Range::Literal(Literals::Any) => "literal",
            Range::Literal(Literals::DateOrYearOrMonth) => "dateOrYearOrMonth",
            Range::Literal(Literals::Union(id)) => &self.schema[id].name.written,
        }
    }

    /// Returns whether an object is of the range.
    fn is_in_range(&self, range: ObjectId, types: &NodeTypes) -> bool {
        let in_range = |id: &ObjectId| self.schema.is_a(*id, range);
        let own = self.schema[range].kind == ObjectKind::Abstract && types.matched.contains(&range);
        own || types.leaves.iter().any(in_range)
    }

    /// Returns whether `rangeCheck` takes a value away, since it is no object of the range.
    fn is_left_out(&self, value: &Term) -> bool {
        let property = self.check.property;
        let (Range::Object(range), Term::NamedNode(node)) = (property.range, value) else {
            return false;
        };
        let types = self.targets.get(node).map(|target| &target.types);
        property.range_check && types.is_some_and(|types| !self.is_in_range(range, types))
    }

    fn target(&self, range: ObjectId, node: &NamedNode, value: &Term, tally: &mut Tally) {
        let Some(target) = self.targets.get(node) else {
            return;
        };
        let types = &target.types;
        if self.is_in_range(range, types) {
            return;
        }
        let wanted = &self.schema[range].name.written;
        let (code, found) = match (types.leaves.first(), &types.any) {
            (Some(leaf), _) => {
                let found = self.schema[*leaf].name.written.clone();
                (CheckCode::TargetOtherType, Some(found))
            }
            (None, Some(ty)) => (CheckCode::TargetClassUnknown, Some(ty.to_string())),
            (None, None) if target.is_missing => (CheckCode::TargetMissing, None),
            (None, None) => (CheckCode::TargetUntyped, None),
        };
        let code = if self.is_left_out(value) {
            CheckCode::TargetLeftOut
        } else {
            code
        };
        let found = found.as_deref().unwrap_or("no type");
        let detail = format!("{found} where {wanted} is declared");
        self.add(tally, code, &detail, Some(value));
    }

    fn languages(&self, tally: &mut Tally) {
        let Some(validation) = &self.check.values.lang else {
            return;
        };
        let texts = self.values.iter().filter_map(|value| match value {
            Term::Literal(literal) if is_text(literal) => Some((value, literal.language())),
            _ => None,
        });
        let mut seen = HashSet::new();
        let mut repeated = None;
        for (value, tag) in texts {
            if !validation.allows(tag) {
                let detail = tag.unwrap_or("no language");
                self.add(tally, CheckCode::LangNotAllowed, detail, Some(value));
            }
            let is_new = seen.insert(tag.map(str::to_ascii_lowercase));
            if validation.unique && !is_new {
                repeated = Some(value);
            }
        }
        if let Some(value) = repeated {
            self.add(tally, CheckCode::LangRepeated, "", Some(value));
        }
    }

    /// Checks that each value leads back to the object.
    fn partners(&self, back: &[Term], tally: &mut Tally) {
        let property = self.check.property;
        let (code, detail) = match property.inverse_of {
            _ if property.symmetric => (CheckCode::SymmetryMissing, String::new()),
            Some(partner) => {
                let partner = &self.schema[partner];
                let owner = &self.schema[partner.owner].name.written;
                let detail = format!("by {owner}.{}", partner.name.written);
                (CheckCode::InverseMissing, detail)
            }
            None => return,
        };
        let back: HashSet<&Term> = back.iter().collect();
        for value in self.values {
            if matches!(value, Term::NamedNode(_)) && !back.contains(value) {
                self.add(tally, code, &detail, Some(value));
            }
        }
    }
}

fn language(value: &Term) -> Option<String> {
    match value {
        Term::Literal(literal) => literal.language().map(str::to_ascii_lowercase),
        _ => None,
    }
}

/// Describes the kind of a value.
fn kind(value: &Term) -> String {
    match value {
        Term::NamedNode(_) => "an IRI".to_owned(),
        Term::Literal(literal) if literal.language().is_some() => {
            "a text with a language".to_owned()
        }
        Term::Literal(literal) => {
            let datatype = literal.datatype().as_str();
            match datatype.strip_prefix(XSD) {
                Some(name) => format!("xsd:{name}"),
                None => format!("<{datatype}>"),
            }
        }
        _ => "a blank node".to_owned(),
    }
}

fn scalar_fit(scalar: Scalar, value: &Term, is_cast: bool) -> Fit {
    let fits = |value: &Term| write_scalar(&mut Vec::new(), scalar, value, Numbers::Exact);
    if fits(value) {
        let converted = scalar.is_numeric() && !is_of(scalar, value);
        return if converted { Fit::Converted } else { Fit::Fits };
    }
    let cast = if is_cast { cast(scalar, value) } else { None };
    match cast {
        Some(value) if fits(&value) => Fit::Converted,
        _ => Fit::No,
    }
}

/// Returns whether a numeric literal is of the family of a scalar: whole, decimal or binary numbers.
fn is_of(scalar: Scalar, value: &Term) -> bool {
    let Term::Literal(literal) = value else {
        return false;
    };
    let datatype = literal.datatype().as_str();
    match datatype.strip_prefix(XSD) {
        Some("double") => scalar.is_float(),
        Some("float") => false,
        Some("decimal") => scalar == Scalar::Decimal,
        Some(name) => scalar.is_integer() && is_whole(name),
        None => false,
    }
}

/// Returns whether an XSD datatype derives from `integer`.
fn is_whole(name: &str) -> bool {
    name == "integer" || {
        let iri = format!("{XSD}{name}");
        Scalar::ALL
            .iter()
            .any(|scalar| scalar.is_integer() && scalar.datatype_iri() == iri)
    }
}

/// Returns whether literals of this datatype are values of the scalar, when they are well formed and
/// within its bounds.
fn may_be_of(scalar: Scalar, value: &Term) -> bool {
    let Term::Literal(literal) = value else {
        return false;
    };
    let datatype = literal.datatype().as_str();
    let is_number = datatype
        .strip_prefix(XSD)
        .is_some_and(|name| matches!(name, "decimal" | "float" | "double") || is_whole(name));
    let takes_all = scalar.is_numeric() && !scalar.is_integer();
    is_of(scalar, value) || datatype == scalar.datatype_iri() || (takes_all && is_number)
}
