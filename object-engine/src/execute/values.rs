//! Writes the values of fields that are not objects: scalars, enum values and literals.

use std::borrow::Cow;

use graph_store::value::{LiteralKey, SortValue, cast, of_language, write_enum, write_scalar};
use graphql_service::writer::{PathStep, WriteResult, write_string};
use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;

use super::chunks::Values;
use super::list::{
    Candidate, drop_equal, ill_typed_identity, literal_sort, scalar_sort, smallest_first,
    sort_and_cut,
};
use super::write::Writer;
use crate::plan::{
    ListOutput, LiteralOutput, LiteralPart, Output, ResponseField, ScalarKind, ScalarOutput,
};

impl<'a> Writer<'a> {
    /// Returns how many values a list field would give.
    pub(super) fn value_count(&self, counted: &Output, values: Values<'_>) -> usize {
        let mut candidates = match counted {
            Output::Scalar(scalar) => {
                self.candidates(scalar, &scalar_values(scalar, values), false)
            }
            Output::Literal(literal) => {
                let values = values.of(literal.slot);
                self.literal_candidates(literal, values, literal.lang.as_ref(), &[])
            }
            _ => Vec::new(),
        };
        drop_equal(&mut candidates);
        candidates.len()
    }

    fn write_value(&mut self, kind: ScalarKind, term: &Term) -> bool {
        match kind {
            ScalarKind::Scalar(scalar) => {
                write_scalar(&mut self.answer.out, scalar, term, self.execution.numbers)
            }
            ScalarKind::Enum(id) => {
                let schema = self.schema();
                write_enum(&mut self.answer.out, &schema[id], term)
            }
        }
    }

    pub(super) fn scalar(
        &mut self,
        field: &'a ResponseField,
        scalar: &ScalarOutput,
        values: &[Term],
    ) -> WriteResult {
        match values {
            [] => self.answer.out.extend_from_slice(b"null"),
            // By far the most frequent case costs no copy.
            [single] if self.is_wanted(scalar, single) => {
                if !self.write_value(scalar.kind, single) {
                    self.ill_typed(field, &single.to_string());
                    self.answer.out.extend_from_slice(b"null");
                }
            }
            several => {
                let mut candidates = self.candidates(scalar, several, true);
                drop_equal(&mut candidates);
                smallest_first(&mut candidates);
                self.first(field, candidates);
            }
        }
        Ok(())
    }

    /// Tells whether the language specification has nothing against the only value.
    fn is_wanted(&self, scalar: &ScalarOutput, value: &Term) -> bool {
        scalar.lang.is_none()
            || !self
                .of_language(std::slice::from_ref(value), scalar.lang.as_ref())
                .is_empty()
    }

    /// Returns the values that a language specification wants; all without one.
    fn of_language<'v>(&self, values: &'v [Term], spec: Option<&LangSpec>) -> Vec<&'v Term> {
        match spec {
            None => values.iter().collect(),
            Some(spec) => of_language(values, spec, &self.execution.context.accept_language),
        }
    }

    /// Writes the first of the candidates for a single value.
    fn first(&mut self, field: &'a ResponseField, candidates: Vec<Candidate>) {
        if candidates.len() > 1 {
            self.several(field, candidates.len());
        }
        let well_typed = candidates
            .iter()
            .position(|c| c.json.is_some())
            .unwrap_or(0);
        match candidates.into_iter().nth(well_typed) {
            None => self.answer.out.extend_from_slice(b"null"),
            Some(Candidate {
                json: Some(json), ..
            }) => self.answer.out.extend_from_slice(&json),
            Some(Candidate {
                json: None, term, ..
            }) => {
                self.ill_typed(field, &term);
                self.answer.out.extend_from_slice(b"null");
            }
        }
    }

    pub(super) fn scalars(
        &mut self,
        field: &'a ResponseField,
        scalar: &ScalarOutput,
        list: &ListOutput,
        values: &[Term],
    ) -> WriteResult {
        let mut candidates = self.candidates(scalar, values, false);
        drop_equal(&mut candidates);
        sort_and_cut(&mut candidates, list);
        self.list(field, list, candidates)
    }

    fn candidates(&self, scalar: &ScalarOutput, values: &[Term], single: bool) -> Vec<Candidate> {
        let spec = match &scalar.lang {
            None if single => Some(LangSpec::any()),
            spec => spec.as_ref(),
        };
        self.of_language(values, spec)
            .into_iter()
            .map(|term| {
                let mut json = Vec::new();
                let written = match scalar.kind {
                    ScalarKind::Scalar(kind) => {
                        write_scalar(&mut json, kind, term, self.execution.numbers)
                    }
                    ScalarKind::Enum(id) => write_enum(&mut json, &self.schema()[id], term),
                };
                if !written {
                    return ill_typed(vec![SortValue::Missing], term);
                }
                Candidate {
                    sort: vec![scalar_sort(scalar.kind, term)],
                    json: Some(json),
                    identity: None,
                    term: String::new(),
                }
            })
            .collect()
    }

    fn list(
        &mut self,
        field: &'a ResponseField,
        list: &ListOutput,
        candidates: Vec<Candidate>,
    ) -> WriteResult {
        if candidates.is_empty() {
            return self.empty_list();
        }
        self.check_page(candidates.len())?;
        self.answer.out.push(b'[');
        for (index, candidate) in candidates.into_iter().enumerate() {
            if index > 0 {
                self.answer.out.push(b',');
            }
            match candidate.json {
                Some(json) => self.answer.out.extend_from_slice(&json),
                None => {
                    self.answer.enter(PathStep::Index(index));
                    self.ill_typed(field, &candidate.term);
                    self.answer.leave();
                    let mark = self.answer.mark();
                    self.answer.null_from(mark, list.non_null_elements)?;
                }
            }
        }
        self.answer.out.push(b']');
        Ok(())
    }

    pub(super) fn literal(
        &mut self,
        field: &'a ResponseField,
        out: &LiteralOutput,
        values: &[Term],
    ) -> WriteResult {
        let mut candidates = self.literal_candidates(
            out,
            values,
            out.lang.as_ref().or(Some(LangSpec::any())),
            &[],
        );
        drop_equal(&mut candidates);
        smallest_first(&mut candidates);
        self.first(field, candidates);
        Ok(())
    }

    pub(super) fn literals(
        &mut self,
        field: &'a ResponseField,
        out: &LiteralOutput,
        list: &ListOutput,
        values: &[Term],
    ) -> WriteResult {
        let mut candidates = self.literal_candidates(out, values, out.lang.as_ref(), &list.order);
        drop_equal(&mut candidates);
        sort_and_cut(&mut candidates, list);
        self.list(field, list, candidates)
    }

    fn literal_candidates(
        &self,
        out: &LiteralOutput,
        values: &[Term],
        spec: Option<&LangSpec>,
        order: &[(LiteralKey, bool)],
    ) -> Vec<Candidate> {
        self.of_language(values, spec)
            .into_iter()
            .map(|term| match term {
                Term::Literal(literal) if out.types.accepts(literal) => {
                    let tag = literal.language().unwrap_or_default().to_ascii_lowercase();
                    let identity = format!("{}\0{tag}\0{}", literal.datatype(), literal.value());
                    Candidate {
                        sort: literal_sort(order, term),
                        json: Some(literal_object(out, literal)),
                        identity: Some(identity),
                        term: String::new(),
                    }
                }
                _ => ill_typed(vec![SortValue::Missing; order.len() + 3], term),
            })
            .collect()
    }
}

/// Returns the stored values of a scalar field, cast where the schema asks for it.
pub(super) fn scalar_values<'d>(scalar: &ScalarOutput, values: Values<'d>) -> Cow<'d, [Term]> {
    let values = values.of(scalar.slot);
    if !scalar.cast {
        return Cow::Borrowed(values);
    }
    let cast_to = match scalar.kind {
        ScalarKind::Scalar(scalar) => scalar,
        ScalarKind::Enum(_) => Scalar::String,
    };
    let values = values.iter().filter_map(|value| cast(cast_to, value));
    Cow::Owned(values.map(Cow::into_owned).collect())
}

/// Returns a value that does not fit: it is shown as null, and sorts as what is missing.
fn ill_typed(sort: Vec<SortValue>, term: &Term) -> Candidate {
    Candidate {
        sort,
        json: None,
        identity: Some(ill_typed_identity(term)),
        term: term.to_string(),
    }
}

fn literal_object(output: &LiteralOutput, literal: &Literal) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (position, field) in output.fields.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_string(&mut out, &field.key);
        out.push(b':');
        match (field.part, literal.language()) {
            (LiteralPart::Value, _) => write_string(&mut out, literal.value()),
            (LiteralPart::Lang, Some(tag)) => write_string(&mut out, &bcp47_case(tag)),
            (LiteralPart::Type, None) => write_string(&mut out, literal.datatype().as_str()),
            (LiteralPart::TypeName, _) => write_string(&mut out, "Literal"),
            (LiteralPart::Lang, None) | (LiteralPart::Type, Some(_)) => {
                out.extend_from_slice(b"null");
            }
        }
    }
    out.push(b'}');
    out
}

/// Writes a language tag in the case that BCP 47 recommends: `zh-Hant-TW`.
fn bcp47_case(tag: &str) -> String {
    let mut out = String::with_capacity(tag.len());
    let mut after_singleton = false;
    for (position, part) in tag.split('-').enumerate() {
        if position > 0 {
            out.push('-');
        }
        let lower = part.to_ascii_lowercase();
        match (position, part.len(), after_singleton) {
            (1.., 2, false) => out.push_str(&lower.to_ascii_uppercase()),
            (1.., 4, false) => {
                out.push_str(&lower[..1].to_ascii_uppercase());
                out.push_str(&lower[1..]);
            }
            _ => out.push_str(&lower),
        }
        after_singleton = part.len() == 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::bcp47_case;

    #[test]
    fn tags_are_written_as_recommended() {
        for (tag, expected) in [
            ("EN", "en"),
            ("en-us", "en-US"),
            ("zh-hant-tw", "zh-Hant-TW"),
            ("de-x-ab", "de-x-ab"),
            ("zh-classical", "zh-classical"),
        ] {
            assert_eq!(bcp47_case(tag), expected);
        }
    }
}
