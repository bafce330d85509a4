//! The tree of a provisioning file, taken apart key by key.

use std::collections::HashSet;

use soml_core::span::{LineIndex, Span};
use soml_core::yaml::NodeRef;

use super::{Mistake, Password, Provisioning, Role, User};

/// Plain passwords are hashed at the start, and each takes a moment.
const MAX_USERS: usize = 1_000;
const MAX_ROLES: usize = 1_000;
const MAX_NAME: usize = 256;

type Node<'d> = NodeRef<'d, 'd>;

/// Reads a text, and collects what is wrong with it.
pub(super) struct Reader<'t> {
    lines: LineIndex<'t>,
    variable: &'t dyn Fn(&str) -> Option<String>,
    pub(super) mistakes: Vec<Mistake>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, variable: &'t dyn Fn(&str) -> Option<String>) -> Self {
        Reader {
            lines: LineIndex::new(text),
            variable,
            mistakes: Vec::new(),
        }
    }

    pub(super) fn document(&mut self, root: Option<Node<'_>>) -> Provisioning {
        let Some(root) = root else {
            self.wrong(Span::new(0, 0), "the file is empty, expected `security`");
            return Provisioning::default();
        };
        let [security] = self.members(root, "the file", ["security"]);
        let Some(security) = security else {
            self.missing(root, "the file", "security");
            return Provisioning::default();
        };
        let [roles, users] = self.members(security, "security", ["roles", "users"]);
        let roles = roles.map_or_else(Vec::new, |roles| self.roles(roles));
        let users = users.map_or_else(Vec::new, |users| self.users(users, &roles));
        Provisioning { roles, users }
    }

    fn wrong(&mut self, span: Span, message: impl Into<String>) {
        let place = self.lines.position(span.start);
        self.mistakes.push(Mistake {
            line: place.line,
            column: place.column,
            message: message.into(),
        });
    }

    fn roles(&mut self, list: Node<'_>) -> Vec<Role> {
        let (mut roles, mut names) = (Vec::new(), HashSet::new());
        for (at, node) in self.items(list, "security.roles", MAX_ROLES) {
            let path = format!("security.roles[{at}]");
            let keys = ["name", "superRole", "default"];
            let [name, super_role, default] = self.members(node, &path, keys);
            let Some((name, place)) = self.required(node, name, &path, "name") else {
                continue;
            };
            if !names.insert(name.clone()) {
                self.wrong(place, format!("{path}.name: there are two roles `{name}`"));
            }
            roles.push(Role {
                name,
                super_role: self.boolean(super_role, &format!("{path}.superRole")),
                default: self.boolean(default, &format!("{path}.default")),
            });
        }
        roles
    }

    fn users(&mut self, list: Node<'_>, roles: &[Role]) -> Vec<User> {
        let (mut users, mut names) = (Vec::new(), HashSet::new());
        for (at, node) in self.items(list, "security.users", MAX_USERS) {
            let path = format!("security.users[{at}]");
            let keys = ["username", "email", "password", "roles"];
            let [username, email, password, own] = self.members(node, &path, keys);
            let username = self.required(node, username, &path, "username");
            let email = email.and_then(|email| self.text(email, &format!("{path}.email")));
            for (name, place) in username.iter().chain(&email) {
                // Either is a name to log in with.
                if !names.insert(name.to_lowercase()) {
                    self.wrong(*place, format!("{path}: there are two users `{name}`"));
                }
            }
            let password = self.password(node, password, &path);
            let roles = match own {
                Some(own) => self.user_roles(own, &path, roles),
                None => defaults(roles),
            };
            if let (Some((username, _)), Some(password)) = (username, password) {
                users.push(User {
                    username,
                    email: email.map(|(email, _)| email),
                    password,
                    roles,
                });
            }
        }
        users
    }

    fn user_roles(&mut self, list: Node<'_>, path: &str, declared: &[Role]) -> Vec<String> {
        let path = format!("{path}.roles");
        let mut roles = Vec::new();
        for (at, node) in self.items(list, &path, MAX_ROLES) {
            let path = format!("{path}[{at}]");
            let Some((name, place)) = self.text(node, &path) else {
                continue;
            };
            let known = || declared.iter().map(|role| role.name.as_str());
            if roles.contains(&name) {
                self.wrong(place, format!("{path}: the role `{name}` is listed twice"));
            } else if known().any(|role| role == name) {
                roles.push(name);
            } else {
                let hint = did_you_mean(&name, known());
                let message = format!("{path}: no role `{name}` in security.roles{hint}");
                self.wrong(place, message);
            }
        }
        roles
    }

    fn password(&mut self, user: Node<'_>, node: Option<Node<'_>>, path: &str) -> Option<Password> {
        let Some(node) = node else {
            self.missing(user, path, "password");
            return None;
        };
        let place = node.span();
        let path = format!("{path}.password");
        let Some(text) = node.text() else {
            let found = node.describe();
            self.wrong(place, format!("{path}: expected a string, found {found}"));
            return None;
        };
        let password = match self.resolved(text) {
            Ok(text) => Password::new(&text).map_err(str::to_owned),
            Err(message) => Err(message),
        };
        password
            .map_err(|message| self.wrong(place, format!("{path}: {message}")))
            .ok()
    }

    /// Returns the variable that `${NAME}` stands for, and any other text as it is.
    fn resolved(&self, text: &str) -> Result<String, String> {
        let name = text.strip_prefix("${").and_then(|t| t.strip_suffix('}'));
        let Some(name) = name else {
            return Ok(text.to_owned());
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err("`${…}` does not name a variable of the environment".to_owned());
        }
        let missing = || format!("the environment has no variable `{name}`");
        (self.variable)(name).ok_or_else(missing)
    }

    /// Returns the values of known keys; other keys are reported.
    fn members<'d, const N: usize>(
        &mut self,
        node: Node<'d>,
        path: &str,
        known: [&str; N],
    ) -> [Option<Node<'d>>; N] {
        let mut found = [None; N];
        let Some(entries) = node.entries() else {
            let (place, kind) = (node.span(), node.describe());
            self.wrong(place, format!("{path}: expected a mapping, found {kind}"));
            return found;
        };
        for (key, value) in entries {
            let name = key.text().unwrap_or_default();
            match known.iter().position(|known| *known == name) {
                Some(at) => found[at] = Some(value).filter(|value| !value.is_null()),
                None => {
                    let hint = did_you_mean(name, known);
                    let message = format!("unknown key `{name}` in {path}{hint}");
                    self.wrong(key.span(), message);
                }
            }
        }
        found
    }

    fn items<'d>(&mut self, node: Node<'d>, path: &str, most: usize) -> Vec<(usize, Node<'d>)> {
        let Some(items) = node.items() else {
            let (place, kind) = (node.span(), node.describe());
            self.wrong(place, format!("{path}: expected a list, found {kind}"));
            return Vec::new();
        };
        if items.len() > most {
            self.wrong(node.span(), format!("{path} has more than {most} items"));
        }
        items.take(most).enumerate().collect()
    }

    fn required(
        &mut self,
        parent: Node<'_>,
        node: Option<Node<'_>>,
        path: &str,
        key: &str,
    ) -> Option<(String, Span)> {
        match node {
            Some(node) => self.text(node, &format!("{path}.{key}")),
            None => {
                self.missing(parent, path, key);
                None
            }
        }
    }

    fn missing(&mut self, parent: Node<'_>, path: &str, key: &str) {
        // What is not a mapping was reported as that.
        if parent.entries().is_some() {
            self.wrong(parent.span(), format!("{path} has no `{key}`"));
        }
    }

    fn text(&mut self, node: Node<'_>, path: &str) -> Option<(String, Span)> {
        let place = node.span();
        let message = match node.text() {
            None => format!("expected a string, found {}", node.describe()),
            Some(text) if text.trim().is_empty() => "the string is empty".to_owned(),
            Some(text) if text.len() > MAX_NAME || text.contains(char::is_control) => {
                format!("longer than {MAX_NAME} bytes, or with control characters")
            }
            Some(text) => return Some((text.trim().to_owned(), place)),
        };
        self.wrong(place, format!("{path}: {message}"));
        None
    }

    fn boolean(&mut self, node: Option<Node<'_>>, path: &str) -> bool {
        match node.map(|node| (node.plain_text(), node.span())) {
            None | Some((Some("false"), _)) => false,
            Some((Some("true"), _)) => true,
            Some((_, place)) => {
                self.wrong(place, format!("{path}: expected true or false"));
                false
            }
        }
    }
}

fn defaults(roles: &[Role]) -> Vec<String> {
    let roles = roles.iter().filter(|role| role.default);
    roles.map(|role| role.name.clone()).collect()
}

/// Returns the hint at the known name that `written` was probably meant to be.
fn did_you_mean<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let written = written.to_lowercase();
    let distance = |known: &str| strsim::osa_distance(&known.to_lowercase(), &written);
    let allowed = (written.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|known| (distance(known), known))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, known)| format!("; did you mean `{known}`?"))
        .unwrap_or_default()
}
