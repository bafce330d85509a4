//! The output fields of one object, and the filter and order keys that go with them.

use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{Component, Type};
use apollo_compiler::{Name, name};
use soml_core::Finding;
use soml_core::schema::{ObjectId, Property, PropertyId, Range, Schema};

use super::aggregate;
use super::api::Field;
use super::builtin::CommonFields;
use super::error::ProblemKind;
use super::nodes::{self, Argument, FieldNode, Fields, Member, Text, input, text};
use super::origin::{Origin, Source};
use super::reserved::FilterKeys;
use super::setting::Setting;
use super::targets::{Namer, Target, Targets};

/// Everything that the types of one object share: concrete type, interface and inputs.
pub(super) struct ObjectShape {
    /// Output fields.
    pub(super) fields: Fields,
    /// What each output field reads.
    pub(super) meaning: IndexMap<Name, Field>,
    /// One key per property for `T_Where`.
    pub(super) where_keys: Vec<Member<Argument>>,
    /// One key per orderable property for `T_OrderBy`.
    pub(super) order_keys: Vec<Member<Argument>>,
    /// `where_keys` and `order_keys` by property, for subclasses that take them over.
    keys: IndexMap<Name, Keys>,
}

/// The input keys of a property.
#[derive(Clone)]
struct Keys {
    property: PropertyId,
    /// In `T_Where`.
    filter: Argument,
    /// In `T_OrderBy`, if objects can be ordered by the property.
    order: Option<Argument>,
}

/// A field that is generated beside a list field.
struct BesideList {
    field: FieldNode,
    meaning: Field,
    /// What it is, in messages.
    what: &'static str,
    /// The setting that asks for it.
    setting: &'static str,
}

/// Builds the shape of each object; superclasses come first.
pub(super) struct ShapeBuilder<'a> {
    pub(super) soml: &'a Schema,
    pub(super) targets: &'a Targets,
    pub(super) common: &'a CommonFields,
    pub(super) reserved: &'a FilterKeys<'a>,
    /// Adds a count beside each list field.
    pub(super) counts: bool,
    /// Adds an aggregate beside each list field.
    pub(super) aggregates: bool,
    pub(super) problems: Vec<Finding>,
}

impl ShapeBuilder<'_> {
    /// Builds the shape of `object`, given that of its superclass.
    pub(super) fn build(&mut self, object: ObjectId, parent: Option<&ObjectShape>) -> ObjectShape {
        let props = &self.soml[object].props;
        let mut shape = ObjectShape::with_capacity(props.len());
        shape.add(self.common.id.clone(), Field::Id);
        shape.add(self.common.ty.clone(), Field::Type);
        if self.soml.is_nameable(object) {
            shape.add(self.name_field(object), Field::Name);
        }
        for &id in props {
            self.add_property(&mut shape, id, parent);
        }
        if self.counts || self.aggregates {
            self.add_beside_lists(&mut shape, parent);
        }
        shape.list_keys();
        shape
    }

    /// Returns field `name`, described by the object's own entry for it if there is one.
    fn name_field(&self, object: ObjectId) -> FieldNode {
        let object = &self.soml[object];
        let mut field = self.common.name.clone();
        if let Some(label) = object
            .name_label
            .as_deref()
            .or(object.name_descr.as_deref())
        {
            field.make_mut().description = text(label);
        }
        field
    }

    fn add_property(
        &mut self,
        shape: &mut ObjectShape,
        id: PropertyId,
        parent: Option<&ObjectShape>,
    ) {
        let property = &self.soml[id];
        let graphql = property.name.graphql.as_str();
        // Fields of a type have unique names
        // (<https://spec.graphql.org/September2025/#sec-Objects>).
        if shape.meaning.contains_key(graphql) {
            self.field_taken(shape, property);
            return;
        }
        let inherited = parent.and_then(|p| Some((p, p.inherited(graphql)?)));
        if let Some((parent, above)) = inherited {
            let above_property = &self.soml[above];
            if same_shape(property, above_property) {
                shape.inherit(parent, graphql, id);
                return;
            }
            self.check_covariance(property, above_property);
        }
        // An inherited property was reported where the superclass declares it.
        if inherited.is_none() {
            self.problems.extend(self.reserved.check(property));
            if self.aggregates {
                self.problems.extend(aggregate::check(property));
            }
        }
        let name = Namer {
            problems: &mut self.problems,
        }
        .name(graphql, &property.name.written, property.span);
        let target = self.targets.range(property.range);
        let multiple = property.max.is_multiple();
        // Arguments must be those of the interface, even if the range is narrower here
        // (<https://spec.graphql.org/September2025/#IsValidImplementation()>): their types are
        // invariant.
        let arguments = match inherited {
            Some((parent, _)) => parent.fields[graphql].arguments.clone(),
            None if multiple => target.list_args.clone(),
            None => target.single_args.clone(),
        };
        let field = FieldDefinition {
            description: text(field_description(property)),
            name: name.clone(),
            arguments,
            ty: output_type(property, target),
            directives: Default::default(),
        };
        shape
            .keys
            .insert(name.clone(), Keys::new(self.soml, id, &name, target));
        shape.add(Component::new(field), Field::Property(id));
    }

    /// Adds `<field>_count` and `<field>_aggregate` behind each list field (docs/queries.md,
    /// "Counts" and "Aggregates").
    fn add_beside_lists(&mut self, shape: &mut ObjectShape, parent: Option<&ObjectShape>) {
        let plain = std::mem::replace(shape, ObjectShape::with_capacity(shape.fields.len()));
        shape.keys = plain.keys;
        for (name, field) in plain.fields {
            let meaning = plain.meaning[&name];
            shape.add(field, meaning);
            let Field::Property(id) = meaning else {
                continue;
            };
            if !self.soml[id].max.is_multiple() {
                continue;
            }
            for beside in self.beside(id, &name) {
                if plain.meaning.contains_key(&beside.field.name) {
                    self.beside_taken(id, &beside);
                    continue;
                }
                // Arguments and type must be those of the interface.
                let above = parent.and_then(|p| p.fields.get(&beside.field.name));
                shape.add(above.cloned().unwrap_or(beside.field), beside.meaning);
            }
        }
    }

    /// Returns the fields that are generated beside the list field of a property.
    fn beside(&self, id: PropertyId, list: &Name) -> Vec<BesideList> {
        let property = &self.soml[id];
        let mut beside = Vec::new();
        if self.counts {
            let name = Name::new_unchecked(&format!("{list}_count"));
            let arguments = self
                .targets
                .range(property.range)
                .count_args(&self.targets.args);
            let description = text(&format!("Number of values of {list}"));
            let ty = Type::NonNullNamed(name!("Int"));
            beside.push(BesideList {
                field: nodes::field(&name, description, arguments, ty),
                meaning: Field::Count(id),
                what: "count",
                setting: "enableCollectionCount",
            });
        }
        if self.aggregates {
            let name = Name::new_unchecked(&format!("{list}_aggregate"));
            beside.push(BesideList {
                field: aggregate::list_field(property, &name, self.targets),
                meaning: Field::Aggregate(id),
                what: "aggregate",
                setting: "enableAggregates",
            });
        }
        beside
    }

    fn beside_taken(&mut self, id: PropertyId, beside: &BesideList) {
        let property = &self.soml[id];
        let name = &beside.field.name;
        let message = format!(
            "the {} of property `{}` would be `{name}`",
            beside.what, property.name
        );
        let other = self.soml[property.owner]
            .props
            .iter()
            .map(|&id| &self.soml[id]);
        let other = other.into_iter().find(|p| p.name.graphql == name.as_str());
        let help = format!(
            "rename the other property or switch `{}` off",
            beside.setting
        );
        let mut problem = ProblemKind::FieldNameTaken
            .at(Some(property.span), message)
            .with_help(help);
        if let Some(other) = other {
            problem = problem.with_label(other.span, "a property of this name is here");
        }
        self.problems.push(problem);
    }

    fn field_taken(&mut self, shape: &ObjectShape, property: &Property) {
        let graphql = &property.name.graphql;
        let owner = &self.soml[property.owner].name;
        let message = format!(
            "property `{}` of `{owner}` gives the field `{graphql}`",
            property.name
        );
        let (message, related) = match shape.meaning.get(graphql.as_str()) {
            Some(&Field::Property(first)) => {
                let first = &self.soml[first];
                (
                    format!("{message}, as does `{}`", first.name),
                    Some(first.span),
                )
            }
            _ => (format!("{message}, which every object has"), None),
        };
        let mut problem = ProblemKind::FieldNameTaken
            .at(Some(property.span), message)
            .with_help("rename it and give its old IRI with `rdfProp`, or write it with a prefix");
        if let Some(span) = related {
            problem = problem.with_label(span, "the other property");
        }
        self.problems.push(problem);
    }

    /// Reports a property whose values do not fit what the superclass promises: the type of a field
    /// may only be narrower than in the interface
    /// (<https://spec.graphql.org/September2025/#IsValidImplementationFieldType()>).
    fn check_covariance(&mut self, property: &Property, above: &Property) {
        let reason = if property.max.is_multiple() != above.max.is_multiple() {
            let number = |p: &Property| {
                if p.max.is_multiple() {
                    "a list"
                } else {
                    "one value"
                }
            };
            format!("is {} here and {} there", number(property), number(above))
        } else if above.non_nullable && !property.non_nullable {
            "may be null here and may not there".to_owned()
        } else if above.max.is_multiple()
            && above.non_nullable_elements
            && !property.non_nullable_elements
        {
            "may have null elements here and may not there".to_owned()
        } else if !self.range_fits(property.range, above.range) {
            let target = |range| &self.targets.range(range).ty;
            let (here, there) = (target(property.range), target(above.range));
            format!("has values of `{here}` here and of `{there}` there")
        } else {
            return;
        };
        let owner = |p: &Property| &self.soml[p.owner].name;
        let message = format!(
            "property `{}` of `{}` does not fit that of its superclass `{}`: it {reason}",
            property.name,
            owner(property),
            owner(above),
        );
        self.problems.push(
            ProblemKind::NotCovariant
                .at(Some(property.span), message)
                .with_label(above.span, "the superclass declares it here")
                .with_help(
                    "a subclass may narrow an object range to a subclass or promise non-null",
                ),
        );
    }

    fn range_fits(&self, range: Range, above: Range) -> bool {
        match (range, above) {
            (Range::Object(own), Range::Object(above)) => self.soml.is_a(own, above),
            // All literal families are the type `Literal`.
            _ => self.targets.range(range).ty == self.targets.range(above).ty,
        }
    }
}

impl ObjectShape {
    fn with_capacity(properties: usize) -> Self {
        let capacity = properties + 3;
        ObjectShape {
            fields: Fields::with_capacity_and_hasher(capacity, Default::default()),
            meaning: IndexMap::with_capacity_and_hasher(capacity, Default::default()),
            where_keys: Vec::with_capacity(properties),
            order_keys: Vec::with_capacity(properties),
            keys: IndexMap::with_capacity_and_hasher(properties, Default::default()),
        }
    }

    /// Returns the output fields of the types of `object`, with their origins.
    pub(super) fn members(&self, object: ObjectId) -> impl Iterator<Item = Member<FieldNode>> {
        self.fields.iter().map(move |(name, field)| {
            let origin = match self.meaning[name] {
                Field::Id | Field::Type => return Member::from(field.clone()),
                Field::Name => Origin::of(Source::Name(object)).under(Setting::NameLanguage),
                Field::Property(id) => Origin::of(Source::Property(id)),
                Field::Count(id) => {
                    Origin::of(Source::Property(id)).under(Setting::CollectionCount)
                }
                Field::Aggregate(id) => Origin::of(Source::Property(id)).under(Setting::Aggregates),
            };
            Member::of(origin, field.clone())
        })
    }

    /// Lists the keys of all properties.
    fn list_keys(&mut self) {
        for keys in self.keys.values() {
            let origin = Origin::of(Source::Property(keys.property));
            let of_property = |key: &Argument| Member::of(origin, key.clone());
            self.where_keys.push(of_property(&keys.filter));
            self.order_keys.extend(keys.order.as_ref().map(of_property));
        }
    }

    fn add(&mut self, field: FieldNode, meaning: Field) {
        self.meaning.insert(field.name.clone(), meaning);
        self.fields.insert(field.name.clone(), field);
    }

    /// Takes over the field and the keys of a property from the superclass.
    fn inherit(&mut self, parent: &ObjectShape, graphql: &str, id: PropertyId) {
        let field = &parent.fields[graphql];
        let keys = Keys {
            property: id,
            ..parent.keys[graphql].clone()
        };
        self.keys.insert(field.name.clone(), keys);
        self.add(field.clone(), Field::Property(id));
    }

    fn inherited(&self, graphql: &str) -> Option<PropertyId> {
        match self.meaning.get(graphql) {
            Some(&Field::Property(id)) => Some(id),
            _ => None,
        }
    }
}

/// Returns whether two entries of one property give the same field and keys.
fn same_shape(a: &Property, b: &Property) -> bool {
    a.range == b.range
        && a.max.is_multiple() == b.max.is_multiple()
        && a.non_nullable == b.non_nullable
        && a.non_nullable_elements == b.non_nullable_elements
        && a.implied_by_name == b.implied_by_name
        && a.label == b.label
        && a.descr == b.descr
        && a.name.graphql == b.name.graphql
}

/// Returns the text that introspection shows for the field of a property (docs/schema.md, "The
/// API").
pub(super) fn field_description(property: &Property) -> &str {
    let written = property.label.as_deref().or(property.descr.as_deref());
    match written {
        Some(text) => text,
        None => &property.name.graphql,
    }
}

/// Returns the type of a field. `min` has no part in it: it is enforced on writes only, and stored
/// data may lack values (docs/schema.md, "The API").
fn output_type(property: &Property, target: &Target) -> Type {
    let ty = target.ty.clone();
    match (property.max.is_multiple(), property.non_nullable) {
        (false, false) => Type::Named(ty),
        (false, true) => Type::NonNullNamed(ty),
        (true, outer) => {
            let element = Box::new(if property.non_nullable_elements {
                Type::NonNullNamed(ty)
            } else {
                Type::Named(ty)
            });
            if outer {
                Type::NonNullList(element)
            } else {
                Type::List(element)
            }
        }
    }
}

impl Keys {
    fn new(soml: &Schema, id: PropertyId, name: &Name, target: &Target) -> Self {
        let property = &soml[id];
        let multiple = property.max.is_multiple();
        let comparison = if multiple {
            &target.where_multi
        } else {
            &target.where_single
        };
        // Orders take single values (docs/queries.md, "Order"); objects sort by their name under
        // `name`.
        let orders = !multiple && !property.implied_by_name;
        Keys {
            property: id,
            filter: input(name, describe_key(name), comparison.clone()),
            order: orders.then(|| input(name, None, target.order_by.clone())),
        }
    }
}

/// `p comparisons`
fn describe_key(name: &Name) -> Text {
    let mut description = String::with_capacity(name.len() + 12);
    description.push_str(name);
    description.push_str(" comparisons");
    text(&description)
}
