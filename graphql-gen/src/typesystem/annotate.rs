//! Writes what SOML says about objects and properties into a schema, as directives.

use apollo_compiler::ast::Directive;
use apollo_compiler::collections::{HashMap, IndexMap};
use apollo_compiler::schema::{Component, DirectiveList, ExtendedType, FieldDefinition};
use apollo_compiler::{Name, Node, Schema, name};
use soml_core::schema::{LiteralRange, Max, ObjectId, Path, Property, PropertyId, Range};

use super::api::{Field, TypeRef};
use super::directives::{self, Applied};
use super::hierarchy::index;
use super::roles::Roles;

/// Knows which object each type and which property each field stands for.
pub(super) struct Annotator<'a> {
    pub(super) soml: &'a soml_core::schema::Schema,
    pub(super) type_refs: &'a HashMap<Name, TypeRef>,
    pub(super) fields: &'a [IndexMap<Name, Field>],
}

impl Annotator<'_> {
    /// Adds `@descr`, `@nameAlias`, `@constraints` and, with roles in the document, `@hasRole`.
    pub(super) fn describe(&self, schema: &mut Schema) {
        let roles = self.roles_to_say(schema);
        let on_object = |id: ObjectId| {
            let object = &self.soml[id];
            let descr = object
                .descr
                .as_deref()
                // The description shows the label first; the directive is for the longer text.
                .or(object.label.as_deref())
                .map(applied_descr);
            let roles = roles.as_ref().map(|r| r.on_object(id));
            descr.into_iter().chain(roles).collect()
        };
        let on_property = |id: PropertyId| {
            let property = &self.soml[id];
            let owner = &self.soml[property.owner];
            let descr = property
                .descr
                .as_deref()
                .or(property.label.as_deref())
                .map(applied_descr);
            let alias = owner.name_property == Some(id);
            let alias = alias.then(|| Applied::new(name!("nameAlias")).build());
            let roles = roles.as_ref().map(|r| r.on_property(property, id));
            descr
                .into_iter()
                .chain(alias)
                .chain(constraints(property))
                .chain(roles)
                .collect()
        };
        self.annotate(schema, on_object, on_property);
    }

    /// Adds `@hasRole`, where the document declares roles.
    pub(super) fn expose_roles(&self, schema: &mut Schema) {
        let Some(roles) = self.roles_to_say(schema) else {
            return;
        };
        let on_object = |id: ObjectId| vec![roles.on_object(id)];
        let on_property = |id: PropertyId| vec![roles.on_property(&self.soml[id], id)];
        self.annotate(schema, on_object, on_property);
    }

    /// Defines `@hasRole` and returns what to say by it; `None` where the document declares no roles, or
    /// the API says it already.
    fn roles_to_say(&self, schema: &mut Schema) -> Option<Roles> {
        let definition = directives::has_role();
        let definitions = &mut schema.directive_definitions;
        if definitions.contains_key(&definition.name) {
            return None;
        }
        let roles = Roles::new(self.soml)?;
        definitions.insert(definition.name.clone(), definition);
        Some(roles)
    }

    /// Adds `@somlObject` and `@somlProperty`.
    pub(super) fn expose_soml(&self, schema: &mut Schema) {
        for definition in [directives::soml_object(), directives::soml_property()] {
            schema
                .directive_definitions
                .insert(definition.name.clone(), definition);
        }
        let on_object = |id: ObjectId| vec![self.soml_object(id)];
        let on_property = |id| vec![self.soml_property(id)];
        self.annotate(schema, on_object, on_property);
    }

    fn annotate(
        &self,
        schema: &mut Schema,
        on_object: impl Fn(ObjectId) -> Vec<Directive>,
        on_property: impl Fn(PropertyId) -> Vec<Directive>,
    ) {
        for (name, ty) in &mut schema.types {
            let Some(id) = self.type_refs.get(name).and_then(|r| r.object()) else {
                continue;
            };
            let (directives, fields) = match ty {
                ExtendedType::Object(ty) => {
                    let ty = ty.make_mut();
                    (&mut ty.directives, &mut ty.fields)
                }
                ExtendedType::Interface(ty) => {
                    let ty = ty.make_mut();
                    (&mut ty.directives, &mut ty.fields)
                }
                _ => continue,
            };
            extend_type(directives, on_object(id));
            for (name, field) in fields {
                if let Some(Field::Property(property)) = self.fields[index(id)].get(name) {
                    extend_field(field, on_property(*property));
                }
            }
        }
    }

    fn soml_object(&self, id: ObjectId) -> Directive {
        let object = &self.soml[id];
        Applied::new(name!("somlObject"))
            .with("name", object.name.written.as_str())
            .with_list("type", object.types.iter().map(String::as_str))
            .with("typeProp", object.type_prop.as_str())
            .with_some(
                "inherits",
                object.inherits.map(|p| self.soml[p].name.written.as_str()),
            )
            .with_some("prefix", object.id_prefix.as_deref())
            .with_some("regex", object.id_regex.as_deref())
            .with_some("pattern", object.id_pattern.as_deref())
            .build()
    }

    fn soml_property(&self, id: PropertyId) -> Directive {
        let property = &self.soml[id];
        let partner = |id: PropertyId| self.soml[id].name.written.as_str();
        let alias = match &property.path {
            Path::Inverse { of, .. } => Some(partner(*of)),
            Path::Forward(_) => None,
        };
        let max = match property.max {
            Max::Count(count) => count.to_string(),
            Max::Unbounded => "inf".to_owned(),
        };
        Applied::new(name!("somlProperty"))
            .with("name", property.name.written.as_str())
            .with("rdfProp", property.path.iri())
            .with("range", self.range_name(property.range))
            .with("min", int(property.min))
            .with("max", max.as_str())
            .with_some("inverseAlias", alias)
            .with_some("inverseOf", property.inverse_of.map(partner))
            .with_flag("symmetric", property.symmetric)
            .with_flag("rangeCheck", property.range_check)
            .with_flag("typeCast", property.type_cast)
            .with_some("regex", property.regex.as_deref())
            .with_some("prefix", property.prefix.as_deref())
            .with_some("pattern", property.pattern.as_deref())
            .with_some(
                "lang",
                property
                    .lang
                    .fetch
                    .as_ref()
                    .map(ToString::to_string)
                    .as_deref(),
            )
            .build()
    }

    fn range_name(&self, range: Range) -> &str {
        match range {
            Range::Scalar(scalar) => scalar.soml_name(),
            Range::Enum(id) => &self.soml[id].name.written,
            Range::Object(id) => &self.soml[id].name.written,
            Range::Literal(LiteralRange::LangString) => "langString",
            Range::Literal(LiteralRange::StringOrLangString) => "stringOrLangString",
            Range::Literal(LiteralRange::Any) => "literal",
            Range::Literal(LiteralRange::DateOrYearOrMonth) => "dateOrYearOrMonth",
            Range::Literal(LiteralRange::Union(id)) => &self.soml[id].name.written,
        }
    }
}

fn applied_descr(text: &str) -> Directive {
    Applied::new(name!("descr")).with("_", text).build()
}

/// `@constraints` of a property that has any beside being single-valued.
fn constraints(property: &Property) -> Option<Directive> {
    let max = match property.max {
        Max::Count(count) if property.max.is_multiple() || property.min > 0 => Some(int(count)),
        _ => None,
    };
    let values = (!property.values_in.is_empty()).then(|| property.values_in.join(","));
    let applied = Applied::new(name!("constraints"))
        .with_some("minCount", (property.min > 0).then(|| int(property.min)))
        .with_some("maxCount", max)
        .with_some("valuesIn", values.as_deref())
        .with_flag("valuesListExclusive", values.is_some());
    (!applied.is_empty()).then(|| applied.build())
}

fn int(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

fn extend_type(list: &mut DirectiveList, directives: Vec<Directive>) {
    list.0.extend(directives.into_iter().map(Component::new));
}

fn extend_field(field: &mut Component<FieldDefinition>, directives: Vec<Directive>) {
    if !directives.is_empty() {
        field
            .make_mut()
            .directives
            .0
            .extend(directives.into_iter().map(Node::new));
    }
}
