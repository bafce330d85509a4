//! Built-in schemas and data.

use std::str::FromStr;

use aws_lc_rs::error::Unspecified;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use outbound::Secret;

use service_auth::provisioning::{Password, Provisioning, Role, User};

/// A demo: a schema, data for it, and a sample query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demo {
    /// Name on the command line.
    pub name: &'static str,
    /// The SOML document.
    pub schema: &'static str,
    /// What is added to it: a document with objects that an extension service defines.
    pub extension: &'static str,
    /// Further roles of the schema, for when users log in.
    pub roles: &'static str,
    /// File name of the data; its extension gives the syntax.
    pub data_name: &'static str,
    /// The data.
    pub data: &'static str,
    /// What is added to it: data of the objects that are added.
    pub extension_data: &'static str,
    /// A sample query.
    pub query: &'static str,
    /// What of the schema is searched: a document with the objects of that name, and `search` alone.
    pub search: &'static str,
    /// A sample search.
    pub search_query: &'static str,
    /// A sample query over all services.
    pub gateway_query: &'static str,
}

/// Films, characters, planets and starships of Star Wars.
pub const STAR_WARS: Demo = Demo {
    name: "star-wars",
    schema: include_str!("../demo/star-wars/schema.yaml"),
    extension: include_str!("../demo/star-wars/extension.yaml"),
    roles: include_str!("../demo/star-wars/roles.yaml"),
    data_name: "star-wars.ttl",
    data: include_str!("../demo/star-wars/data.ttl"),
    extension_data: include_str!("../demo/star-wars/extension.ttl"),
    query: include_str!("../demo/star-wars/query.graphql"),
    search: include_str!("../demo/star-wars/search.yaml"),
    search_query: include_str!("../demo/star-wars/search.graphql"),
    gateway_query: include_str!("../demo/star-wars/gateway.graphql"),
};

/// Users of a demo, each with the name of their role.
const USERS: [(&str, &str); 3] = [
    ("reader", "Reader"),
    ("editor", "Editor"),
    ("admin", "Admin"),
];

/// The role that may do everything, whatever the schema says of it.
const SUPER_ROLE: &str = "Admin";

/// Bytes of a password.
const PASSWORD: usize = 15;

impl Demo {
    /// Returns the document with the objects that are added.
    #[must_use]
    pub fn whole_schema(&self) -> String {
        overlaid(self.schema, self.extension)
    }

    /// Returns the data with those that are added.
    #[must_use]
    pub fn whole_data(&self) -> String {
        format!("{}\n{}", self.data, self.extension_data)
    }

    /// Returns the whole document with what is searched.
    #[must_use]
    pub fn searched_schema(&self) -> String {
        overlaid(&self.whole_schema(), self.search)
    }

    /// Returns the document with what is searched and the further roles; `rbac.roles` is the last of
    /// its sections.
    #[must_use]
    pub fn schema_with_roles(&self) -> String {
        format!("{}\n{}", self.searched_schema().trim_end(), self.roles)
    }
}

/// Adds to the objects of a document what another one says of those with the same name, and the others behind
/// them. Both are in block style, with objects indented by two spaces; keys of the other one are not in the document.
fn overlaid(document: &str, overlay: &str) -> String {
    let is_object = |line: &str| {
        let name = line
            .strip_prefix("  ")
            .and_then(|line| line.strip_suffix(':'));
        name.is_some_and(|name| !name.starts_with([' ', '#']))
    };
    let mut added: Vec<(&str, String)> = Vec::new();
    for line in overlay.lines() {
        match added.last_mut() {
            _ if is_object(line) => added.push((line, String::new())),
            Some((_, lines)) => *lines += &format!("{line}\n"),
            None => {}
        }
    }
    let mut text = String::with_capacity(document.len() + overlay.len());
    let mut is_in_objects = false;
    for line in document.lines() {
        if !line.starts_with([' ', '#']) && !line.is_empty() {
            if is_in_objects {
                for (object, lines) in added.drain(..) {
                    text += &format!("{object}\n{lines}");
                }
            }
            is_in_objects = line == "objects:";
        }
        text += line;
        text.push('\n');
        let found = added.iter().position(|(object, _)| *object == line);
        if let Some(found) = found.filter(|_| is_in_objects) {
            text += &added.remove(found).1;
        }
    }
    text
}

/// Returns the roles and users of demos, with new passwords.
///
/// # Errors
/// When the system gives no random bytes.
pub fn users() -> Result<Provisioning, Unspecified> {
    let roles = USERS.map(|(_, role)| Role {
        name: role.to_owned(),
        super_role: role == SUPER_ROLE,
        default: false,
    });
    let users = USERS.iter().map(|(name, role)| user(name, role));
    Ok(Provisioning {
        roles: roles.to_vec(),
        users: users.collect::<Result<_, _>>()?,
    })
}

fn user(name: &str, role: &str) -> Result<User, Unspecified> {
    let mut random = [0; PASSWORD];
    aws_lc_rs::rand::fill(&mut random)?;
    Ok(User {
        username: name.to_owned(),
        email: None,
        password: Password::Plain(Secret::new(URL_SAFE_NO_PAD.encode(random))),
        roles: vec![role.to_owned()],
    })
}

const ALL: &[Demo] = &[STAR_WARS];

/// The name of the demo is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown demo `{0}`; the only demo is star-wars")]
pub struct UnknownDemo(String);

impl FromStr for Demo {
    type Err = UnknownDemo;

    fn from_str(name: &str) -> Result<Self, UnknownDemo> {
        let found = ALL.iter().find(|demo| demo.name == name);
        found.copied().ok_or_else(|| UnknownDemo(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_searched_schema_of_the_demo_is_the_official_one_with_fleets_and_search() {
        let official = soml_core::load(STAR_WARS.schema).schema.expect("valid");
        let searched = soml_core::load(&STAR_WARS.searched_schema())
            .schema
            .expect("valid");
        let names = searched
            .objects
            .iter()
            .filter(|o| o.search.as_ref().is_some_and(|s| s.index));
        let names = names
            .map(|object| object.name.graphql.as_str())
            .collect::<Vec<_>>();
        let expected = [
            "Character",
            "Film",
            "Planet",
            "Species",
            "Starship",
            "Vehicle",
        ];
        assert_eq!(names, expected);
        let objects = |schema: &soml_core::Schema| schema.objects.len();
        assert_eq!(objects(&searched), objects(&official) + 1);
        let lines: Vec<_> = STAR_WARS.schema.lines().collect();
        let searched = STAR_WARS.searched_schema();
        let kept: Vec<_> = searched
            .lines()
            .filter(|line| !line.starts_with("    search:"))
            .collect();
        let whole = STAR_WARS.whole_schema();
        assert_eq!(kept, whole.lines().collect::<Vec<_>>());
        let fleet = lines
            .iter()
            .position(|line| *line == "rbac:")
            .expect("a section");
        let fleets = STAR_WARS
            .extension
            .lines()
            .filter(|line| line.starts_with("  "));
        let mut expected = lines;
        expected.splice(fleet..fleet, fleets);
        assert_eq!(kept, expected);
    }
}
