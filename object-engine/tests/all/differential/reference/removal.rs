//! Which fields of a document its sender may not read, and which requests are refused for that.

use std::collections::HashSet;

use apollo_compiler::ast;
use soml_core::schema::{ObjectId, Range};

use super::declared::{Declared, declared};
use super::document::{Document, Field, Selections, Val};
use super::model::{FieldMeaning, Model, RootKind, Ty};

/// The error that says that a field is left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Removal {
    pub(crate) message: String,
    pub(crate) path: Vec<String>,
}

/// Goes through a document, field by field and type by type.
pub(super) struct Remover<'d> {
    document: &'d Document<'d>,
    model: &'d Model<'d>,
    path: Vec<String>,
    /// Fields that are reported, of the objects of one type or of all.
    reported: HashSet<(*const ast::Field, Option<ObjectId>)>,
    declared: Option<Declared>,
    pub(super) removals: Vec<Removal>,
    /// Codes of which the request is refused with some: something filters or sorts by what may not be
    /// read, or a filter holds a null.
    pub(super) refusals: Vec<&'static str>,
}

impl<'d> Remover<'d> {
    pub(super) fn new(document: &'d Document<'d>, model: &'d Model<'d>) -> Self {
        Remover {
            document,
            model,
            path: Vec::new(),
            reported: HashSet::new(),
            declared: None,
            removals: Vec::new(),
            refusals: Vec::new(),
        }
    }

    /// Goes through the root fields.
    pub(super) fn query(&mut self) {
        if self.model.rights.is_everything() {
            return;
        }
        let selections = self.document.operation.selection_set.iter().collect();
        for field in self.document.collect(self.model, None, &selections) {
            self.within(&field, |this| this.omits_root(&field));
        }
    }

    /// Returns whether a root field is left out.
    pub(super) fn omits_root(&mut self, field: &Field<'d>) -> bool {
        if field.name() == "_entities" {
            return self.omits_entities(field);
        }
        let Some((ty, kind)) = self.model.root(field.name()) else {
            return false;
        };
        if self.seen(ty).is_empty() {
            return self.report(field, None);
        }
        self.arguments(ty, field);
        let selections = field.selections();
        match kind {
            RootKind::Count => false,
            RootKind::Objects => self.empties(ty, &selections),
            RootKind::Connection => {
                self.empties_all(&selections, |this, part| this.omits_part(ty, part))
            }
            RootKind::Aggregate => {
                self.empties_all(&selections, |this, part| this.omits_measures(ty, part))
            }
        }
    }

    /// Returns whether `_entities` is left out: an object is found by its id, which must be readable.
    pub(super) fn omits_entities(&mut self, field: &Field<'d>) -> bool {
        let mut types: Vec<Ty> = Vec::new();
        for (ty, _) in self.document.representations(self.model, field) {
            if !self.reads_some(ty, "id") {
                self.report_entities(ty, &field.selections());
            } else if !types.contains(&ty) {
                types.push(ty);
            }
        }
        // All are asked, since each reports what it leaves out.
        let empties = types
            .iter()
            .map(|ty| self.empties(*ty, &field.selections()));
        let empties: Vec<bool> = empties.collect();
        empties.into_iter().all(|is_empty| is_empty)
    }

    /// Reports each field of entities that are not shown; their names only where nothing else is asked for.
    fn report_entities(&mut self, ty: Ty, selections: &Selections<'d>) {
        for object in self.model.possible(ty) {
            let fields = self.document.collect(self.model, Some(object), selections);
            let names_only = fields.iter().all(|field| field.name() == "__typename");
            for field in &fields {
                if names_only || field.name() != "__typename" {
                    self.within(field, |this| this.report(field, None));
                }
            }
        }
    }

    /// Returns whether a part of a connection is left out; cursors are where some id may not be read.
    pub(super) fn omits_part(&mut self, ty: Ty, part: &Field<'d>) -> bool {
        match part.name() {
            "nodes" | "node" => self.empties(ty, &part.selections()),
            "edges" | "pageInfo" => {
                self.empties_all(&part.selections(), |this, part| this.omits_part(ty, part))
            }
            "cursor" | "startCursor" | "endCursor" if !self.reads_all(ty, "id") => {
                self.report(part, None)
            }
            _ => false,
        }
    }

    /// Returns whether the measures of a property are left out.
    pub(super) fn omits_measures(&mut self, ty: Ty, part: &Field<'d>) -> bool {
        let is_readable =
            ["count", "__typename"].contains(&part.name()) || self.reads_some(ty, part.name());
        !is_readable && self.report(part, None)
    }

    /// Returns whether a field of a concrete object is left out.
    pub(super) fn omits(&mut self, object: ObjectId, field: &Field<'d>) -> bool {
        if !self.model.reads(object, field.name()) {
            return true;
        }
        let Some(ty) = self.leads(Ty::Concrete(object), field.name()) else {
            return false;
        };
        if self.seen(ty).is_empty() {
            return self.report(field, None);
        }
        // The arguments of what is left out are not looked at.
        let empties = !field.selections().is_empty() && self.empties(ty, &field.selections());
        if !empties {
            self.arguments(ty, field);
        }
        empties
    }

    /// Returns whether of a selection on objects of a type nothing remains but `__typename`. A field
    /// that may be read of none of them is reported of the type it was asked of, else of each.
    fn empties(&mut self, ty: Ty, selections: &Selections<'d>) -> bool {
        let (mut some_left, mut some_removed) = (false, false);
        let mut asked: Vec<(Field<'d>, Vec<ObjectId>, Vec<ObjectId>)> = Vec::new();
        for object in self.seen(ty) {
            for field in self.document.collect(self.model, Some(object), selections) {
                let omitted = self.within(&field, |this| this.omits(object, &field));
                some_removed |= omitted;
                some_left |= !omitted && field.name() != "__typename";
                let denied = !self.model.reads(object, field.name());
                let same = |other: &Field<'d>| std::ptr::eq(other.nodes[0], field.nodes[0]);
                let known = asked.iter().position(|(other, ..)| same(other));
                let known = known.unwrap_or_else(|| {
                    asked.push((field, Vec::new(), Vec::new()));
                    asked.len() - 1
                });
                asked[known].1.push(object);
                asked[known].2.extend(denied.then_some(object));
            }
        }
        for (field, of, denied) in asked {
            let alike = of.len() == denied.len();
            self.within(&field, |this| {
                for object in denied {
                    this.report(&field, (!alike).then_some(object));
                }
                true
            });
        }
        some_removed && !some_left
    }

    fn empties_all(
        &mut self,
        selections: &Selections<'d>,
        omits: impl Fn(&mut Self, &Field<'d>) -> bool,
    ) -> bool {
        let (mut some_left, mut some_removed) = (false, false);
        for part in self.document.collect(self.model, None, selections) {
            let omitted = self.within(&part, |this| omits(this, &part));
            some_removed |= omitted;
            some_left |= !omitted && part.name() != "__typename";
        }
        some_removed && !some_left
    }

    fn within(&mut self, field: &Field<'d>, omits: impl FnOnce(&mut Self) -> bool) -> bool {
        self.path.push(field.key.clone());
        let omitted = omits(self);
        self.path.pop();
        omitted
    }

    /// Says that a field is left out, of the objects of a type or of all; always true.
    fn report(&mut self, field: &Field<'d>, of: Option<ObjectId>) -> bool {
        let node = std::ptr::from_ref(&**field.nodes[0]);
        if !self.reported.insert((node, of)) {
            return true;
        }
        let (document, model) = (self.document, self.model);
        let types = self
            .declared
            .get_or_insert_with(|| declared(document, model));
        let ty = match of {
            Some(object) => &model.object(object).name.graphql,
            None => &types[&node],
        };
        let message = format!(
            "WARN: Field '{}' from type '{ty}' is removed as selection due to being queried \
             without permissions, roles=[{}]",
            field.name(),
            model.rights.roles()
        );
        let path = self.path.clone();
        self.removals.push(Removal { message, path });
        true
    }

    /// The concrete objects of a type that are shown.
    fn seen(&self, ty: Ty) -> Vec<ObjectId> {
        let mut possible = self.model.possible(ty);
        possible.retain(|object| self.model.sees(*object));
        possible
    }

    fn reads_some(&self, ty: Ty, field: &str) -> bool {
        let mut seen = self.seen(ty).into_iter();
        seen.any(|object| self.model.reads(object, field))
    }

    fn reads_all(&self, ty: Ty, field: &str) -> bool {
        let mut seen = self.seen(ty).into_iter();
        seen.all(|object| self.model.reads(object, field))
    }

    /// Looks into the arguments of a list of objects.
    fn arguments(&mut self, ty: Ty, field: &Field<'d>) {
        let argument = |name| self.document.argument(field, name);
        let filtered = argument("where");
        if filtered.as_ref().is_some_and(Val::has_null_key) {
            self.refusals.push("NULL_OPERAND");
        }
        let filtered = filtered.filter(|filter| !filter.has_null_key());
        let is_denied = argument("ID").is_some() && !self.reads_some(ty, "id")
            || filtered.is_some_and(|filter| self.filters(ty, &filter))
            || argument("orderBy").is_some_and(|order| self.sorts(ty, &order, false));
        self.refusals.extend(is_denied.then_some("ACCESS_DENIED"));
    }

    /// Returns whether a condition speaks of what may not be read of any object.
    fn filters(&self, ty: Ty, filter: &Val) -> bool {
        filter.keys().iter().any(|(key, operand)| {
            let inner = |ty| operand.items().iter().any(|item| self.filters(ty, item));
            if let Some(narrow) = key.strip_prefix("_if") {
                let narrow = match self.model.type_named(narrow).expect("a type") {
                    Ty::Concrete(id) => self.model.range(id),
                    ty => ty,
                };
                return self.seen(narrow).is_empty() || inner(narrow);
            }
            match key.as_str() {
                "AND" | "OR" | "NOT" | "ALL" | "ALL_EXISTS" => inner(ty),
                "ID" => !self.reads_some(ty, "id"),
                key => {
                    let next = self.leads(ty, key);
                    !self.reads_some(ty, key)
                        || next.is_some_and(|ty| self.seen(ty).is_empty() || inner(ty))
                }
            }
        })
    }

    /// Returns whether an order needs what may not be read of any object; by `id` and by type name,
    /// whether there is one of which it may not be read.
    fn sorts(&self, ty: Ty, order: &Val, behind: bool) -> bool {
        let keys = order.keys().iter();
        let mut given = keys.filter(|(_, direction)| *direction != Val::Null);
        let hides = behind && self.seen(ty).len() < self.model.possible(ty).len();
        given.any(|(key, direction)| match key.as_str() {
            "_typename" => hides || !self.reads_all(ty, "__typename"),
            "id" => hides || !self.reads_all(ty, "id"),
            key => {
                let next = self.leads(ty, key);
                let sorts = |ty| self.seen(ty).is_empty() || self.sorts(ty, direction, true);
                !self.reads_some(ty, key) || next.is_some_and(sorts)
            }
        })
    }

    /// The type of the objects that a field of a type leads to.
    fn leads(&self, ty: Ty, field: &str) -> Option<Ty> {
        match self.model.field(ty, field)? {
            FieldMeaning::Property(id) | FieldMeaning::Count(id) => {
                match self.model.schema[id].range {
                    Range::Object(object) => Some(self.model.range(object)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
