//! What a caller may do, as a table for people.

use std::fmt;

use super::{Access, Part};
use crate::rbac::Operation;
use crate::schema::{Object, ObjectId, Schema};

/// What a caller may do with the objects of each type, as a table of Markdown, and the conditions and preset values of its
/// roles below it.
///
/// ```
/// use std::sync::Arc;
///
/// use soml_core::access::{Rights, RightsTable};
///
/// let text = "
/// id: /soml/films
/// objects: {Film: {props: {title: {}, budget: {}}}}
/// rbac: {roles: {Reader: {actions: ['*/*/read'], notActions: ['*/budget/*']}}}
/// ";
/// let schema = soml_core::load(text).schema.ok_or("the schema has errors")?;
/// let access = Arc::new(Rights::new(&schema)).of(["Reader"]);
/// let table = RightsTable::new(&schema, &access).to_string();
/// assert!(table.ends_with("| Film   | all but budget | nothing | no     |\n"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RightsTable<'a> {
    schema: &'a Schema,
    access: &'a Access,
}

impl<'a> RightsTable<'a> {
    /// Describes what a caller may do.
    #[must_use]
    pub fn new(schema: &'a Schema, access: &'a Access) -> Self {
        RightsTable { schema, access }
    }

    fn parts(&self, object: &'a Object) -> Vec<(Part, &'a str)> {
        let fields = [(Part::Id, "id"), (Part::Type, "type"), (Part::Name, "name")];
        let fields = fields
            .into_iter()
            .filter(|(part, _)| *part != Part::Name || object.name_property.is_some());
        let properties = object.props.iter().map(|id| {
            let name = self.schema[*id].name.graphql.as_str();
            (Part::Property(*id), name)
        });
        fields.chain(properties).collect()
    }

    /// Lists the parts of an object that an operation is allowed on.
    fn allowed(&self, id: ObjectId, object: &Object, operation: Operation) -> String {
        let (allowed, denied): (Vec<_>, Vec<_>) = self
            .parts(object)
            .into_iter()
            .partition(|(part, _)| self.access.may(id, *part, operation));
        let names = |parts: &[(Part, &str)]| {
            let names: Vec<&str> = parts.iter().map(|(_, name)| *name).collect();
            names.join(", ")
        };
        match (allowed.len(), denied.len()) {
            (0, _) => "nothing".to_owned(),
            (_, 0) => "all".to_owned(),
            (some, others) if others <= some => format!("all but {}", names(&denied)),
            _ => names(&allowed),
        }
    }

    fn rows(&self) -> Vec<[String; 4]> {
        let head = ["object", "read", "write", "delete"].map(str::to_owned);
        let objects = self.schema.objects().map(|(id, object)| {
            let may_delete = self.access.may(id, Part::Id, Operation::Delete);
            [
                object.name.graphql.clone(),
                self.allowed(id, object, Operation::Read),
                self.allowed(id, object, Operation::Write),
                if may_delete { "yes" } else { "no" }.to_owned(),
            ]
        });
        [head].into_iter().chain(objects).collect()
    }

    /// Writes the conditions of roles on objects of a type, and the values that they leave no choice of.
    fn row_rules(&self, id: ObjectId, object: &Object, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &object.name.graphql;
        for role in self.access.role_places() {
            let role_name = self.access.name_of(role);
            for operation in Operation::ALL {
                for condition in self.access.conditions(role, id, operation) {
                    let operation = operation.name();
                    writeln!(f, "{role_name}: {operation} {name} where {condition}")?;
                }
            }
            for &property in &object.props {
                if let Some(value) = self.access.preset(role, property) {
                    let property = &self.schema[property].name.graphql;
                    writeln!(f, "{role_name}: {property} of {name} is {value}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for RightsTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let widths: [usize; 4] = std::array::from_fn(|at| {
            let lengths = rows.iter().map(|row| row[at].chars().count());
            lengths.max().unwrap_or_default()
        });
        for (at, row) in rows.iter().enumerate() {
            for (text, width) in row.iter().zip(widths) {
                write!(f, "| {text:width$} ")?;
            }
            f.write_str("|\n")?;
            if at == 0 {
                for width in widths {
                    write!(f, "|{}", "-".repeat(width + 2))?;
                }
                f.write_str("|\n")?;
            }
        }
        for (id, object) in self.schema.objects() {
            self.row_rules(id, object, f)?;
        }
        Ok(())
    }
}
