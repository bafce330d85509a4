//! What senders of requests see of objects that something else than the object service shows: as conditions that an index
//! decides, by facts that it holds of each object.
//!
//! [`IndexRules::facts`] says which facts those are, and [`IndexRules::sight`] what a sender sees. Both mean exactly what the
//! object service does with the same roles.

use std::fmt;
use std::sync::Arc;

use foldhash::HashMap;
use graph_store::facts::{Decided, Fact, Seen, express};
use graph_store::query::{NodeCondition, Operator};
use graphql_gen::typesystem::{Api, TypeRef};
use graphql_service::RequestContext;
use soml_core::access::{Access, Part, Rights, RolePlace, ServicePart};
use soml_core::rbac::Operation;
use soml_core::schema::ObjectId;

use crate::access::{Enforced, Permit, View, role_names};
use crate::limits::EngineLimits;
use crate::plan::{Compared, KnownRows, RowSource, access_of, parametrized};
use crate::rdf::Types;

/// The roles of a schema, for an index of its objects.
pub struct IndexRules {
    api: Arc<Api>,
    rights: Enforced,
    types: Types,
    limits: EngineLimits,
    known: KnownRows,
    /// Comparisons of conditions with claims.
    compared: Vec<Compared>,
    /// In the order of the objects of the schema.
    objects: Vec<OfObject>,
}

/// What is known of the objects that an index has as those of one type.
#[derive(Default)]
struct OfObject {
    facts: Vec<Fact>,
    /// The concrete types that they may have; one of them where roles make no difference between them.
    types: Vec<ObjectId>,
    /// That an object is of each of several types.
    is_of: Vec<Decided<usize>>,
    /// What each role reads of objects of each type, where it has a condition; `None` if no facts decide it.
    conditions: HashMap<(RolePlace, ObjectId), Option<Decided<usize>>>,
}

impl fmt::Debug for IndexRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexRules").finish_non_exhaustive()
    }
}

impl IndexRules {
    /// Works out which facts decide what the roles of a schema see.
    #[must_use]
    pub fn new(api: Arc<Api>, limits: EngineLimits) -> Self {
        let rights = Arc::new(Rights::new(api.soml()));
        let roles: Vec<Access> = api
            .soml()
            .rbac
            .roles
            .iter()
            .map(|role| rights.of([role.name.as_str()]))
            .collect();
        let mut rules = IndexRules {
            rights: Some(rights),
            types: Types::default(),
            limits,
            known: KnownRows::default(),
            compared: Vec::new(),
            objects: Vec::new(),
            api,
        };
        let objects = rules.api.soml().objects().map(|(id, _)| id);
        for id in objects.collect::<Vec<_>>() {
            let of = rules.of_object(id, &roles);
            rules.objects.push(of);
        }
        rules
    }

    /// Returns the facts that an index must hold of its objects of a type.
    #[must_use]
    pub fn facts(&self, object: ObjectId) -> &[Fact] {
        &self.objects[object.0 as usize].facts
    }

    /// Returns the roles with a condition on objects of a type that no facts decide, each once.
    pub fn undecided(&self) -> impl Iterator<Item = (String, ObjectId)> {
        let roles = self
            .api
            .soml()
            .rbac
            .roles
            .iter()
            .map(|role| role.name.as_str());
        let all = self.rights.as_ref().map(|rights| rights.of(roles));
        let objects = self.api.soml().objects().zip(&self.objects);
        let conditions = objects.flat_map(|((id, _), of)| {
            let conditions = of.conditions.iter();
            let own = conditions.filter(move |((_, object), _)| *object == id);
            own.map(|((role, object), condition)| (*role, *object, condition))
        });
        let undecided = conditions
            .filter(|(.., condition)| condition.is_none())
            .map(move |(role, object, _)| {
                let name = all.as_ref().map(|all| all.name_of(role).to_owned());
                (name.unwrap_or_default(), object)
            });
        let mut undecided: Vec<_> = undecided.collect();
        undecided.sort_unstable();
        undecided.into_iter()
    }

    /// Returns what the sender of a request sees; `None` for everything.
    #[must_use]
    pub fn sight(self: &Arc<Self>, context: &RequestContext) -> Option<Sight> {
        let permit = access_of(&self.rights, context, self.source())?;
        let view = View::new(&self.api, None, &self.types);
        let compared = self.compared.iter();
        let operators = compared.map(|one| one.with(view, &self.limits, permit.claims()));
        Some(Sight {
            operators: operators.collect(),
            rules: Arc::clone(self),
            permit,
        })
    }

    fn source(&self) -> RowSource<'_> {
        RowSource {
            api: &self.api,
            types: &self.types,
            limits: &self.limits,
            known: &self.known,
        }
    }

    fn of_object(&mut self, id: ObjectId, roles: &[Access]) -> OfObject {
        let ty = self.api.range_type(id);
        let types = self.api.possible_types(ty).to_vec();
        let mut of = OfObject::default();
        for access in roles {
            let Some(role) = access.role_places().next() else {
                continue;
            };
            for object in &types {
                let mut conditions = access.conditions(role, *object, Operation::Read).peekable();
                if conditions.peek().is_none() {
                    continue;
                }
                let mut compared = std::mem::take(&mut self.compared);
                let condition = parametrized(conditions, *object, self.source(), &mut compared);
                self.compared = compared;
                let decided = condition.and_then(|condition| of.express(&condition));
                of.conditions.insert((role, *object), decided);
            }
        }
        of.types = if self.are_alike(id, &types, roles, &of) {
            types.into_iter().take(1).collect()
        } else {
            types
        };
        if of.types.len() > 1 {
            let index = &self.types.get(&self.api, ty).index;
            for object in of.types.clone() {
                let guard = index.guard(false, |of| of == object).condition();
                let is_of = of.express(&guard);
                of.is_of.push(is_of.expect("types have no parameters"));
            }
        }
        of
    }

    /// Returns whether each role reads the same of the objects of some types.
    fn are_alike(&self, id: ObjectId, types: &[ObjectId], roles: &[Access], of: &OfObject) -> bool {
        let Some((first, others)) = types.split_first() else {
            return true;
        };
        let soml = self.api.soml();
        let own = soml[id].props.iter();
        let names: Vec<&str> = own
            .map(|property| soml[*property].name.graphql.as_str())
            .chain(["id", "type", "name", "__typename"])
            .collect();
        let reads = |access: &Access, object: ObjectId| -> Vec<bool> {
            let part = |name: &&str| {
                let part = self.part(object, name);
                part.is_some_and(|part| access.reads(object, part))
            };
            let reads = names.iter().map(part);
            reads.chain([access.sees(object)]).collect()
        };
        roles.iter().all(|access| {
            let first_reads = reads(access, *first);
            let role = access.role_places().next();
            others.iter().all(|other| {
                let condition = |object| role.and_then(|role| of.conditions.get(&(role, object)));
                reads(access, *other) == first_reads && condition(*other) == condition(*first)
            })
        })
    }

    fn part(&self, object: ObjectId, name: &str) -> Option<Part> {
        match name {
            "__typename" => Some(Part::TypeName),
            name => {
                let field = self.api.field(TypeRef::Concrete(object), name)?;
                Some(field.part())
            }
        }
    }
}

impl OfObject {
    /// Takes a condition apart; `None` where no facts decide it.
    fn express(&mut self, condition: &NodeCondition) -> Option<Decided<usize>> {
        let known = self.facts.len();
        let decided = express(condition, &mut self.facts);
        if decided.is_none() {
            self.facts.truncate(known);
        }
        decided
    }
}

/// What the sender of a request sees.
#[derive(Debug)]
pub struct Sight {
    rules: Arc<IndexRules>,
    permit: Permit,
    /// What values are compared with, in the order of the comparisons with claims.
    operators: Vec<Operator>,
}

impl Sight {
    /// Returns which objects of a type are shown.
    #[must_use]
    pub fn shown(&self, object: ObjectId) -> Seen {
        self.seen(object, |object| {
            let sees = self.permit.sees(object);
            sees.then(|| self.permit.seeing(object).collect())
        })
    }

    /// Returns of which objects of a type a field can be read: `id`, `type`, `__typename`, `name` or a property by its GraphQL
    /// name.
    #[must_use]
    pub fn readable(&self, object: ObjectId, field: &str) -> Seen {
        self.seen(object, |object| {
            let part = self.rules.part(object, field)?;
            let reads = self.permit.reads(object, part);
            reads.then(|| {
                let reading = self.permit.allowing(object, part, Operation::Read);
                reading.collect()
            })
        })
    }

    /// Returns whether the schema for federation can be read.
    #[must_use]
    pub fn reads_sdl(&self) -> bool {
        self.permit.reads_service(ServicePart::Sdl)
    }

    /// Lists the roles of the sender, for messages about denied access.
    #[must_use]
    pub fn roles(&self) -> String {
        role_names(&self.permit)
    }

    /// Returns which objects are meant, given the roles that mean those of each concrete type; `None` for none of these.
    fn seen(&self, object: ObjectId, meant: impl Fn(ObjectId) -> Option<Vec<RolePlace>>) -> Seen {
        let of = &self.rules.objects[object.0 as usize];
        let (mut parts, mut are_all) = (Vec::new(), true);
        for (at, ty) in of.types.iter().enumerate() {
            let accepted = match meant(*ty) {
                Some(roles) => self.accepted(of, *ty, &roles),
                None => Seen::Nothing,
            };
            are_all &= accepted == Seen::All;
            let is_of = of.is_of.get(at).map(|is_of| self.compare(is_of));
            match (accepted, is_of) {
                (Seen::Nothing, _) => {}
                (Seen::Undecided, _) => return Seen::Undecided,
                (Seen::All, is_of) => parts.push(is_of.unwrap_or(Decided::TRUE)),
                (Seen::Some(condition), None) => parts.push(condition),
                (Seen::Some(condition), Some(is_of)) => {
                    parts.push(Decided::All(vec![is_of, condition]));
                }
            }
        }
        match parts.len() {
            0 => Seen::Nothing,
            _ if are_all => Seen::All,
            1 => Seen::Some(parts.swap_remove(0)),
            _ => Seen::Some(Decided::Any(parts)),
        }
    }

    /// Returns which objects of a concrete type some roles accept.
    fn accepted(&self, of: &OfObject, ty: ObjectId, roles: &[RolePlace]) -> Seen {
        let mut any = Vec::new();
        let mut is_undecided = false;
        for role in roles {
            match self.permit.condition(*role, ty, Operation::Read) {
                None => return Seen::All,
                Some(condition) if condition.is_false() => {}
                Some(_) => match of.conditions.get(&(*role, ty)).and_then(Option::as_ref) {
                    Some(decided) => any.push(self.compare(decided)),
                    None => is_undecided = true,
                },
            }
        }
        match any.len() {
            _ if is_undecided => Seen::Undecided,
            1 => Seen::Some(any.swap_remove(0)),
            // None of the objects, of which something could be read if the claims were others.
            _ => Seen::Some(Decided::Any(any)),
        }
    }

    fn compare(&self, decided: &Decided<usize>) -> Decided<Operator> {
        decided.map(&mut |_, compared: &usize| self.operators[*compared].clone())
    }
}
