//! Where a clause stands in the argument of a search, for errors.

use std::fmt;

use graphql_service::error::GraphqlError;

/// The way from an argument to a clause. Costs nothing until it is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trail<'t> {
    above: Option<&'t Trail<'t>>,
    step: Step<'t>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'t> {
    Member(&'t str),
    Item(usize),
}

impl<'t> Trail<'t> {
    /// Begins at an argument.
    pub(super) fn new(argument: &'t str) -> Self {
        Trail {
            above: None,
            step: Step::Member(argument),
        }
    }

    /// Goes on to a member of an object.
    pub(super) fn member<'i>(&'i self, name: &'i str) -> Trail<'i> {
        Trail {
            above: Some(self),
            step: Step::Member(name),
        }
    }

    /// Goes on to an element of a list.
    pub(super) fn item(&self, at: usize) -> Trail<'_> {
        Trail {
            above: Some(self),
            step: Step::Item(at),
        }
    }

    /// Adds the path of the clause to an error, unless it has the path of a nested clause.
    pub(super) fn mark(&self, error: GraphqlError) -> GraphqlError {
        let is_marked = error.details().any(|(key, _)| key == CLAUSE);
        if is_marked {
            error
        } else {
            error.with(CLAUSE, self.to_string())
        }
    }
}

/// The member of `extensions` that has the way to a clause.
const CLAUSE: &str = "clause";

impl fmt::Display for Trail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(above) = self.above {
            above.fmt(f)?;
        }
        match (self.step, self.above) {
            (Step::Member(name), None) => f.write_str(name),
            (Step::Member(name), Some(_)) => write!(f, ".{name}"),
            (Step::Item(at), _) => write!(f, "[{at}]"),
        }
    }
}
