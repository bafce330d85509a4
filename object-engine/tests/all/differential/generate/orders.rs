//! Random `orderBy` inputs.

use soml_core::schema::{LiteralRange, Property, Range};

use super::Generator;
use crate::differential::operation::Arg;
use crate::differential::reference::Ty;

impl Generator<'_> {
    pub(super) fn direction(&mut self) -> Arg {
        Arg::Enum(self.random.choose(&["ASC", "DESC"]).to_string())
    }

    /// Keys of an order of objects; `None` when there is nothing to order by.
    pub(super) fn order(&mut self, ty: Ty, depth: usize) -> Arg {
        let mut keys: Vec<(String, Arg)> = Vec::new();
        for _ in 0..self.random.between(1, 3) {
            let (key, value) = self.order_key(ty, depth);
            if !keys.iter().any(|(known, _)| *known == key) {
                keys.push((key, value));
            }
        }
        Arg::Object(keys)
    }

    fn order_key(&mut self, ty: Ty, depth: usize) -> (String, Arg) {
        let properties = match ty {
            Ty::Any | Ty::Nameable => Vec::new(),
            Ty::Concrete(id) | Ty::Interface(id) => self.model.object(id).props.clone(),
        };
        let schema = self.model.schema;
        let single: Vec<&Property> = properties
            .into_iter()
            .map(|id| &schema[id])
            .filter(|p| !p.max.is_multiple() && !p.implied_by_name && p.name.graphql != "name")
            .filter(|p| match p.range {
                Range::Object(_) => depth > 0,
                _ => true,
            })
            .collect();
        let nameable = matches!(ty, Ty::Concrete(id) | Ty::Interface(id)
            if schema.is_nameable(id));
        match self.random.below(10) {
            0 => ("id".to_owned(), self.direction()),
            1 => ("_typename".to_owned(), self.direction()),
            2 | 3 if nameable => ("name".to_owned(), self.direction()),
            _ => match self.random.some(&single) {
                None => ("id".to_owned(), self.direction()),
                Some(property) => {
                    let value = self.order_value(property, depth);
                    (property.name.graphql.clone(), value)
                }
            },
        }
    }

    fn order_value(&mut self, property: &Property, depth: usize) -> Arg {
        match property.range {
            Range::Object(object) => self.order(self.model.range(object), depth - 1),
            Range::Literal(LiteralRange::LangString) => {
                let mut keys = Vec::new();
                if self.random.chance(60) {
                    keys.push(("dir".to_owned(), self.direction()));
                }
                if self.random.chance(60) {
                    let spec = self
                        .random
                        .pick(&["en", "de,en", "en~,ANY", "ANY", "NONE,de"]);
                    keys.push(("lang".to_owned(), Arg::Text(spec.to_string())));
                }
                Arg::Object(keys)
            }
            Range::Literal(_) => self.literal_order(),
            _ => self.direction(),
        }
    }

    /// `Literal_OrderBy`
    pub(super) fn literal_order(&mut self) -> Arg {
        let mut keys = Vec::new();
        for key in ["lang", "value", "type"] {
            if self.random.chance(40) {
                let at = self.random.below(keys.len() + 1);
                let direction = self.direction();
                keys.insert(at, (key.to_owned(), direction));
            }
        }
        Arg::Object(keys)
    }
}
