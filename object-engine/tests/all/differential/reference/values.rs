//! Fields whose values are scalars and literals.

use oxrdf::{Literal, Term};
use serde_json::{Value, json};
use soml_core::datatype::Scalar;
use soml_core::schema::{LiteralRange, ObjectId, Property, Range};

use super::cast::cast;
use super::document::{Field, Val};
use super::fields::{Kind, listed, literal, single_literal, single_scalar, wanted};
use super::filter::Filter;
use super::graph::iri_of;
use super::interpret::{Bubble, Interpreter, Out, Scope, Segment, or_null, says_nothing};
use super::lang::shown_tag;
use super::literal::{self as literals, datatype};
use super::order::{OrderKey, compare, configured, literal_parts, name_spec};
use super::scalar::Shown;

impl<'d> Interpreter<'d> {
    pub(super) fn types(
        &mut self,
        field: &Field<'d>,
        object: ObjectId,
        node: &str,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let mut types = scope
            .triples
            .objects(node, &self.model.object(object).type_prop);
        if let Some(ids) = self.document.argument(field, "ID") {
            let model = self.model;
            let classes: Vec<&str> = ids
                .items()
                .iter()
                .flat_map(|id| model.classes(id.text()))
                .collect();
            types.retain(|ty| {
                let is = |id: &Val| iri_of(ty) == Some(id.text());
                let listed = ids.items().iter().any(is);
                listed || iri_of(ty).is_some_and(|ty| classes.contains(&ty))
            });
        }
        if let Some(condition) = self.filter_argument(field, "where") {
            let filter = Filter {
                model: self.model,
                triples: scope.triples,
            };
            types.retain(|ty| filter.class(ty, &condition));
        }
        let kind = Kind::Scalar(Scalar::Iri);
        self.listed_scalars(field, kind, types, false, scope)
    }

    pub(super) fn name(
        &mut self,
        field: &Field<'d>,
        object: ObjectId,
        node: &str,
        scope: Scope<'_>,
    ) -> Out {
        let schema = self.model.schema;
        let given = self.lang_argument(field);
        let spec = name_spec(schema, given.as_ref().or(scope.lang));
        let property = self.model.object(object).name_property.expect("nameable");
        let values = scope.triples.values(node, &schema[property].path);
        let kind = Kind::Scalar(Scalar::String);
        let chosen = single_scalar(schema, kind, &values, Some(&spec), self.accepted);
        self.report(field, chosen.several, chosen.ill_typed);
        Out::Leaf(chosen.value.map_or(Value::Null, |shown| shown.json))
    }

    /// What a field shows of its values that are no objects, each as a text that only equal values
    /// share.
    pub(super) fn texts_of(
        &self,
        property: &Property,
        node: &str,
        scope: Scope<'_>,
    ) -> Vec<String> {
        let schema = self.model.schema;
        let values = cast(property, scope.triples.values(node, &property.path));
        let fetch = property
            .lang
            .fetch
            .as_ref()
            .or(schema.config.lang.fetch.as_ref());
        let fetch = configured(fetch);
        let lang = scope.lang.or(fetch.as_ref());
        let multiple = property.max.is_multiple();
        if let Range::Literal(range) = property.range {
            let fits = |term: &Term| literal(schema, range, term).is_some();
            let shown: Vec<Option<Literal>> = if multiple {
                let terms = wanted(&values, lang, self.accepted, fits);
                let shown = terms.iter().map(|term| literal(schema, range, term));
                listed(shown.collect(), |a, b| a == b)
            } else {
                vec![single_literal(schema, range, &values, lang, self.accepted).value]
            };
            let text = |literal: Literal| literal.to_string();
            return shown.into_iter().flatten().map(text).collect();
        }
        let kind = Kind::of(property.range).expect("a scalar");
        let shown: Vec<Option<Shown>> = if multiple {
            let terms = match kind {
                Kind::Scalar(Scalar::String) => wanted(&values, lang, self.accepted, |_| true),
                _ => values,
            };
            let shown = terms.iter().map(|term| kind.shown(schema, term));
            listed(shown.collect(), Shown::same)
        } else {
            vec![single_scalar(schema, kind, &values, lang, self.accepted).value]
        };
        let text = |shown: Shown| shown.json.to_string();
        shown.into_iter().flatten().map(text).collect()
    }

    /// Lists without values are null where the schema says so.
    pub(super) fn without_empty(&self, list: Out) -> Out {
        let nulls = self.model.schema.config.null_json_arrays == Some(true);
        match list {
            Out::List { items, .. } if items.is_empty() && nulls => Out::Leaf(Value::Null),
            list => list,
        }
    }

    pub(super) fn scalars(
        &mut self,
        field: &Field<'d>,
        kind: Kind,
        mut values: Vec<Term>,
        non_null: bool,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        if let Some(condition) = self.filter_argument(field, "where") {
            let filter = Filter {
                model: self.model,
                triples: scope.triples,
            };
            values.retain(|value| match kind {
                Kind::Scalar(scalar) => filter.scalar(scalar, value, &condition),
                Kind::Enum(_) => filter.enumerated(value, &condition),
            });
        }
        self.listed_scalars(field, kind, values, non_null, scope)
    }

    /// A list of scalars that passed its filter.
    fn listed_scalars(
        &mut self,
        field: &Field<'d>,
        kind: Kind,
        mut values: Vec<Term>,
        non_null: bool,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let schema = self.model.schema;
        if kind == Kind::Scalar(Scalar::String) {
            values = wanted(&values, scope.lang, self.accepted, |_| true);
        }
        let shown = values
            .iter()
            .map(|value| kind.shown(schema, value))
            .collect();
        let mut shown = listed(shown, Shown::same);
        let ordered = self.is_ordered(field);
        if ordered {
            let by = self.document.argument(field, "orderBy");
            let descending = by.is_some_and(|by| by.text() == "DESC");
            shown.sort_by(|a, b| {
                let order = missing_first(a.as_ref(), b.as_ref(), |a, b| a.key.compare(&b.key));
                let order = if descending { order.reverse() } else { order };
                let text = |shown: &Option<Shown>| shown.as_ref().map(|s| s.json.to_string());
                order.then_with(|| text(a).cmp(&text(b)))
            });
        }
        let items = self.page(field, shown);
        self.values(items, non_null, ordered, |shown| Out::Leaf(shown.json))
    }

    pub(super) fn literals_of(
        &mut self,
        field: &Field<'d>,
        property: &Property,
        range: LiteralRange,
        mut values: Vec<Term>,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let schema = self.model.schema;
        let filter = Filter {
            model: self.model,
            triples: scope.triples,
        };
        if let Some(condition) = self.filter_argument(field, "where")
            && !says_nothing(&condition)
        {
            values.retain(|value| filter.literal(value, &condition));
        }
        if let Some(condition) = self.filter_argument(field, "value")
            && !says_nothing(&condition)
        {
            values.retain(|value| filter.literal_text(value, &condition));
        }
        let fetch = property
            .lang
            .fetch
            .as_ref()
            .or(schema.config.lang.fetch.as_ref());
        let fetch = configured(fetch);
        let lang = scope.lang.or(fetch.as_ref());
        let selections = field.selections();
        let fields = self.document.collect(self.model, None, &selections);
        let members = |literal: &Literal| literal_members(&fields, literal);
        if !property.max.is_multiple() {
            let chosen = single_literal(schema, range, &values, lang, self.accepted);
            self.report(field, chosen.several, chosen.ill_typed);
            return Ok(chosen
                .value
                .as_ref()
                .map_or(Out::Leaf(Value::Null), members));
        }
        let fits = |term: &Term| literal(schema, range, term).is_some();
        let terms = wanted(&values, lang, self.accepted, fits);
        let shown = terms
            .iter()
            .map(|term| literal(schema, range, term))
            .collect();
        let mut shown = listed(shown, |a, b| a == b);
        let ordered = self.is_ordered(field);
        if ordered {
            let by = self.document.argument(field, "orderBy");
            let keys = |literal: &Option<Literal>| {
                let mut keys: Vec<OrderKey> = Vec::new();
                if let Some(by) = &by {
                    literal_parts(literal.as_ref(), by, &mut keys);
                }
                keys
            };
            shown.sort_by(|a, b| {
                let order = compare(&keys(a), &keys(b));
                order.then_with(|| missing_first(a.as_ref(), b.as_ref(), literals::compare))
            });
        }
        let items = self.page(field, shown);
        self.values(items, property.non_nullable_elements, ordered, |l| {
            members(&l)
        })
    }

    /// A list of values, null and an error for each that does not fit.
    fn values<T>(
        &mut self,
        values: Vec<Option<T>>,
        non_null: bool,
        ordered: bool,
        out: impl Fn(T) -> Out,
    ) -> Result<Out, Bubble> {
        let mut items = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let Some(value) = value else {
                self.path.push(Segment::Index(index));
                self.fault("VALUE_ILL_TYPED");
                self.path.pop();
                items.push(or_null(Err(Bubble), non_null)?);
                continue;
            };
            items.push(out(value));
        }
        Ok(self.without_empty(Out::List { items, ordered }))
    }
}

fn missing_first<T>(
    a: Option<&T>,
    b: Option<&T>,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> std::cmp::Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare(a, b),
        _ => a.is_some().cmp(&b.is_some()),
    }
}

fn literal_members(fields: &[Field<'_>], literal: &Literal) -> Out {
    let member = |field: &Field<'_>| {
        let value = match field.name() {
            "value" => json!(literal.value()),
            "lang" => json!(literal.language().map(shown_tag)),
            "type" => json!(datatype(literal)),
            _ => json!("Literal"),
        };
        (field.key.clone(), Out::Leaf(value))
    };
    Out::Object(fields.iter().map(member).collect())
}
