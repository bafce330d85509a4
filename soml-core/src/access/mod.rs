//! What the roles of a schema allow, worked out once, and looked up for each caller.
//!
//! An action `<Object>/<property>/<operation>` is about a property that the object has, its own or an
//! inherited one, and holds for the subclasses of the object as well: `Character/*/read` lets a role
//! read of a `Human` what every `Character` has, and nothing that only a `Human` has. Actions and
//! `notActions` are read alike, and a role may do what its `actions` allow, except what its `notActions`
//! exclude. A caller may do what any of its roles may.
//!
//! The fields `id`, `type` and `__typename` are named in actions as properties are. The field `name`
//! shows the value of another property, so it follows that one; `notActions` can exclude it as `name`
//! too.

mod table;
mod ways;

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::rbac::{Action, Operation, Preset, Role, RowFilter};
use crate::schema::{ObjectId, ObjectKind, PropertyId, Schema};
use crate::value::Value;

pub use self::table::RightsTable;
pub use self::ways::{READS_OTHERWISE, READS_OTHERWISE_MEANING, other_ways};

/// A part of an object that has a right of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The IRI; what stands for the object as a whole when it is written or deleted.
    Id,
    /// The values of its type property.
    Type,
    /// The field `name`.
    Name,
    /// The field `__typename`.
    TypeName,
    /// A property of this object.
    Property(PropertyId),
}

const FIELDS: [(Part, &str); 4] = [
    (Part::Id, "id"),
    (Part::Type, "type"),
    (Part::Name, "name"),
    (Part::TypeName, "__typename"),
];

/// Fields of the type `Object`, which every object has.
const OF_OBJECT: [&str; 3] = ["id", "type", "__typename"];

/// A part of a service's description of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServicePart {
    /// The schema for federation.
    Sdl,
    /// The schema with all directives.
    FullSdl,
}

impl ServicePart {
    const ALL: [ServicePart; 2] = [ServicePart::Sdl, ServicePart::FullSdl];

    fn name(self) -> &'static str {
        match self {
            ServicePart::Sdl => "sdl",
            ServicePart::FullSdl => "full_sdl",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// What each role of a schema may do.
#[derive(Debug)]
pub struct Rights {
    roles: Vec<RoleRights>,
    default_role: String,
    /// Its place, where the schema declares it.
    default: Option<usize>,
}

#[derive(Debug)]
struct RoleRights {
    name: String,
    /// Operations on the fields of each object, as bits.
    fields: Vec<[u8; FIELDS.len()]>,
    /// Operations on each property, as bits.
    properties: Vec<u8>,
    /// Objects of which some part can be read.
    seen: Vec<bool>,
    service: u8,
    reads_everything: bool,
    filters: Vec<FilterOf>,
    presets: Vec<PresetOf>,
}

/// A condition on objects of some types.
#[derive(Debug)]
struct FilterOf {
    /// In ascending order.
    objects: Vec<ObjectId>,
    operation: Operation,
    condition: Value,
}

/// A value that a property of some types is given.
#[derive(Debug)]
struct PresetOf {
    /// In ascending order.
    properties: Vec<PropertyId>,
    value: Value,
}

/// What one caller may do: what any of its roles may.
///
/// Two are equal when they come from the same [`Rights`] and have the same roles in the same order.
#[derive(Clone, Debug)]
pub struct Access {
    rights: Arc<Rights>,
    /// Places of the roles in [`Rights`], each once.
    roles: Vec<usize>,
    everything: bool,
}

impl Rights {
    /// Works out what each role of a schema may do.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let names = Names::new(schema);
        let roles: Vec<_> = schema
            .rbac
            .roles
            .iter()
            .map(|role| RoleRights::new(&names, role))
            .collect();
        let default_role = schema.config.default_role.clone();
        let default = roles.iter().position(|role| role.name == default_role);
        Rights {
            roles,
            default_role,
            default,
        }
    }

    /// Returns what a caller may do who claims these roles.
    ///
    /// Roles that the schema does not declare are ignored. If it declares none of them, its default
    /// role applies: [`DEFAULT_ROLE`](crate::rbac::DEFAULT_ROLE), or what `config.defaultRole`
    /// names. If that is not declared either, nothing is allowed.
    #[must_use]
    pub fn of<'r>(self: &Arc<Self>, claimed: impl IntoIterator<Item = &'r str>) -> Access {
        let mut roles = Vec::new();
        for name in claimed {
            let place = self.roles.iter().position(|role| role.name == name);
            roles.extend(place.filter(|place| !roles.contains(place)));
        }
        if roles.is_empty() {
            roles.extend(self.default);
        }
        Access {
            rights: Arc::clone(self),
            roles,
            everything: false,
        }
    }

    /// Returns the rights of a caller who may do everything.
    #[must_use]
    pub fn everything(self: &Arc<Self>) -> Access {
        Access {
            rights: Arc::clone(self),
            roles: Vec::new(),
            everything: true,
        }
    }

    /// Returns the names of the roles that allow an operation on a part of an object, in the order of
    /// the document.
    pub fn allowing(
        &self,
        object: ObjectId,
        part: Part,
        operation: Operation,
    ) -> impl Iterator<Item = &str> {
        let roles = self.roles.iter();
        let allowing = roles.filter(move |role| role.of(object, part) & operation.bit() != 0);
        allowing.map(|role| role.name.as_str())
    }
}

impl PartialEq for Access {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rights, &other.rights)
            && self.roles == other.roles
            && self.everything == other.everything
    }
}

impl Eq for Access {}

impl Hash for Access {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.roles, self.everything).hash(state);
    }
}

impl Access {
    /// Returns whether one of the roles may read all that there is, so that nothing needs to be looked up.
    #[must_use]
    pub fn reads_everything(&self) -> bool {
        self.everything || self.applying().any(|role| role.reads_everything)
    }

    /// Returns the names of the roles that apply.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.applying().map(|role| role.name.as_str())
    }

    /// Returns the name of the role of callers without a declared one, whether it is declared or not.
    #[must_use]
    pub fn default_role(&self) -> &str {
        &self.rights.default_role
    }

    /// Returns whether an operation on a part of an object is allowed.
    #[must_use]
    pub fn may(&self, object: ObjectId, part: Part, operation: Operation) -> bool {
        self.everything
            || self
                .applying()
                .any(|role| role.of(object, part) & operation.bit() != 0)
    }

    /// Returns whether a part of an object can be read.
    #[must_use]
    pub fn reads(&self, object: ObjectId, part: Part) -> bool {
        self.may(object, part, Operation::Read)
    }

    /// Returns whether objects of this type are shown at all: whether some property of them can be read,
    /// or `id` or `type`.
    #[must_use]
    pub fn sees(&self, object: ObjectId) -> bool {
        self.everything || self.applying().any(|role| role.seen[object.index()])
    }

    /// Returns the places of the roles that allow an operation on a part of an object; none for a caller who may
    /// do everything. What a role allows holds only for the objects that satisfy all of its
    /// [conditions](Access::conditions).
    pub fn allowing(
        &self,
        object: ObjectId,
        part: Part,
        operation: Operation,
    ) -> impl Iterator<Item = RolePlace> {
        self.places(move |role| role.of(object, part) & operation.bit() != 0)
    }

    /// Returns the places of the roles that are shown objects of this type; see [`Access::sees`].
    pub fn seeing(&self, object: ObjectId) -> impl Iterator<Item = RolePlace> {
        self.places(move |role| role.seen[object.index()])
    }

    fn places(&self, is_meant: impl Fn(&RoleRights) -> bool) -> impl Iterator<Item = RolePlace> {
        let places = self.roles.iter().copied();
        let meant = places.filter(move |place| is_meant(&self.rights.roles[*place]));
        meant.map(RolePlace)
    }

    /// Returns the name of a role.
    #[must_use]
    pub fn name_of(&self, role: RolePlace) -> &str {
        &self.rights.roles[role.0].name
    }

    /// Returns the places of all roles that apply; none for a caller who may do everything.
    pub fn role_places(&self) -> impl Iterator<Item = RolePlace> {
        self.places(|_| true)
    }

    /// Returns the conditions that objects of a type must satisfy for a role to allow an operation on them.
    pub fn conditions(
        &self,
        role: RolePlace,
        object: ObjectId,
        operation: Operation,
    ) -> impl Iterator<Item = &Value> {
        let of_object = self.filters(role).filter(move |(objects, of, _)| {
            *of == operation && objects.binary_search(&object).is_ok()
        });
        of_object.map(|(.., condition)| condition)
    }

    /// Returns the conditions of a role: the types that each is for, in ascending order, and the operation.
    pub fn filters(
        &self,
        role: RolePlace,
    ) -> impl Iterator<Item = (&[ObjectId], Operation, &Value)> {
        let filters = self.rights.roles[role.0].filters.iter();
        filters.map(|filter| (&*filter.objects, filter.operation, &filter.condition))
    }

    /// Returns the preset values of a role.
    pub fn presets(&self, role: RolePlace) -> impl Iterator<Item = &Value> {
        let presets = self.rights.roles[role.0].presets.iter();
        presets.map(|preset| &preset.value)
    }

    /// Returns the value that a role gives a property of written objects, if it leaves clients no choice.
    #[must_use]
    pub fn preset(&self, role: RolePlace, property: PropertyId) -> Option<&Value> {
        let mut presets = self.rights.roles[role.0].presets.iter();
        let preset = presets.find(|preset| preset.properties.binary_search(&property).is_ok());
        preset.map(|preset| &preset.value)
    }

    /// Returns whether conditions on objects or preset values decide what the caller may do.
    #[must_use]
    pub fn has_row_rules(&self) -> bool {
        let mut roles = self.applying();
        roles.any(|role| !role.filters.is_empty() || !role.presets.is_empty())
    }

    /// Returns whether a part of the service's description of itself can be read.
    #[must_use]
    pub fn reads_service(&self, part: ServicePart) -> bool {
        self.everything || self.applying().any(|role| role.service & part.bit() != 0)
    }

    fn applying(&self) -> impl Iterator<Item = &RoleRights> {
        self.roles.iter().map(|place| &self.rights.roles[*place])
    }
}

/// The place of a role among those of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RolePlace(usize);

impl RoleRights {
    fn new(names: &Names<'_>, role: &Role) -> Self {
        let schema = names.schema;
        let (grants, cuts) = (
            names.actions(&role.actions),
            names.actions(&role.not_actions),
        );
        let mut rights = RoleRights {
            name: role.name.clone(),
            fields: Vec::with_capacity(schema.objects.len()),
            properties: vec![0; schema.properties.len()],
            seen: Vec::with_capacity(schema.objects.len()),
            service: service(&grants) & !service(&cuts),
            reads_everything: false,
            filters: names.filters(&role.filters),
            presets: names.presets(&role.presets),
        };
        for (id, object) in schema.objects() {
            let granted = |part: &str| names.operations(&grants, id, part);
            let cut = |part: &str| names.operations(&cuts, id, part);
            for &property in &object.props {
                let name = schema[property].name.written.as_str();
                rights.properties[property.index()] = granted(name) & !cut(name);
            }
            let mut fields = FIELDS.map(|(_, name)| granted(name) & !cut(name));
            fields[Part::Name.place()] = match object.name_property {
                Some(property) => rights.properties[property.index()] & !cut("name"),
                None => 0,
            };
            let shown = object
                .props
                .iter()
                .map(|id| rights.properties[id.index()])
                .chain([Part::Id, Part::Type].map(|part| fields[part.place()]));
            let seen = shown.fold(0, |all, bits| all | bits) & Operation::Read.bit();
            // What is shown has a type name, unless that is excluded.
            fields[Part::TypeName.place()] |= seen & !cut("__typename");
            rights.fields.push(fields);
            rights.seen.push(seen != 0);
        }
        let is_read = |filter: &FilterOf| filter.operation == Operation::Read;
        rights.reads_everything =
            rights.covers_all_reading(schema) && !rights.filters.iter().any(is_read);
        rights
    }

    fn covers_all_reading(&self, schema: &Schema) -> bool {
        let reads = |bits: &u8| bits & Operation::Read.bit() != 0;
        let mut of_objects =
            schema
                .objects
                .iter()
                .zip(&self.fields)
                .flat_map(|(object, fields)| {
                    let named = FIELDS.iter().zip(fields);
                    let has_name = object.name_property.is_some();
                    named.filter(move |((part, _), _)| has_name || *part != Part::Name)
                });
        of_objects.all(|(_, bits)| reads(bits))
            && self.properties.iter().all(reads)
            && ServicePart::ALL
                .iter()
                .all(|part| self.service & part.bit() != 0)
    }

    fn of(&self, object: ObjectId, part: Part) -> u8 {
        match part {
            Part::Property(property) => self.properties[property.index()],
            field => self.fields[object.index()][field.place()],
        }
    }
}

impl Part {
    /// Returns the place among [`FIELDS`]; a property has none.
    fn place(self) -> usize {
        let place = FIELDS.iter().position(|(field, _)| *field == self);
        place.expect("every part but a property is a field")
    }
}

/// An action whose operations are bits and whose names have no vocabulary prefix.
struct Pattern<'s> {
    object: &'s str,
    property: &'s str,
    operations: u8,
}

/// Names as actions may write them: with or without the vocabulary prefix.
struct Names<'s> {
    schema: &'s Schema,
    /// The parts of each object.
    parts: Vec<HashSet<&'s str>>,
}

impl<'s> Names<'s> {
    fn new(schema: &'s Schema) -> Self {
        let mut names = Names {
            schema,
            parts: Vec::new(),
        };
        let parts = schema.objects.iter().map(|object| {
            let properties = object
                .props
                .iter()
                .map(|id| schema.prefixes.bare(&schema[*id].name.written));
            let name = object.name_property.map(|_| "name");
            properties.chain(OF_OBJECT).chain(name).collect()
        });
        names.parts = parts.collect();
        names
    }

    fn filters(&self, filters: &[RowFilter]) -> Vec<FilterOf> {
        let filters = filters.iter().map(|filter| FilterOf {
            objects: self.meant(&filter.object).collect(),
            operation: filter.operation,
            condition: filter.condition.clone(),
        });
        filters.collect()
    }

    fn presets(&self, presets: &[Preset]) -> Vec<PresetOf> {
        let presets = presets.iter().map(|preset| {
            let name = self.schema.prefixes.bare(&preset.property);
            let of_objects = self.meant(&preset.object).flat_map(|object| {
                let properties = self.schema[object].props.iter().copied();
                properties
                    .filter(|id| self.schema.prefixes.bare(&self.schema[*id].name.written) == name)
            });
            let mut properties: Vec<PropertyId> = of_objects.collect();
            properties.sort_unstable();
            properties.dedup();
            let value = preset.value.clone();
            PresetOf { properties, value }
        });
        presets.collect()
    }

    /// Returns the concrete objects that a row rule is about: those of a name and their subclasses, in ascending order.
    fn meant(&self, written: &str) -> impl Iterator<Item = ObjectId> {
        let pattern = self.schema.prefixes.bare(written);
        let objects = self.schema.objects();
        let concrete = objects.filter(|(_, object)| object.kind == ObjectKind::Concrete);
        concrete.filter_map(move |(id, _)| {
            let is_named = |class: ObjectId| {
                covers(
                    pattern,
                    self.schema.prefixes.bare(&self.schema[class].name.written),
                )
            };
            let is_meant = pattern == "Object" || self.schema.lineage(id).any(is_named);
            is_meant.then_some(id)
        })
    }

    fn actions(&self, actions: &'s [Action]) -> Vec<Pattern<'s>> {
        let patterns = actions.iter().map(|action| {
            let meant = Operation::ALL
                .iter()
                .filter(|operation| covers(&action.operation, operation.name()));
            Pattern {
                object: self.schema.prefixes.bare(&action.object),
                property: self.schema.prefixes.bare(&action.property),
                operations: meant.fold(0, |bits, operation| bits | operation.bit()),
            }
        });
        patterns.collect()
    }

    /// Returns the operations that actions mean on a part of an object, be it as a part of one of
    /// the classes above it that has the part.
    fn operations(&self, actions: &[Pattern<'_>], object: ObjectId, part: &str) -> u8 {
        let part = self.schema.prefixes.bare(part);
        let on_part = actions
            .iter()
            .filter(|action| covers(action.property, part));
        let on_object = on_part.filter(|action| {
            let mut classes = self.schema.lineage(object);
            let built_in = match action.object {
                "Object" => OF_OBJECT.contains(&part),
                "Nameable" => self.schema.is_nameable(object) && OF_OBJECT.contains(&part),
                _ => false,
            };
            built_in
                || classes.any(|class| {
                    covers(
                        action.object,
                        self.schema.prefixes.bare(&self.schema[class].name.written),
                    ) && self.parts[class.index()].contains(part)
                })
        });
        on_object.fold(0, |bits, action| bits | action.operations)
    }
}

/// Returns the parts of `_Service` that actions let read, as bits.
fn service(actions: &[Pattern<'_>]) -> u8 {
    let on_service = actions.iter().filter(|action| {
        covers(action.object, "_Service") && action.operations & Operation::Read.bit() != 0
    });
    on_service.fold(0, |bits, action| {
        let parts = ServicePart::ALL.iter();
        let meant = parts.filter(|part| covers(action.property, part.name()));
        meant.fold(bits, |bits, part| bits | part.bit())
    })
}

/// Returns whether a text fits a pattern in which `*` stands for any characters.
///
/// ```
/// use soml_core::access::covers;
///
/// assert!(covers("rdfs:label*", "rdfs:label"));
/// assert!(!covers("Film", "Films"));
/// ```
#[must_use]
pub fn covers(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r"
id: /soml/films
objects:
  Character:
    kind: abstract
    props: {rdfs:label: {}, mass: {}}
  Human:
    inherits: Character
    props: {height: {}, mass: {label: Weight}}
  Droid:
    inherits: Character
    props: {function: {}}
  Film:
    name: title
    props: {title: {}, voc:secret: {}}
rbac:
  roles:
";

    fn access(roles: &str, claimed: &[&str]) -> (Access, Schema) {
        let text = format!("{SCHEMA}{roles}");
        let loaded = crate::load(&text);
        let schema = loaded.schema.expect("a valid schema").into_inner();
        let rights = Arc::new(Rights::new(&schema));
        (rights.of(claimed.iter().copied()), schema)
    }

    /// The parts of all objects that can be read.
    fn read(roles: &str, claimed: &[&str]) -> String {
        let (access, schema) = access(roles, claimed);
        let mut read = Vec::new();
        for (id, object) in schema.objects() {
            let fields = FIELDS.iter().map(|(part, name)| (*part, *name));
            let properties = object.props.iter().map(|id| {
                let name = schema[*id].name.graphql.as_str();
                (Part::Property(*id), name)
            });
            for (part, name) in fields.chain(properties) {
                if access.reads(id, part) && part != Part::TypeName {
                    read.push(format!("{}.{name}", object.name.graphql));
                }
            }
        }
        read.join(" ")
    }

    #[test]
    fn an_action_on_a_class_is_about_what_all_its_subclasses_have() {
        let roles = "    R: {actions: ['Character/mass/read', 'Character/height/read']}";
        assert_eq!(read(roles, &["R"]), "Character.mass Human.mass Droid.mass");
        let roles = "    R: {actions: ['Character/*/read']}";
        let (access, schema) = access(roles, &["R"]);
        let human = schema.object_named("Human").unwrap();
        let height = schema[human]
            .props
            .iter()
            .find(|id| schema[**id].name.written == "height");
        assert!(access.sees(human));
        assert!(!access.reads(human, Part::Property(*height.unwrap())));
    }

    #[test]
    fn not_actions_cut_their_own_role_in_subclasses_too() {
        let roles = "
    A: {actions: ['*/*/read'], notActions: ['Character/mass/*', 'Film/*/*']}
    B: {actions: ['Droid/mass/read']}";
        let one = read(roles, &["A"]);
        assert!(!one.contains("mass") && !one.contains("Film"), "{one}");
        let both = read(roles, &["A", "B"]);
        assert!(
            both.contains("Droid.mass") && !both.contains("Human.mass"),
            "{both}"
        );
    }

    #[test]
    fn the_role_default_applies_where_no_claimed_role_is_declared() {
        let roles = "
    Default: {actions: ['Film/title/read']}
    R: {actions: ['Film/id/read']}";
        assert_eq!(read(roles, &[]), "Film.name Film.title");
        assert_eq!(read(roles, &["Unknown"]), "Film.name Film.title");
        assert_eq!(read(roles, &["Unknown", "R"]), "Film.id");
        assert_eq!(read("    R: {actions: ['*/*/read']}", &["Unknown"]), "");
    }

    #[test]
    fn a_schema_names_its_default_role() {
        let roles = "
    Default: {actions: ['*/*/read']}
    Guest: {actions: ['Film/title/read']}
config: {defaultRole: Guest}";
        assert_eq!(read(roles, &["Unknown"]), "Film.name Film.title");
        assert_eq!(access(roles, &[]).0.default_role(), "Guest");
        let undeclared = "
    Default: {actions: ['*/*/read']}
config: {defaultRole: Guest}";
        assert_eq!(read(undeclared, &[]), "");
    }

    #[test]
    fn the_name_follows_the_property_that_it_shows() {
        assert_eq!(read("    R: {actions: ['Film/name/read']}", &["R"]), "");
        let roles = "    R: {actions: ['Film/title/read'], notActions: ['Film/name/read']}";
        assert_eq!(read(roles, &["R"]), "Film.title");
    }

    #[test]
    fn stars_stand_for_any_characters_in_each_segment() {
        let roles = "    R: {actions: ['F*m/*e*/re*']}";
        assert_eq!(
            read(roles, &["R"]),
            "Film.type Film.name Film.title Film.secret"
        );
        let roles = "    R: {actions: ['Film/secret/read', 'voc:Film/voc:title/read']}";
        assert_eq!(read(roles, &["R"]), "Film.name Film.title Film.secret");
    }

    #[test]
    fn operations_are_apart() {
        let roles = "    R: {actions: ['Film/id/delete', 'Film/title/write']}";
        let (access, schema) = access(roles, &["R"]);
        let film = schema.object_named("Film").unwrap();
        assert!(access.may(film, Part::Id, Operation::Delete));
        assert!(!access.may(film, Part::Id, Operation::Write));
        assert!(access.may(film, Part::Name, Operation::Write));
        assert!(!access.sees(film));
    }

    #[test]
    fn the_schemas_of_the_service_have_rights_of_their_own() {
        let roles = "    R: {actions: ['_Service/sdl/read']}";
        let (access, _) = access(roles, &["R"]);
        assert!(access.reads_service(ServicePart::Sdl));
        assert!(!access.reads_service(ServicePart::FullSdl));
    }

    #[test]
    fn conditions_hold_for_subclasses_and_with_wildcards() {
        let roles = "
    R:
      actions: ['*/*/read']
      filters:
        Character: {read: {mass: {EQ: x}}}
        'D*': {read: {function: {EQ: y}}, write: {mass: {EQ: z}}}";
        let (access, schema) = access(roles, &["R"]);
        assert!(!access.reads_everything() && access.has_row_rules());
        let role = access.role_places().next().expect("a role");
        let said = |object: &str, operation| {
            let object = schema.object_named(object).expect("an object");
            let conditions: Vec<String> = access
                .conditions(role, object, operation)
                .map(ToString::to_string)
                .collect();
            conditions.join(" and ")
        };
        let mass = "{mass: {EQ: x}}";
        assert_eq!(said("Human", Operation::Read), mass);
        assert_eq!(
            said("Droid", Operation::Read),
            format!("{mass} and {{function: {{EQ: y}}}}")
        );
        assert_eq!(said("Droid", Operation::Write), "{mass: {EQ: z}}");
        assert_eq!(said("Film", Operation::Read), "");
    }

    #[test]
    fn a_star_may_stand_for_nothing() {
        assert!(covers("*", ""));
        assert!(covers("rdfs:label*", "rdfs:label"));
        assert!(covers("a*b*c", "a-b-bc"));
        assert!(!covers("Droid", "Droids"));
        assert!(!covers("a*a", "a"));
        assert!(!covers("*x", "y"));
    }
}
