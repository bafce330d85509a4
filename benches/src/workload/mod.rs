//! The sixteen query templates, as GraphQL and as SPARQL for the same answer.

mod answer;
mod direct;
mod instance;

pub use answer::{Answer, AnswerError};
pub use direct::{DirectError, Filling, Prepared, Rows, collect, prepare, read_json, write_json};
pub use instance::{Instance, instances};

/// A query template.
#[derive(Debug)]
pub struct Template {
    /// Name, such as `QT1`.
    pub name: &'static str,
    /// The operation.
    pub query: &'static str,
    /// Hand-written SPARQL for the same answer.
    pub forms: &'static [Form],
    /// Levels that are asked for their `id`; the root field is level 0.
    pub ids: &'static [usize],
    /// Level whose objects are in a wanted order.
    pub ordered: Option<usize>,
}

/// SPARQL for the answer of a template.
#[derive(Debug)]
pub struct Form {
    /// What the form is: `joins`, `union` or `levels`.
    pub name: &'static str,
    /// Queries, separated by lines of `#---`; the later ones use what the earlier ones found.
    pub text: &'static str,
}

/// A name that no template has.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no template `{0}`")]
pub struct UnknownTemplate(String);

/// Returns the templates of some names, in the order of the templates; all of them where no name is given.
///
/// # Errors
/// When a name is that of no template.
pub fn chosen(
    templates: &'static [Template],
    names: &[String],
) -> Result<Vec<&'static Template>, UnknownTemplate> {
    let is_known = |name: &&String| templates.iter().any(|template| template.name == **name);
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return Err(UnknownTemplate(unknown.clone()));
    }
    let is_chosen =
        |template: &&Template| names.is_empty() || names.iter().any(|name| name == template.name);
    Ok(templates.iter().filter(is_chosen).collect())
}

macro_rules! templates {
    ($($name:literal [$($form:literal)*] ids $ids:expr, ordered $ordered:expr;)*) => {
        /// All templates, in their order.
        pub const TEMPLATES: &[Template] = &[$(
            Template {
                name: $name,
                query: include_str!(concat!("../../queries/", $name, ".graphql")),
                forms: &[$(Form {
                    name: $form,
                    text: include_str!(concat!("../../queries/", $name, ".", $form, ".rq")),
                }),*],
                ids: &$ids,
                ordered: $ordered,
            },
        )*];
    };
}

templates! {
    "QT1" ["joins" "levels"] ids [2], ordered None;
    "QT2" ["joins" "levels"] ids [], ordered None;
    "QT3" ["joins" "levels"] ids [2, 3], ordered None;
    "QT4" ["joins" "union" "levels"] ids [1, 2, 3, 4], ordered None;
    "QT5" ["joins" "union" "levels"] ids [0, 1, 2, 3, 4, 5, 6], ordered None;
    "QT6" ["joins" "levels"] ids [3], ordered None;
    "QT7" ["joins" "levels"] ids [2], ordered None;
    "QT8" ["joins" "levels"] ids [0], ordered Some(0);
    "QT9" ["joins" "levels"] ids [3], ordered Some(3);
    "QT10" ["joins" "levels"] ids [0], ordered None;
    "QT11" ["joins" "levels"] ids [0, 1], ordered None;
    "QT12" ["joins" "union" "levels"] ids [1, 2], ordered None;
    "QT13" ["joins" "union" "levels"] ids [1, 2], ordered None;
    "QT14" ["joins" "union" "levels"] ids [1, 2], ordered None;
    "QT15" ["joins"] ids [], ordered None;
    "QT16" ["joins"] ids [], ordered None;
}
