//! What searches show that the roles of a schema hide where they do not obey roles (`search.rbac.enabled=false`): everything
//! that is indexed to every caller, so with security on someone has to decide that they may.

use std::fmt;
use std::sync::Arc;

use soml_core::Schema;
use soml_core::access::Rights;
use soml_core::rbac::Operation;

use super::options::SearchOptions;

/// Names that a message lists of objects or roles.
const MAX_NAMES: usize = 5;

/// What searches show although a schema hides it from someone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Objects whose indexed properties are shown.
    objects: Vec<String>,
    from: HiddenFrom,
    /// Roles see some objects of a type and not others, which is never ignored.
    has_conditions: bool,
}

/// Who may not read everything.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HiddenFrom {
    /// Everyone: the schema declares no roles.
    Everybody,
    /// Callers with these roles.
    Roles(Vec<String>),
    /// Callers none of whose roles the schema declares.
    Unknown,
}

impl Shown {
    /// Finds out what searches over a schema show although its roles hide it from someone; `None` if every caller may
    /// read everything. Super roles hide nothing from those who have them.
    #[must_use]
    pub fn of(soml: &Schema, super_roles: &[String]) -> Option<Self> {
        let objects = soml
            .objects
            .iter()
            .filter(|object| object.search.as_ref().is_some_and(|it| it.index));
        Some(Shown {
            objects: objects.map(|object| object.name.written.clone()).collect(),
            from: HiddenFrom::of(soml, super_roles)?,
            has_conditions: has_conditions(soml),
        })
    }
}

impl HiddenFrom {
    fn of(soml: &Schema, super_roles: &[String]) -> Option<Self> {
        let roles = &soml.rbac.roles;
        if roles.is_empty() {
            return Some(HiddenFrom::Everybody);
        }
        let rights = Arc::new(Rights::new(soml));
        let reads = |role: &str| rights.of([role]).reads_everything();
        let denied = roles
            .iter()
            .filter(|role| !reads(&role.name) && !super_roles.contains(&role.name));
        let denied: Vec<_> = denied.map(|role| role.name.clone()).collect();
        match denied.is_empty() {
            false => Some(HiddenFrom::Roles(denied)),
            true if !rights.of([]).reads_everything() => Some(HiddenFrom::Unknown),
            true => None,
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = listed(&self.objects);
        write!(
            f,
            "search shows every caller all indexed properties of {objects}, and "
        )?;
        match &self.from {
            HiddenFrom::Everybody => f.write_str(
                "the schema has no `rbac` section, so only superusers may read them at the object service",
            ),
            HiddenFrom::Roles(roles) => {
                write!(f, "the schema hides something from {}", listed(roles))
            }
            HiddenFrom::Unknown => f.write_str(
                "the schema hides something from callers without one of its roles (it has no role `Default` that reads \
                 everything)",
            ),
        }?;
        if self.has_conditions {
            f.write_str("; conditions of roles on objects (`filters`) are never ignored")
        } else {
            Ok(())
        }
    }
}

/// Returns whether some role sees some objects of a type alone.
fn has_conditions(soml: &Schema) -> bool {
    let mut filters = soml.rbac.roles.iter().flat_map(|role| &role.filters);
    filters.any(|filter| filter.operation == Operation::Read)
}

/// Lists names, the first ones of many.
fn listed(names: &[String]) -> String {
    let shown: Vec<_> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns what searches show that no one has allowed: with security on, where they do not obey roles, and `search.enabled`
/// is not `true`.
#[must_use]
pub fn not_allowed(soml: &Schema, options: &SearchOptions, is_secured: bool) -> Option<Shown> {
    let is_allowed =
        !is_secured || options.obeys_roles || (options.allows_hidden && !has_conditions(soml));
    if is_allowed {
        None
    } else {
        Shown::of(soml, &options.super_roles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(rbac: &str) -> Schema {
        let text = format!(
            "id: /soml/sky\nspecialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: v}}\nobjects:\n  \
             Planet: {{type: v:Planet, search: yes, props: {{title: {{}}}}}}\n  Moon: {{type: v:Moon}}\n{rbac}"
        );
        soml_core::load(&text).schema.unwrap().into_inner()
    }

    fn shown(rbac: &str) -> Option<String> {
        Shown::of(&schema(rbac), &[]).map(|shown| shown.to_string())
    }

    fn roles(text: &str) -> String {
        format!("rbac:\n  roles:\n{text}")
    }

    #[test]
    fn whatever_is_hidden_from_somebody_is_shown_to_them() {
        let all = "    Default: {actions: ['*/*/read']}\n";
        let start = "search shows every caller all indexed properties of `Planet`, and ";
        for (rbac, from) in [
            (String::new(), "the schema has no `rbac` section"),
            (
                roles("    Reader: {actions: ['*/*/read']}\n"),
                "callers without one of its roles",
            ),
            (
                roles("    Default: {actions: ['*/id/read']}\n"),
                "from `Default`",
            ),
            (
                roles(&format!("{all}    Guest: {{actions: ['Moon/*/read']}}\n")),
                "from `Guest`",
            ),
            (
                roles(&format!(
                    "{all}    Guest: {{actions: ['*/*/read'], notActions: ['Planet/title/read']}}\n"
                )),
                "from `Guest`",
            ),
            (
                roles(&format!(
                    "{all}    Guest: {{actions: ['*/*/read'], filters: {{Planet: {{read: {{title: {{EQ: 'x'}}}}}}}}}}\n"
                )),
                "from `Guest`",
            ),
        ] {
            let said = shown(&rbac).unwrap_or_else(|| panic!("{rbac}"));
            assert!(
                said.starts_with(start) && said.contains(from),
                "{rbac}: {said}"
            );
        }
        assert_eq!(shown(&roles(all)), None);
    }

    #[test]
    fn a_super_role_reads_everything_whatever_the_schema_says() {
        let text =
            roles("    Default: {actions: ['*/*/read']}\n    Admin: {actions: ['*/id/read']}\n");
        assert!(Shown::of(&schema(&text), &[]).is_some());
        assert_eq!(Shown::of(&schema(&text), &["Admin".to_owned()]), None);
    }

    #[test]
    fn with_security_on_only_an_explicit_option_allows_it() {
        let (soml, mut options) = (schema(""), SearchOptions::default());
        for is_allowed in [false, true] {
            options.allows_hidden = is_allowed;
            let found = not_allowed(&soml, &options, true);
            assert_eq!(found.is_none(), is_allowed);
            assert_eq!(not_allowed(&soml, &options, false), None);
        }
    }

    #[test]
    fn of_many_names_the_first_are_listed() {
        let names: Vec<_> = (0..7).map(|at| at.to_string()).collect();
        assert_eq!(listed(&names), "`0`, `1`, `2`, `3`, `4` and 2 more");
        assert_eq!(listed(&names[..1]), "`0`");
    }
}
