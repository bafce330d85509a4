//! Roles that see some of the objects alone.
//!
//! Conditions are about ids, so that a test knows without asking anybody which objects they accept.

use oxrdf::{NamedOrBlankNode, Quad, Term};
use serde_json::{Map, Value};

use crate::differential::random::Random;

/// The conditions of the roles `A`, `B`, `C` and `Default`; `None` for all objects.
pub(crate) struct Rows(Vec<(&'static str, Option<Accepts>)>);

/// What a condition accepts.
#[derive(Clone, Copy, Debug)]
enum Accepts {
    /// Ids that end with one of some characters.
    Ends(&'static str),
    /// All but those.
    OtherEnds(&'static str),
    /// The ids in a claim.
    Mine,
    /// The ids in a claim, and those that end with one of some characters.
    MineOrEnds(&'static str),
    /// Nothing: a claim that nobody has.
    Nothing,
}

impl Rows {
    pub(crate) fn new(random: &mut Random) -> Self {
        let roles = ["A", "B", "C", "Default"].map(|role| {
            let accepts = match random.below(20) {
                0..5 => None,
                5..8 => Some(Accepts::Ends("02468")),
                8..11 => Some(Accepts::OtherEnds("036")),
                11..15 => Some(Accepts::Ends("012345678")),
                15 | 16 => Some(Accepts::Mine),
                17 | 18 => Some(Accepts::MineOrEnds("135")),
                _ => Some(Accepts::Nothing),
            };
            (role, accepts)
        });
        Rows(roles.to_vec())
    }

    /// Returns the condition of a role as a document has it.
    pub(crate) fn condition(&self, role: &str) -> Option<String> {
        Some(match self.of(role)? {
            Accepts::Ends(ends) => format!("{{id: {{RE: '[{ends}]$'}}}}"),
            Accepts::OtherEnds(ends) => format!("{{NOT: {{id: {{RE: '[{ends}]$'}}}}}}"),
            Accepts::Mine => "{id: {IN: $claims.mine}}".to_owned(),
            Accepts::MineOrEnds(ends) => {
                format!("{{OR: [{{ID: $claims.mine}}, {{id: {{RE: '[{ends}]$'}}}}]}}")
            }
            Accepts::Nothing => "{OR: [{id: {EQ: $claims.none}}, {id: {NEQ: 'urn:x'}}]}".to_owned(),
        })
    }

    /// Returns the conditions of a role on what it reads, writes and deletes.
    pub(crate) fn conditions(&self, random: &mut Random, role: &str) -> String {
        let mut conditions = Vec::new();
        if let Some(read) = self.condition(role) {
            conditions.push(format!("read: {read}"));
        }
        for operation in ["write", "delete"] {
            if random.chance(50) {
                let ends = random.choose(&["01234567", "2468", "13579"]);
                conditions.push(format!("{operation}: {{id: {{RE: '[{ends}]$'}}}}"));
            }
        }
        format!("{{{}}}", conditions.join(", "))
    }

    fn of(&self, role: &str) -> Option<Accepts> {
        let mut roles = self.0.iter();
        roles.find(|(known, _)| *known == role)?.1
    }

    /// Returns the claims of a caller.
    pub(crate) fn claims(&self, random: &mut Random, quads: &[Quad]) -> Map<String, Value> {
        let mut mine = Vec::new();
        for _ in 0..random.below(6) {
            if let NamedOrBlankNode::NamedNode(node) = &random.pick(quads).subject {
                mine.push(Value::from(node.as_str()));
            }
        }
        Map::from_iter([("mine".to_owned(), Value::Array(mine))])
    }

    /// Returns whether a role accepts an object for a caller with some claims.
    pub(crate) fn accepts(&self, role: &str, claims: &Map<String, Value>, node: &Term) -> bool {
        let Term::NamedNode(node) = node else {
            return true;
        };
        let id = node.as_str();
        let ends = |ends: &str| id.ends_with(|last| ends.contains(last));
        let mine = || {
            let mine = claims.get("mine").and_then(Value::as_array);
            mine.is_some_and(|mine| mine.iter().any(|one| one == id))
        };
        match self.of(role) {
            None => true,
            Some(Accepts::Ends(of)) => ends(of),
            Some(Accepts::OtherEnds(of)) => !ends(of),
            Some(Accepts::Mine) => mine(),
            Some(Accepts::MineOrEnds(of)) => mine() || ends(of),
            Some(Accepts::Nothing) => false,
        }
    }
}
