//! Merges unions: a member of one subgraph is a member. Clients only receive values of unions, so
//! more members break no subgraph.

use apollo_compiler::collections::IndexSet;
use apollo_compiler::schema::{ComponentName, DirectiveList, ExtendedType, UnionType};
use apollo_compiler::{Name, Node, name};

use super::{Merge, Sources};
use crate::compose::code::HintCode;
use crate::supergraph::join::DirectiveBuilder;

impl Merge<'_> {
    pub(super) fn merge_union(
        &mut self,
        name: &Name,
        sources: &Sources<'_, ExtendedType>,
        description: Option<Node<str>>,
        mut directives: DirectiveList,
    ) -> ExtendedType {
        let unions: Vec<_> = sources
            .iter()
            .filter_map(|(at, ty)| Some((*at, ty.as_union()?)))
            .collect();
        let mut members = IndexSet::default();
        let mut joins = Vec::new();
        for (at, union) in &unions {
            for member in &union.members {
                members.insert(ComponentName::from(member.name.clone()));
                let join = DirectiveBuilder::of_graph(
                    name!("join__unionMember"),
                    &self.subgraphs[*at].graph,
                );
                joins.push(join.with(name!("member"), member.name.as_str()).component());
            }
        }
        for member in &members {
            let lacks = |union: &UnionType| !union.members.contains(member.name.as_str());
            let missing: Vec<_> = unions.iter().filter(|(_, union)| lacks(union)).collect();
            if !missing.is_empty() {
                let member = &member.name;
                let names = self.named(missing.iter().map(|(at, _)| *at));
                let message = format!("`{member}` is not a member of `{name}` in {names}");
                let places = missing
                    .iter()
                    .map(|(at, union)| self.place(*at, union.name.location()))
                    .collect();
                let code = HintCode::INCONSISTENT_UNION_MEMBER;
                self.hint(code, name.as_str(), places, message);
            }
        }
        let types = directives
            .0
            .iter()
            .filter(|it| it.name == "join__type")
            .count();
        directives.0.splice(types..types, joins);
        ExtendedType::Union(Node::new(UnionType {
            description,
            name: name.clone(),
            directives,
            members,
        }))
    }
}
