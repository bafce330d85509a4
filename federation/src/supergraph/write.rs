//! Writes supergraphs as standard SDL, under the lowest version of the join specification that can say it.

use std::collections::HashSet;
use std::fmt::Write;

use apollo_compiler::ast::{Directive, Value};
use apollo_compiler::schema::{Component, ComponentName, DirectiveList, ExtendedType};
use apollo_compiler::{Name, Schema, name};

use super::join::{self, DirectiveBuilder};
use super::model::{Supergraph, TypeId};

/// A version of the join specification that is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JoinVersion {
    V03,
    /// Labels of overrides, and directives of subgraphs.
    V04,
    /// Arguments from contexts.
    V05,
}

impl Supergraph {
    /// Returns the supergraph as standard SDL, from which [`Supergraph::parse`] makes an equal one.
    ///
    /// What older versions of the join specification leave unsaid, such as the subgraphs of enum values, is
    /// written.
    #[must_use]
    pub fn to_sdl(&self) -> String {
        let version = version(&self.schema);
        let mut schema = Schema::clone(&self.schema);
        let links = links(&schema.schema_definition.directives, version);
        schema.schema_definition.make_mut().directives.0 = links;
        schema
            .directive_definitions
            .retain(|name, _| !is_written_here(name));
        schema.types.retain(|name, _| !is_written_here(name));
        for (name, ty) in &mut schema.types {
            if let Some(id) = self.type_id(name) {
                self.say(id, ty);
            }
        }
        let mut out = schema.to_string();
        let subgraphs = self
            .subgraphs
            .iter()
            .map(|it| (&it.graph, it.name.as_str(), it.url.as_str()));
        definitions(subgraphs, version, &mut out);
        out
    }

    /// Adds the join directives that say what an older version leaves unsaid.
    fn say(&self, id: TypeId, ty: &mut ExtendedType) {
        match ty {
            ExtendedType::Union(union) => {
                let union = union.make_mut();
                let members: Vec<Name> = union.members.iter().map(|it| it.name.clone()).collect();
                let known = said(&union.directives, "member");
                for member in members {
                    if !known.contains(member.as_str()) {
                        let graphs = self.graphs_with(id, &member);
                        let said = name!("join__unionMember");
                        add(
                            &mut union.directives,
                            &said,
                            &graphs,
                            name!("member"),
                            &member,
                        );
                    }
                }
            }
            ExtendedType::Enum(values) => {
                let graphs = self.graphs(id);
                for value in values.make_mut().values.values_mut() {
                    if !value.directives.has("join__enumValue") {
                        let said = graphs.iter().map(|graph| {
                            DirectiveBuilder::of_graph(name!("join__enumValue"), graph).node()
                        });
                        value.make_mut().directives.0.extend(said);
                    }
                }
            }
            ExtendedType::Object(object) => {
                let object = object.make_mut();
                let interfaces = object
                    .implements_interfaces
                    .iter()
                    .cloned()
                    .collect::<Vec<_>>();
                self.say_interfaces(&object.name, &interfaces, &mut object.directives);
            }
            ExtendedType::Interface(interface) => {
                let interface = interface.make_mut();
                let interfaces = interface
                    .implements_interfaces
                    .iter()
                    .cloned()
                    .collect::<Vec<_>>();
                self.say_interfaces(&interface.name, &interfaces, &mut interface.directives);
            }
            _ => {}
        }
    }

    fn say_interfaces(
        &self,
        name: &Name,
        interfaces: &[ComponentName],
        directives: &mut DirectiveList,
    ) {
        let known = said(directives, "interface");
        for interface in interfaces {
            if known.contains(interface.name.as_str()) {
                continue;
            }
            if let Some(id) = self.type_id(&interface.name) {
                let graphs = self.graphs_with(id, name);
                add(
                    directives,
                    &name!("join__implements"),
                    &graphs,
                    name!("interface"),
                    &interface.name,
                );
            }
        }
    }

    /// Returns the subgraphs that know a type.
    fn graphs(&self, id: TypeId) -> Vec<Name> {
        let joins = self.ty(id).joins.iter();
        joins
            .map(|join| self.subgraph(join.subgraph).graph.clone())
            .collect()
    }

    /// Returns the subgraphs that know a type and another one.
    fn graphs_with(&self, id: TypeId, other: &str) -> Vec<Name> {
        let other = self
            .type_id(other)
            .map(|other| self.graphs(other))
            .unwrap_or_default();
        let mut graphs = self.graphs(id);
        graphs.retain(|graph| other.contains(graph));
        graphs
    }
}

/// Writes what the specifications of joins and links define, for subgraphs with their names and addresses.
pub(crate) fn definitions<'s>(
    subgraphs: impl IntoIterator<Item = (&'s Name, &'s str, &'s str)>,
    version: JoinVersion,
    out: &mut String,
) {
    out.push_str("\nenum join__Graph {\n");
    for (graph, name, url) in subgraphs {
        let (name, url) = (Value::from(name), Value::from(url));
        let (name, url) = (name.serialize().no_indent(), url.serialize().no_indent());
        let _ = writeln!(out, "  {graph} @join__graph(name: {name}, url: {url})");
    }
    out.push_str("}\n");
    out.push_str(ALWAYS);
    if version >= JoinVersion::V04 {
        out.push_str(DIRECTIVE);
    }
    if version >= JoinVersion::V05 {
        out.push_str(CONTEXT);
    }
    let arguments = match version {
        JoinVersion::V03 => "",
        JoinVersion::V04 => ", overrideLabel: String",
        JoinVersion::V05 => ", overrideLabel: String, contextArguments: [join__ContextArgument!]",
    };
    let _ = writeln!(
        out,
        "\ndirective @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet, type: String, external: Boolean, override: String, usedOverridden: Boolean{arguments}) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION"
    );
}

const ALWAYS: &str = "
scalar join__FieldSet

scalar link__Import

enum link__Purpose {
  SECURITY
  EXECUTION
}

directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA

directive @join__graph(name: String!, url: String!) on ENUM_VALUE

directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false, resolvable: Boolean! = true, isInterfaceObject: Boolean! = false) repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR

directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT | INTERFACE

directive @join__unionMember(graph: join__Graph!, member: String!) repeatable on UNION

directive @join__enumValue(graph: join__Graph!) repeatable on ENUM_VALUE
";

const DIRECTIVE: &str = "
scalar join__DirectiveArguments

directive @join__directive(graphs: [join__Graph!], name: String!, args: join__DirectiveArguments) repeatable on SCHEMA | OBJECT | INTERFACE | FIELD_DEFINITION
";

const CONTEXT: &str = "
scalar join__FieldValue

input join__ContextArgument {
  name: String!
  type: String!
  context: String!
  selection: join__FieldValue!
}
";

impl JoinVersion {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            JoinVersion::V03 => "v0.3",
            JoinVersion::V04 => "v0.4",
            JoinVersion::V05 => "v0.5",
        }
    }
}

/// Returns the lowest version that can say what a supergraph says.
fn version(schema: &Schema) -> JoinVersion {
    let of = |directive: &Directive| match directive.name.as_str() {
        "join__field" if !join::list(directive, "contextArguments").is_empty() => JoinVersion::V05,
        "join__field" if join::text(directive, "overrideLabel").is_some() => JoinVersion::V04,
        "join__directive" => JoinVersion::V04,
        _ => JoinVersion::V03,
    };
    let mut version = JoinVersion::V03;
    let mut look_at = |directive: &Directive| version = version.max(of(directive));
    schema
        .schema_definition
        .directives
        .iter()
        .for_each(|it| look_at(it));
    for ty in schema.types.values() {
        ty.directives().iter().for_each(|it| look_at(it));
        let fields = match ty {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            ExtendedType::InputObject(input) => {
                let directives = input.fields.values().flat_map(|field| &field.directives.0);
                directives.for_each(|it| look_at(it));
                continue;
            }
            _ => continue,
        };
        let directives = fields.values().flat_map(|field| &field.directives.0);
        directives.for_each(|it| look_at(it));
    }
    version
}

/// Returns the directives of the schema: the links to what is written here, and whatever else there is.
fn links(directives: &DirectiveList, version: JoinVersion) -> Vec<Component<Directive>> {
    let mut links = machinery_links(version);
    let others = directives
        .0
        .iter()
        .filter(|it| it.name != "link" || !is_of(it, &["link", "join"]));
    links.extend(others.cloned());
    links
}

/// Returns the links to the specifications of links and joins.
pub(crate) fn machinery_links(version: JoinVersion) -> Vec<Component<Directive>> {
    let join = format!("join/{}", version.as_str());
    vec![
        feature_link("link/v1.0", None),
        feature_link(&join, Some("EXECUTION")),
    ]
}

/// Returns a link to a feature, with its version, that is of the same family as the join specification.
pub(crate) fn feature_link(path: &str, purpose: Option<&str>) -> Component<Directive> {
    let link = DirectiveBuilder::link(&format!("https://specs.apollo.dev/{path}"));
    let link = match purpose {
        Some(purpose) => link.with(name!("for"), Value::Enum(Name::new_unchecked(purpose))),
        None => link,
    };
    link.component()
}

/// Returns whether a link is to one of some features.
fn is_of(link: &Directive, features: &[&str]) -> bool {
    let url = join::text(link, "url").unwrap_or_default();
    let name = url.rsplit('/').nth(1);
    name.is_some_and(|name| features.contains(&name))
}

/// Returns whether a definition is one of the specifications of joins and links.
fn is_written_here(name: &str) -> bool {
    name == "link" || name.starts_with("join__") || name.starts_with("link__")
}

/// Returns what join directives name in an argument.
fn said(directives: &DirectiveList, argument: &str) -> HashSet<String> {
    let joins = directives
        .0
        .iter()
        .filter(|it| it.name.starts_with("join__"));
    let names = joins.filter_map(|directive| join::text(directive, argument));
    names.map(str::to_owned).collect()
}

/// Adds a join directive for each subgraph.
fn add(directives: &mut DirectiveList, name: &Name, graphs: &[Name], argument: Name, value: &Name) {
    let said = graphs.iter().map(|graph| {
        let directive = DirectiveBuilder::of_graph(name.clone(), graph);
        directive.with(argument.clone(), value.as_str()).component()
    });
    directives.0.extend(said);
}
