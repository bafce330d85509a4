//! Writes the values of fields that are not objects: scalars, enum values and literals.

use graph_store::query::{TermSlice, TermView, WholeTerm};
use graph_store::value::{
    AsTerm, Choice, Languages, SortValue, bcp47_case, cast_name_ref, cast_ref, is_text, write_enum,
    write_joined, write_scalar,
};
use graphql_service::writer::{PathStep, WriteResult, write_string};
use oxrdf::{LiteralRef, TermRef};
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
    ValueOrder,
};

impl<'a> Writer<'a> {
    /// Returns how many values a list field would return.
    pub(super) fn value_count(&self, counted: &Output, values: Values<'_>) -> usize {
        let mut candidates = match counted {
            Output::Scalar(scalar) => {
                self.listed(scalar, &scalar_values(scalar, values.of(scalar.slot)))
            }
            Output::Literal(literal) => {
                self.listed_literals(literal, &whole_terms(values.of(literal.slot)), &[])
            }
            _ => Vec::new(),
        };
        drop_equal(&mut candidates);
        candidates.len()
    }

    fn write_value(&mut self, kind: ScalarKind, value: TermView<'_>) -> bool {
        if let (ScalarKind::Scalar(Scalar::Iri), TermView::Iri { .. }) = (kind, value) {
            write_iri(&mut self.answer.out, value);
            return true;
        }
        let whole = value.whole();
        let term = whole.as_term();
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

    /// Writes the only value of a field without a copy; returns whether it is one that can be shown.
    pub(super) fn only_value(&mut self, scalar: &ScalarOutput, values: TermSlice<'_>) -> bool {
        let single = values.single().filter(|_| !scalar.cast);
        single.is_some_and(|single| {
            self.is_wanted(scalar, single) && self.write_value(scalar.kind, single)
        })
    }

    pub(super) fn scalar(
        &mut self,
        field: &'a ResponseField,
        scalar: &ScalarOutput,
        values: TermSlice<'_>,
    ) -> WriteResult {
        if values.is_empty() {
            self.answer.out.extend_from_slice(b"null");
            return Ok(());
        }
        let values = scalar_values(scalar, values);
        let choice = self.choice(scalar, &values);
        let mut candidates = self.candidates(scalar, choice.chosen);
        smallest_first(&mut candidates);
        candidates.extend(self.candidates(scalar, choice.others));
        drop_equal(&mut candidates);
        self.first(field, candidates);
        Ok(())
    }

    /// Returns whether the language specification accepts the only value.
    fn is_wanted(&self, scalar: &ScalarOutput, value: TermView<'_>) -> bool {
        scalar.lang.is_none() || !self.choice(scalar, &[value.whole()]).chosen.is_empty()
    }

    /// Returns the values among which a single scalar field decides.
    fn choice<'v, 't>(
        &self,
        scalar: &ScalarOutput,
        values: &'v [WholeTerm<'t>],
    ) -> Choice<'v, WholeTerm<'t>> {
        match scalar.kind {
            ScalarKind::Scalar(Scalar::String) => self
                .languages(scalar.lang.as_ref())
                .single(values, fits_text),
            _ => Choice::all(values),
        }
    }

    fn languages<'s>(&'s self, spec: Option<&'s LangSpec>) -> Languages<'s> {
        Languages {
            spec,
            accepted: &self.execution.context.accept_language,
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
        values: TermSlice<'_>,
    ) -> WriteResult {
        let mut candidates = self.listed(scalar, &scalar_values(scalar, values));
        drop_equal(&mut candidates);
        sort_and_cut(&mut candidates, list);
        self.list(field, list, candidates)
    }

    /// Returns the values that a list of scalars shows.
    fn listed(&self, scalar: &ScalarOutput, values: &[WholeTerm<'_>]) -> Vec<Candidate> {
        let languages = self.languages(scalar.lang.as_ref());
        self.candidates(scalar, languages.list(values, fits_text))
    }

    fn candidates(&self, scalar: &ScalarOutput, values: Vec<&WholeTerm<'_>>) -> Vec<Candidate> {
        values
            .into_iter()
            .map(|value| {
                let term = value.as_term();
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
            self.answer.check_size()?;
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
        values: TermSlice<'_>,
    ) -> WriteResult {
        let values = whole_terms(values);
        let languages = self.languages(out.lang.as_ref());
        let choice = languages.single(&values, |term| fits_literal(out, term));
        let mut candidates = literal_candidates(out, choice.chosen, &[]);
        smallest_first(&mut candidates);
        candidates.extend(literal_candidates(out, choice.others, &[]));
        drop_equal(&mut candidates);
        self.first(field, candidates);
        Ok(())
    }

    pub(super) fn literals(
        &mut self,
        field: &'a ResponseField,
        out: &LiteralOutput,
        list: &ListOutput,
        values: TermSlice<'_>,
    ) -> WriteResult {
        let mut candidates = self.listed_literals(out, &whole_terms(values), &list.order);
        drop_equal(&mut candidates);
        sort_and_cut(&mut candidates, list);
        self.list(field, list, candidates)
    }

    /// Returns the literals that a list shows.
    fn listed_literals(
        &self,
        out: &LiteralOutput,
        values: &[WholeTerm<'_>],
        order: &[ValueOrder],
    ) -> Vec<Candidate> {
        let languages = self.languages(out.lang.as_ref());
        let listed = languages.list(values, |term| fits_literal(out, term));
        literal_candidates(out, listed, order)
    }
}

fn literal_candidates(
    out: &LiteralOutput,
    values: Vec<&WholeTerm<'_>>,
    order: &[ValueOrder],
) -> Vec<Candidate> {
    let terms = values.into_iter().map(AsTerm::as_term);
    let candidates = terms.map(|term| match term {
        TermRef::Literal(literal) if out.types.accepts(literal) => {
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
    });
    candidates.collect()
}

fn fits_text(term: &WholeTerm<'_>) -> bool {
    matches!(term.as_term(), TermRef::Literal(literal) if is_text(literal))
}

fn fits_literal(out: &LiteralOutput, term: &WholeTerm<'_>) -> bool {
    matches!(term.as_term(), TermRef::Literal(literal) if out.types.accepts(literal))
}

fn whole_terms(values: TermSlice<'_>) -> Vec<WholeTerm<'_>> {
    values.iter().map(TermView::whole).collect()
}

/// Returns the stored values of a scalar field, cast where the schema asks for it.
fn scalar_values<'d>(scalar: &ScalarOutput, values: TermSlice<'d>) -> Vec<WholeTerm<'d>> {
    let values = values.iter().map(TermView::whole);
    if !scalar.cast {
        return values.collect();
    }
    values
        .filter_map(|value| cast_to(scalar.kind, value))
        .collect()
}

fn cast_to(kind: ScalarKind, value: WholeTerm<'_>) -> Option<WholeTerm<'_>> {
    let term = match value {
        // An IRI is one of the scalar of IRIs alone.
        WholeTerm::Joined(_) => {
            return matches!(kind, ScalarKind::Scalar(Scalar::Iri)).then_some(value);
        }
        WholeTerm::Borrowed(term) => term,
    };
    let cast = match kind {
        ScalarKind::Scalar(scalar) => cast_ref(scalar, term),
        ScalarKind::Enum(_) => cast_name_ref(term),
    };
    cast.map(WholeTerm::Borrowed)
}

/// Writes an IRI in quotes, straight from where it lies.
pub(super) fn write_iri(out: &mut Vec<u8>, iri: TermView<'_>) {
    let TermView::Iri { prefix, rest } = iri else {
        unreachable!("the caller has an IRI");
    };
    write_joined(out, [prefix, rest]);
}

/// Returns an ill-typed value: displayed as null, and sorted as a missing value.
fn ill_typed(sort: Vec<SortValue>, term: TermRef<'_>) -> Candidate {
    Candidate {
        sort,
        json: None,
        identity: Some(ill_typed_identity(term)),
        term: term.to_string(),
    }
}

fn literal_object(output: &LiteralOutput, literal: LiteralRef<'_>) -> Vec<u8> {
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
