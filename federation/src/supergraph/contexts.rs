//! Arguments from contexts: `contextArguments` of `@join__field`, and the types that `@context` names.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use apollo_compiler::ast::{self, Directive, Value};
use apollo_compiler::schema::FieldDefinition;
use apollo_compiler::{Name, Node};
use indexmap::IndexSet;

use super::field_set::{FieldSet, Selected};
use super::join;
use super::model::{ContextArgument, FieldId, SubgraphId, TypeId, TypeKind};
use super::read::Reader;
use crate::code;

/// Scalars that every schema has, also where no field is of them.
const BUILT_IN: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];

/// What is taken from the types that have a context, by the context, the text, and the type of the value.
pub(super) type Sources = HashMap<(String, String, Name), Read>;

/// What is taken from each type; else a type of which that cannot be taken, and why.
type Read = Result<Arc<[(TypeId, FieldSet)]>, (Name, String)>;

/// The object types that have each context, ascending.
pub(super) type Contexts = HashMap<String, Vec<TypeId>>;

impl Reader<'_> {
    /// Reads which object types have which contexts: what has the context of an interface or a union are its
    /// objects.
    pub(super) fn contexts(&mut self) {
        for ty in &self.types {
            for directive in self.schema.types[&ty.name].directives().get_all("context") {
                let name = join::text(directive, "name").unwrap_or_default();
                let known = self.contexts.entry(name.to_owned()).or_default();
                known.extend(&ty.possible);
            }
        }
        for types in self.contexts.values_mut() {
            types.sort_unstable();
            types.dedup();
        }
    }

    /// Reads the arguments of a field in a subgraph that take their values from contexts.
    pub(super) fn context_arguments(
        &mut self,
        parent: TypeId,
        definition: &FieldDefinition,
        directive: &Directive,
        subgraph: SubgraphId,
    ) -> Vec<ContextArgument> {
        let given = join::list(directive, "contextArguments");
        if given.is_empty() {
            return Vec::new();
        }
        let ty = &self.types[parent.index()];
        let place = format!("{}.{}", ty.name, definition.name);
        if ty.kind == TypeKind::Interface {
            let message =
                format!("`@fromContext` on `{place}`, a field of an interface, is not supported");
            self.refuse(code::UNSUPPORTED_FEATURE, message, given[0].location());
            return Vec::new();
        }
        let keys = ty.join(subgraph).into_iter().flat_map(|join| &join.keys);
        if keys.filter(|key| key.is_resolvable).count() == 0 {
            let message = format!(
                "`{place}` takes arguments from contexts, but `{}` has no key there that resolves \
                 it",
                ty.name
            );
            self.wrong(message, given[0].location());
        }
        let arguments = given.iter();
        arguments
            .filter_map(|item| self.context_argument(&place, definition, item))
            .collect()
    }

    fn context_argument(
        &mut self,
        place: &str,
        definition: &FieldDefinition,
        item: &Node<Value>,
    ) -> Option<ContextArgument> {
        let span = item.location();
        let member = |name: &str| {
            let mut members = item.as_object()?.iter().filter(|(known, _)| *known == name);
            members.next()?.1.as_str()
        };
        let (Some(name), Some(ty), Some(context), Some(selection)) = (
            member("name").and_then(|name| Name::new(name).ok()),
            member("type"),
            member("context"),
            member("selection"),
        ) else {
            let message = format!(
                "an argument of `{place}` from a context has no `name`, `type`, `context` or `selection`"
            );
            self.wrong(message, span);
            return None;
        };
        let place = format!("{place}({name}:)");
        if definition.argument_by_name(&name).is_some() {
            self.wrong(format!("`{place}` is an argument for clients too"), span);
            return None;
        }
        let Some(ty) = join::field_type(ty).filter(|ty| self.is_known(ty)) else {
            self.wrong(format!("the type `{ty}` of `{place}` is not known"), span);
            return None;
        };
        if !self.contexts.contains_key(context) {
            let message = format!("no type has the context `{context}` of `{place}`");
            self.wrong(message, span);
            return None;
        }
        match self.sources(context, selection, ty.inner_named_type()) {
            Ok(sources) => Some(ContextArgument { name, ty, sources }),
            Err((source, reason)) => {
                let message =
                    format!("the selection \"{selection}\" of `{place}` on `{source}`: {reason}");
                self.wrong(message, span);
                None
            }
        }
    }

    fn is_known(&self, ty: &ast::Type) -> bool {
        let name = ty.inner_named_type();
        BUILT_IN.contains(&name.as_str()) || self.schema.types.contains_key(name)
    }

    /// Reads what is taken from the types that have a context, once for all arguments that take the same.
    fn sources(&mut self, context: &str, text: &str, ty: &Name) -> Read {
        let key = (context.to_owned(), text.to_owned(), ty.clone());
        if let Some(known) = self.sources.get(&key) {
            return known.clone();
        }
        let mut sources = Vec::new();
        let types = self.contexts.get(context).into_iter().flatten();
        let read = types.copied().try_for_each(|source| {
            let name = &self.types[source.index()].name;
            let set = self
                .source(source, text, ty)
                .map_err(|reason| (name.clone(), reason))?;
            sources.extend(set.map(|set| (source, set)));
            Ok(())
        });
        let read = read.map(|()| sources.into());
        self.sources.insert(key, read.clone());
        read
    }

    /// Reads what is taken from the objects of one type; nothing where all fragments are about others.
    fn source(&self, source: TypeId, text: &str, ty: &Name) -> Result<Option<FieldSet>, String> {
        let applies = |condition: &str| {
            let condition = self.by_name.get(condition);
            let possible = condition.map(|id| &self.types[id.index()].possible);
            possible.is_some_and(|possible| possible.binary_search(&source).is_ok())
        };
        let Some(narrowed) = FieldSet::narrowed(text, &applies)? else {
            return Ok(None);
        };
        let name = &self.types[source.index()].name;
        let type_id = |name: &str| self.by_name.get(name).copied();
        let set = FieldSet::parse(self.schema, name, &narrowed, &type_id)?;
        self.one_value(name, &set, ty)?;
        Ok(Some(set))
    }

    /// Checks that a selection gives one value, which an argument of a type can have.
    fn one_value(&self, parent: &Name, set: &FieldSet, ty: &Name) -> Result<(), String> {
        let mut fields = 0;
        for selected in &set.selections {
            match selected {
                Selected::Typename => return Err("`__typename` cannot be taken".to_owned()),
                // The objects below can be of several types.
                Selected::Fragment { condition, inner } => {
                    let name = &self.types[condition.index()].name;
                    self.one_value(name, inner, ty)?;
                }
                Selected::Field { name, inner, .. } => {
                    fields += 1;
                    let field = self.schema.type_field(parent, name);
                    let field = field.map_err(|_| format!("unknown field `{name}`"))?;
                    let there = field.ty.inner_named_type();
                    if !inner.is_empty() {
                        self.one_value(there, inner, ty)?;
                    } else if there != ty {
                        return Err(format!("`{name}` is `{}`, not `{ty}`", field.ty));
                    }
                }
            }
        }
        match fields {
            0 | 1 => Ok(()),
            _ => Err("several fields are selected, but one is expected".to_owned()),
        }
    }

    /// Notes at types what is taken from their objects, and refuses what is not planned: fields with such
    /// arguments where keys, requirements and contexts ask for them.
    pub(super) fn lends(&mut self) {
        let mut contextual = HashSet::new();
        let mut lends: HashMap<TypeId, IndexSet<FieldSet>> = HashMap::new();
        let mut seen = HashSet::new();
        for (position, field) in self.fields.iter().enumerate() {
            for argument in field.joins.iter().flat_map(|join| &join.contexts) {
                contextual.insert(FieldId::new(position));
                if !seen.insert(Arc::as_ptr(&argument.sources)) {
                    continue;
                }
                for (ty, set) in &*argument.sources {
                    lends.entry(*ty).or_default().insert(set.clone());
                }
            }
        }
        for (ty, sets) in lends {
            self.types[ty.index()].lends = sets.into_iter().collect();
        }
        if contextual.is_empty() {
            return;
        }
        let mut found = Vec::new();
        for (position, ty) in self.types.iter().enumerate() {
            let keys = ty.joins.iter().flat_map(|join| &join.keys);
            let sets = keys.map(|key| &key.fields).chain(&ty.lends);
            let span = self.schema.types[&ty.name].location();
            for set in sets {
                let asked = self.asked(HashSet::from([TypeId::new(position)]), set, &contextual);
                found.extend(asked.map(|field| (field, span)));
            }
        }
        for field in &self.fields {
            let name = &self.types[field.parent.index()].name;
            let definition = self.schema.type_field(name, &field.name);
            let span = definition.ok().and_then(|it| it.location());
            for set in field.joins.iter().filter_map(|join| join.requires.as_ref()) {
                let asked = self.asked(HashSet::from([field.parent]), set, &contextual);
                found.extend(asked.map(|field| (field, span)));
            }
        }
        for (field, span) in found {
            let field = &self.fields[field.index()];
            let parent = &self.types[field.parent.index()].name;
            let message = format!(
                "`{parent}.{}` takes arguments from contexts; keys, requirements and contexts that ask for such a field are not supported",
                field.name
            );
            self.refuse(code::UNSUPPORTED_FEATURE, message, span);
        }
    }

    /// Returns a field of a set that is one of some.
    fn asked(
        &self,
        types: HashSet<TypeId>,
        set: &FieldSet,
        some: &HashSet<FieldId>,
    ) -> Option<FieldId> {
        set.selections.iter().find_map(|selected| match selected {
            Selected::Typename => None,
            Selected::Fragment { condition, inner } => {
                self.asked(HashSet::from([*condition]), inner, some)
            }
            Selected::Field { name, inner, .. } => {
                // A field of an interface is asked of its objects.
                let objects = types.iter().flat_map(|ty| &self.types[ty.index()].possible);
                let fields = types.iter().chain(objects);
                let fields: HashSet<FieldId> = fields
                    .filter_map(|ty| self.types[ty.index()].fields.get(name))
                    .copied()
                    .collect();
                if let Some(found) = fields.iter().find(|field| some.contains(field)) {
                    return Some(*found);
                }
                let below = fields.iter().map(|field| self.fields[field.index()].inner);
                self.asked(below.collect(), inner, some)
            }
        })
    }
}
