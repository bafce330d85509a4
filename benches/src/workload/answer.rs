//! What an answer says, whatever its form: a tree to compare GraphQL and SPARQL by.
//!
//! Objects without any value below them are left out on both sides: a table of joins has no row for
//! them. The order of a list counts where the template asks for one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use oxrdf::Term;
use oxrdf::vocab::xsd;
use serde_json::Value;

use super::{Instance, Rows, Template};

/// An object of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Answer {
    /// Values by field, as JSON text.
    pub values: BTreeMap<String, String>,
    /// Objects that the one nested field leads to.
    pub objects: Vec<Answer>,
}

/// An answer that is not one of data.
#[derive(Debug, thiserror::Error)]
#[error("not an answer with data and without errors: {0}")]
pub struct AnswerError(String);

impl Answer {
    /// Reads the answer of the service to `template`.
    ///
    /// # Errors
    /// When it is not JSON, or holds errors.
    pub fn of_graphql(template: &Template, body: &[u8]) -> Result<Self, AnswerError> {
        let shown = || AnswerError(String::from_utf8_lossy(body).into_owned());
        let answer: Value = serde_json::from_slice(body).map_err(|_| shown())?;
        let data = answer.get("data").filter(|data| data.is_object());
        let (Some(data), None) = (data, answer.get("errors")) else {
            return Err(shown());
        };
        let mut whole = Answer::of_object(data);
        whole.normalize(template, 0);
        Ok(whole)
    }

    fn of_object(object: &Value) -> Self {
        let mut answer = Answer::default();
        for (key, value) in object.as_object().into_iter().flatten() {
            match value {
                Value::Null => {}
                Value::Array(list) => answer.objects.extend(list.iter().map(Answer::of_object)),
                Value::Object(_) => answer.objects.push(Answer::of_object(value)),
                scalar => {
                    answer.values.insert(key.clone(), scalar.to_string());
                }
            }
        }
        answer
    }

    /// Reads the rows of a SPARQL form of `template`.
    #[must_use]
    pub fn of_rows(template: &Template, instance: &Instance, queries: &[Rows]) -> Self {
        let mut graph = Graph::default();
        if let Some(root) = &instance.root {
            graph.root(root.clone().into());
        }
        for rows in queries {
            for variable in &rows.variables {
                if let Some(Column::Node(level)) = Column::of(variable.as_str()) {
                    graph.projected.insert(level);
                }
            }
        }
        for rows in queries {
            let columns: Vec<Option<Column>> = rows
                .variables
                .iter()
                .map(|variable| Column::of(variable.as_str()))
                .collect();
            for row in &rows.rows {
                graph.row(&columns, row);
            }
        }
        let roots = graph.roots.clone();
        let mut whole = Answer {
            values: BTreeMap::new(),
            objects: roots
                .iter()
                .map(|root| graph.tree(template, 0, root))
                .collect(),
        };
        whole.normalize(template, 0);
        whole
    }

    /// Returns how many values there are in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len() + self.objects.iter().map(Answer::len).sum::<usize>()
    }

    /// Returns whether there is no value at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Leaves out what holds nothing, and sorts what has no order; `level` is that of the objects.
    fn normalize(&mut self, template: &Template, level: usize) {
        for object in &mut self.objects {
            object.normalize(template, level + 1);
        }
        self.objects.retain(|object| !object.is_empty());
        if template.ordered != Some(level) {
            self.objects.sort();
        }
    }
}

/// What a column of a table holds.
enum Column<'a> {
    /// Objects of a level.
    Node(usize),
    /// A field of the objects of a level.
    Field(&'a str, usize),
}

impl<'a> Column<'a> {
    fn of(variable: &'a str) -> Option<Self> {
        let name = variable.trim_end_matches(|c: char| c.is_ascii_digit());
        let level = variable[name.len()..].parse().ok()?;
        Some(match name {
            "n" => Column::Node(level),
            field => Column::Field(field, level),
        })
    }
}

/// Objects by level, put together from rows.
#[derive(Default)]
struct Graph {
    /// Levels whose objects are in some table; one object stands for all of any other.
    projected: BTreeSet<usize>,
    roots: Vec<String>,
    values: HashMap<(usize, String), BTreeMap<String, String>>,
    edges: HashMap<(usize, String), Vec<String>>,
}

impl Graph {
    fn root(&mut self, root: Term) {
        self.roots.push(root.to_string());
    }

    fn row(&mut self, columns: &[Option<Column<'_>>], row: &[Option<Term>]) {
        let mut nodes: BTreeMap<usize, String> = BTreeMap::new();
        let mut deepest = 0;
        for (column, term) in columns.iter().zip(row) {
            if let (Some(Column::Node(level) | Column::Field(_, level)), Some(term)) =
                (column, term)
            {
                deepest = deepest.max(*level);
                if matches!(column, Some(Column::Node(_))) {
                    nodes.insert(*level, term.to_string());
                }
            }
        }
        let mut at: Option<String> = None;
        for level in 0..=deepest {
            let node = match nodes.get(&level) {
                Some(node) => Some(node.clone()),
                None if self.projected.contains(&level) => None,
                None if level == 0 => self.roots.first().cloned(),
                None => at.as_ref().map(|parent| format!("{level} of {parent}")),
            };
            if let Some(node) = &node {
                self.link(level, at.as_ref(), node);
                nodes.insert(level, node.clone());
            }
            at = node;
        }
        for (column, term) in columns.iter().zip(row) {
            if let (Some(Column::Field(field, level)), Some(term)) = (column, term)
                && let Some(node) = nodes.get(level)
            {
                let key = (*level, node.clone());
                let values = self.values.entry(key).or_default();
                values.insert((*field).to_owned(), json(term));
            }
        }
    }

    fn link(&mut self, level: usize, parent: Option<&String>, node: &String) {
        let list = match (level, parent) {
            (0, _) => &mut self.roots,
            (_, Some(parent)) => self.edges.entry((level - 1, parent.clone())).or_default(),
            (_, None) => return,
        };
        if !list.contains(node) {
            list.push(node.clone());
        }
    }

    fn tree(&self, template: &Template, level: usize, node: &str) -> Answer {
        let key = (level, node.to_owned());
        let mut values = self.values.get(&key).cloned().unwrap_or_default();
        if template.ids.contains(&level) {
            let iri = node.trim_matches(['<', '>']);
            values.insert("id".to_owned(), Value::from(iri).to_string());
        }
        let objects = self.edges.get(&key).into_iter().flatten();
        Answer {
            values,
            objects: objects
                .map(|node| self.tree(template, level + 1, node))
                .collect(),
        }
    }
}

/// Returns a term as the service writes it: integers as numbers, all else as text.
fn json(term: &Term) -> String {
    match term {
        Term::Literal(literal) if literal.datatype() == xsd::INTEGER => literal.value().to_owned(),
        Term::Literal(literal) => Value::from(literal.value()).to_string(),
        Term::NamedNode(node) => Value::from(node.as_str()).to_string(),
        other => Value::from(other.to_string()).to_string(),
    }
}
