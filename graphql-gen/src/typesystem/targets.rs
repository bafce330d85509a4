//! What a field that points at a range needs: names of the range's types, and shared arguments.

use apollo_compiler::schema::Type;
use apollo_compiler::{Name, Node, name};
use soml_core::Finding;
use soml_core::datatype::Scalar;
use soml_core::schema::{LiteralRange, ObjectId, ObjectKind, Range, Schema};

use super::arguments::{Arguments, described};
use super::error::ProblemKind;
use super::hierarchy::index;
use super::nodes::{Argument, input, named};

/// A range, or anything else that lists and filters are made of.
pub(super) struct Target {
    /// The output type.
    pub(super) ty: Name,
    /// `T_Where`.
    pub(super) where_single: Node<Type>,
    /// `T_Where_Multi`.
    pub(super) where_multi: Node<Type>,
    /// Type of the key that orders by a single value.
    pub(super) order_by: Node<Type>,
    /// Arguments of a single-valued field.
    pub(super) single_args: Vec<Argument>,
    /// Arguments of a list field.
    pub(super) list_args: Vec<Argument>,
    /// The arguments `orderBy` and `where` of a list.
    pub(super) order_arg: Argument,
    pub(super) where_arg: Argument,
}

impl Target {
    pub(super) fn order_name(&self) -> &Name {
        self.order_by.inner_named_type()
    }

    /// Arguments of the count beside a list field: what decides which values are in the list.
    pub(super) fn count_args(&self, args: &Arguments) -> Vec<Argument> {
        let of_list = |name: &str| self.list_args.iter().any(|a| a.name == name);
        let mut count = vec![described(&self.where_arg)];
        if of_list("ID") {
            count.push(described(&args.ids));
        } else if of_list("lang") {
            count.push(described(&args.lang));
        }
        count
    }
}

/// The two forms of an object in the API.
pub(super) struct ObjectTargets {
    /// The concrete type.
    pub(super) concrete: Option<Target>,
    /// The interface of an abstract object or a concrete superclass.
    pub(super) interface: Option<Target>,
}

/// All targets of a schema.
pub(super) struct Targets {
    scalars: Vec<Target>,
    enums: Vec<Target>,
    lang_string: Target,
    literal: Target,
    pub(super) any_object: Target,
    pub(super) nameable: Target,
    objects: Vec<ObjectTargets>,
    pub(super) args: Arguments,
}

impl Targets {
    /// Names everything; names that are no GraphQL names are added to `problems`.
    ///
    /// `describe` gives all arguments a description.
    pub(super) fn new(soml: &Schema, describe: bool, problems: &mut Vec<Finding>) -> Self {
        let args = Arguments::new(describe);
        let mut namer = Namer { problems };
        let leaf = |ty: Name| Target::leaf(ty, &args);
        let scalars = Scalar::ALL
            .iter()
            .map(|s| leaf(Name::new_static_unchecked(s.graphql_name())))
            .collect();
        let enums = soml
            .enums
            .iter()
            .map(|e| leaf(namer.name(&e.name.graphql, &e.name.written, e.span)))
            .collect();
        let objects = soml
            .objects
            .iter()
            .zip(soml.interface_names())
            .map(|(object, interface)| {
                let ty = namer.name(&object.name.graphql, &object.name.written, object.span);
                if object.kind == ObjectKind::Abstract {
                    let interface = Some(Target::object(ty, &args));
                    return ObjectTargets {
                        concrete: None,
                        interface,
                    };
                }
                // `XInterface`, or `X_Interface` if that is an object's name (docs/schema.md, "The
                // API").
                let interface = interface.map(|name| Name::new_unchecked(&name));
                ObjectTargets {
                    concrete: Some(Target::object(ty, &args)),
                    interface: interface.map(|name| Target::object(name, &args)),
                }
            })
            .collect();
        Targets {
            scalars,
            enums,
            lang_string: Target::literal(name!("LangString_OrderBy"), &args),
            literal: Target::literal(name!("Literal_OrderBy"), &args),
            any_object: Target::object(name!("Object"), &args),
            nameable: Target::object(name!("Nameable"), &args),
            objects,
            args,
        }
    }

    pub(super) fn object(&self, id: ObjectId) -> &ObjectTargets {
        &self.objects[index(id)]
    }

    /// Returns what fields with this object as range point at: its interface if it has one, which
    /// has the instances of subclasses too (docs/schema.md, "The API").
    pub(super) fn object_range(&self, id: ObjectId) -> &Target {
        let targets = self.object(id);
        targets
            .interface
            .as_ref()
            .or(targets.concrete.as_ref())
            .expect("an object is an interface, a type or both")
    }

    pub(super) fn scalar(&self, scalar: Scalar) -> &Target {
        // `Scalar::ALL` is in the order of the enum.
        &self.scalars[scalar as usize]
    }

    /// Returns the concrete types, in document order.
    pub(super) fn concrete(&self) -> impl Iterator<Item = &Target> {
        self.objects.iter().filter_map(|o| o.concrete.as_ref())
    }

    pub(super) fn leaves(&self) -> impl Iterator<Item = &Target> {
        self.scalars.iter()
    }

    pub(super) fn enum_at(&self, position: usize) -> &Target {
        &self.enums[position]
    }

    pub(super) fn range(&self, range: Range) -> &Target {
        match range {
            Range::Scalar(scalar) => self.scalar(scalar),
            Range::Enum(id) => &self.enums[id.0 as usize],
            Range::Literal(LiteralRange::LangString) => &self.lang_string,
            Range::Literal(_) => &self.literal,
            Range::Object(id) => self.object_range(id),
        }
    }
}

impl Target {
    fn new(ty: Name, order: Name, args: &Arguments) -> Self {
        let suffixed = |suffix: &str| {
            let mut text = String::with_capacity(ty.len() + suffix.len());
            text.push_str(&ty);
            text.push_str(suffix);
            Node::new(Type::Named(Name::new_unchecked(&text)))
        };
        let where_single = suffixed("_Where");
        let where_multi = suffixed("_Where_Multi");
        let order_by = Node::new(Type::Named(order));
        Target {
            order_arg: args.shown(input(&name!("orderBy"), None, order_by.clone())),
            where_arg: args.shown(input(&name!("where"), None, where_multi.clone())),
            ty,
            where_single,
            where_multi,
            order_by,
            single_args: Vec::new(),
            list_args: Vec::new(),
        }
    }

    fn leaf(ty: Name, args: &Arguments) -> Self {
        let mut target = Target::new(ty, name!("_OrderBy"), args);
        target.order_arg = args.scalar_order.clone();
        target.list_args = vec![
            target.order_arg.clone(),
            args.limit.clone(),
            args.offset.clone(),
            target.where_arg.clone(),
        ];
        target
    }

    fn literal(order: Name, args: &Arguments) -> Self {
        let mut target = Target::new(name!("Literal"), order, args);
        let order = input(&name!("orderBy"), None, named(&name!("Literal_OrderBy")));
        target.order_arg = args.shown(order);
        target.single_args = vec![
            args.shown(input(&name!("value"), None, named(&name!("String_Where")))),
            args.lang.clone(),
        ];
        target.list_args = vec![
            target.order_arg.clone(),
            args.limit.clone(),
            args.offset.clone(),
            target.where_arg.clone(),
            args.lang.clone(),
        ];
        target
    }

    fn object(ty: Name, args: &Arguments) -> Self {
        let order = Name::new_unchecked(&format!("{ty}_OrderBy"));
        let mut target = Target::new(ty, order, args);
        target.single_args = vec![args.lang.clone()];
        target.list_args = vec![
            args.lang.clone(),
            args.ids.clone(),
            target.order_arg.clone(),
            args.limit.clone(),
            args.offset.clone(),
            target.where_arg.clone(),
        ];
        target
    }
}

/// Makes GraphQL names and notes those that cannot be one.
pub(super) struct Namer<'a> {
    pub(super) problems: &'a mut Vec<Finding>,
}

impl Namer<'_> {
    pub(super) fn name(
        &mut self,
        graphql: &str,
        written: &str,
        span: soml_core::span::Span,
    ) -> Name {
        // <https://spec.graphql.org/September2025/#Name>, and
        // <https://spec.graphql.org/September2025/#sec-Names.Reserved-Names>
        if !Name::is_valid_syntax(graphql) || graphql.starts_with("__") {
            let message = format!("`{written}` would be `{graphql}`, which is not a GraphQL name");
            self.problems
                .push(ProblemKind::NameInvalid.at(Some(span), message).with_help(
                    "GraphQL names are letters, digits and `_`, start with no digit, \
                     and two leading `_` are reserved",
                ));
        }
        Name::new_unchecked(graphql)
    }
}
