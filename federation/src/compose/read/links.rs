//! What `@link` says: which version of federation a subgraph speaks, and under which names
//! (<https://specs.apollo.dev/link/v1.0>).

use std::collections::HashMap;
use std::fmt;

use apollo_compiler::Node;
use apollo_compiler::ast::{self, Directive, Document, Value};

use super::Reading;
use crate::compose::code::CompositionCode;
use crate::compose::finding::CompositionError;

/// The highest minor version of federation 2 that is known.
pub(crate) const LATEST_MINOR: u32 = 14;

/// The directives of federation 2, and the minor version that brought each.
const DIRECTIVES: [(&str, u32); 23] = [
    ("key", 0),
    ("requires", 0),
    ("provides", 0),
    ("external", 0),
    ("extends", 0),
    ("shareable", 0),
    ("override", 0),
    ("tag", 0),
    ("inaccessible", 0),
    ("link", 0),
    ("composeDirective", 1),
    ("interfaceObject", 3),
    ("authenticated", 5),
    ("requiresScopes", 5),
    ("policy", 6),
    ("context", 8),
    ("fromContext", 8),
    ("cost", 9),
    ("listSize", 9),
    ("source", 10),
    ("connect", 10),
    ("cacheTag", 12),
    ("connector", 10),
];

/// The types of federation 2, and the minor version that brought each.
const TYPES: [(&str, u32); 5] = [
    ("FieldSet", 0),
    ("Scope", 5),
    ("Policy", 6),
    ("ContextFieldValue", 8),
    ("Any", 0),
];

/// The directives of federation 1.
pub(crate) const OF_FEDERATION_1: [&str; 6] =
    ["key", "requires", "provides", "external", "extends", "tag"];

/// The version of federation that a subgraph speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// No `@link` to federation.
    One,
    /// Federation 2, and its minor version.
    Two(u32),
}

/// The version of a feature that is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkVersion {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl fmt::Display for LinkVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A `@link`.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// The URL without the version.
    pub(crate) identity: String,
    /// The last segment of the identity.
    pub(crate) feature: String,
    pub(crate) version: LinkVersion,
    /// What names of the feature begin with where they are not imported.
    pub(crate) namespace: String,
    /// Elements and the names that they have in the subgraph, both with `@` for directives.
    pub(crate) imports: Vec<(String, String)>,
    pub(crate) directive: Node<Directive>,
}

/// All links of a subgraph.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    pub(crate) all: Vec<Link>,
    pub(crate) version: Version,
    /// Names of directives as the subgraph writes them, without `@`, and what they are called in the
    /// specification.
    pub(crate) directives: HashMap<String, &'static str>,
    /// The same for types.
    pub(crate) types: HashMap<String, &'static str>,
}

/// Features of the specifications that can be linked alone, and the minor version of federation that brought each.
const FEATURES: [(&str, u32); 4] = [
    ("authenticated", 5),
    ("requiresScopes", 5),
    ("policy", 6),
    ("cost", 9),
];

impl Link {
    pub(crate) fn is_federation(&self) -> bool {
        self.identity == "https://specs.apollo.dev/federation"
    }

    /// Returns the URL with its version.
    pub(crate) fn versioned(&self) -> String {
        format!("{}/v{}", self.identity, self.version)
    }

    /// Returns whether the feature is one of the specifications that federation consists of.
    pub(crate) fn is_specification(&self) -> bool {
        self.feature_of_specification().is_some()
    }

    fn feature_of_specification(&self) -> Option<&str> {
        self.identity.strip_prefix("https://specs.apollo.dev/")
    }

    /// Returns the name under which a directive of the feature is imported, if it is.
    pub(crate) fn alias_of(&self, element: &str) -> Option<&str> {
        let mut imports = self.imports.iter();
        let found = imports.find(|(name, _)| name.strip_prefix('@') == Some(element));
        found.map(|(_, alias)| alias.as_str())
    }

    /// Returns the name that a directive of the feature has in the subgraph, without `@`: as it is
    /// imported, else behind the namespace. The directive that is called like its feature is the
    /// namespace itself.
    pub(crate) fn directive_name(&self, element: &str) -> String {
        match self.alias_of(element) {
            Some(alias) => alias.trim_start_matches('@').to_owned(),
            None if element == self.feature => self.namespace.clone(),
            None => format!("{}__{element}", self.namespace),
        }
    }
}

impl Links {
    /// Reads the links of a document; what is wrong with them is reported.
    pub(crate) fn read(document: &Document, reading: &mut Reading<'_>) -> Links {
        let mut links = Links {
            all: Vec::new(),
            version: Version::One,
            directives: HashMap::new(),
            types: HashMap::new(),
        };
        for directive in applied(document) {
            match link(directive) {
                Ok(link) => links.add(link, reading),
                Err((code, message)) => {
                    let error = CompositionError::new(code, message);
                    reading.report(error.at(reading.place(directive.location())));
                }
            }
        }
        // Subgraphs of federation 1 link nothing; these names are known without it.
        if links.version == Version::One {
            for name in OF_FEDERATION_1 {
                links.directives.entry(name.to_owned()).or_insert(name);
            }
            for (written, name) in [
                ("_FieldSet", "FieldSet"),
                ("FieldSet", "FieldSet"),
                ("_Any", "Any"),
            ] {
                links.types.insert(written.to_owned(), name);
            }
        }
        links
    }

    fn add(&mut self, link: Link, reading: &mut Reading<'_>) {
        if let Some(other) = self
            .all
            .iter()
            .find(|other| other.identity == link.identity)
        {
            let message = format!("`{}` is linked twice", other.identity);
            let error =
                CompositionError::new(CompositionCode::INVALID_LINK_DIRECTIVE_USAGE, message);
            reading.report(error.at(reading.place(link.directive.location())));
            return;
        }
        if let Some(other) = self
            .all
            .iter()
            .find(|other| other.namespace == link.namespace)
        {
            let message = format!(
                "`{}` and `{}` have the name `{}`",
                other.identity, link.identity, link.namespace
            );
            let error =
                CompositionError::new(CompositionCode::INVALID_LINK_DIRECTIVE_USAGE, message)
                    .at(reading.place(link.directive.location()))
                    .help("rename one of them with `as`");
            reading.report(error);
            return;
        }
        match link.identity.as_str() {
            "https://specs.apollo.dev/federation" => self.add_federation(&link, reading),
            "https://specs.apollo.dev/link"
                if link.version > (LinkVersion { major: 1, minor: 0 }) =>
            {
                let message = format!("version {} of `@link` is not known", link.version);
                let error = CompositionError::new(CompositionCode::UNKNOWN_LINK_VERSION, message);
                reading.report(error.at(reading.place(link.directive.location())));
            }
            "https://specs.apollo.dev/connect" => {
                let error = CompositionError::new(
                    CompositionCode::UNSUPPORTED_FEATURE,
                    "connectors (`@source`, `@connect`) are not supported",
                );
                reading.report(error.at(reading.place(link.directive.location())));
            }
            _ => self.add_own(&link),
        }
        self.all.push(link);
    }

    /// Adds a feature whose directives are merged, such as `tag`, when it is linked on its own.
    fn add_own(&mut self, link: &Link) {
        let elements: &[&'static str] = match link.feature_of_specification() {
            Some("tag") => &["tag"],
            Some("inaccessible") => &["inaccessible"],
            Some("authenticated") => &["authenticated"],
            Some("requiresScopes") => &["requiresScopes"],
            Some("policy") => &["policy"],
            Some("cost") => &["cost", "listSize"],
            Some("link" | "join" | "core") => return,
            // What it is for is said to gateways, and this one is not part of what they read.
            _ => return,
        };
        for element in elements {
            self.directives
                .insert(link.directive_name(element), element);
        }
    }

    fn add_federation(&mut self, link: &Link, reading: &mut Reading<'_>) {
        let LinkVersion { major, minor } = link.version;
        // A later version may give a known directive another meaning.
        if major != 2 || minor > LATEST_MINOR {
            let message = format!("version {} of federation is not known", link.version);
            let code = CompositionCode::UNKNOWN_FEDERATION_LINK_VERSION;
            let error = CompositionError::new(code, message)
                .at(reading.place(link.directive.location()))
                .help(format!("versions 2.0 to 2.{LATEST_MINOR} are known"));
            reading.report(error);
            return;
        }
        self.version = Version::Two(minor);
        for (element, alias) in &link.imports {
            let is_known = match element.strip_prefix('@') {
                Some(name) => DIRECTIVES
                    .iter()
                    .any(|(known, since)| *known == name && *since <= minor),
                None => TYPES
                    .iter()
                    .any(|(known, since)| known == element && *since <= minor),
            };
            let is_same_kind = element.starts_with('@') == alias.starts_with('@');
            if !is_known || !is_same_kind {
                reading.report(
                    import_error(element, alias, minor)
                        .at(reading.place(link.directive.location())),
                );
            }
        }
        for (name, _) in DIRECTIVES
            .iter()
            .filter(|(name, since)| *since <= minor && *name != "link")
        {
            self.directives.insert(link.directive_name(name), name);
        }
        for (name, _) in TYPES.iter().filter(|(_, since)| *since <= minor) {
            let imported = link.imports.iter().find(|(element, _)| element == name);
            let written = match imported {
                Some((_, alias)) => alias.clone(),
                None => format!("{}__{name}", link.namespace),
            };
            self.types.insert(written, name);
        }
        self.types.insert("_Any".to_owned(), "Any");
    }

    /// Returns how the subgraph writes a directive of the specification, without `@`.
    pub(crate) fn written<'l>(&'l self, canonical: &str) -> Option<&'l str> {
        let names = self
            .directives
            .iter()
            .filter(|(_, other)| **other == canonical);
        names.map(|(written, _)| written.as_str()).min()
    }

    /// Returns the link of a specification that imports a directive.
    pub(crate) fn importing(&self, canonical: &str) -> Option<&Link> {
        let mut links = self.all.iter().filter(|link| link.is_specification());
        links.find(|link| link.alias_of(canonical).is_some())
    }

    /// Returns the feature that needs the latest version of federation 2, and its minor version, if that is later
    /// than the one that is linked.
    pub(crate) fn upgrade(&self) -> Option<(&Link, u32)> {
        let linked = self.minor()?;
        let needed = self.all.iter().filter_map(|link| {
            let name = link.feature_of_specification()?;
            let (_, since) = FEATURES.iter().find(|(known, _)| *known == name)?;
            Some((link, *since))
        });
        needed
            .max_by_key(|(_, since)| *since)
            .filter(|(_, since)| *since > linked)
    }

    /// Returns the minor version of federation 2.
    pub(crate) fn minor(&self) -> Option<u32> {
        match self.version {
            Version::One => None,
            Version::Two(minor) => Some(minor),
        }
    }
}

fn import_error(element: &str, alias: &str, minor: u32) -> CompositionError {
    let code = CompositionCode::INVALID_LINK_DIRECTIVE_USAGE;
    if element.starts_with('@') != alias.starts_with('@') {
        let message = format!(
            "`{element}` cannot be imported as `{alias}`: directives have an `@`, types have none"
        );
        return CompositionError::new(code, message);
    }
    let message = format!("federation 2.{minor} has no `{element}` to import");
    let error = CompositionError::new(code, message);
    let bare = element.trim_start_matches('@');
    let later = DIRECTIVES
        .iter()
        .chain(&TYPES)
        .find(|(name, _)| *name == bare);
    match later {
        Some((name, since)) if *since > minor => {
            error.help(format!("`{name}` came with version 2.{since}; link `https://specs.apollo.dev/federation/v2.{since}`"))
        }
        Some((name, _)) if !element.starts_with('@') => error.help(format!("write `@{name}` for the directive")),
        _ => error,
    }
}

/// Returns the `@link` directives of the schema definition and its extensions.
fn applied(document: &Document) -> impl Iterator<Item = &Node<Directive>> {
    let lists = document
        .definitions
        .iter()
        .filter_map(|definition| match definition {
            ast::Definition::SchemaDefinition(schema) => Some(&schema.directives),
            ast::Definition::SchemaExtension(schema) => Some(&schema.directives),
            _ => None,
        });
    lists
        .flat_map(|list| list.iter())
        .filter(|directive| directive.name == "link")
}

type Problem = (CompositionCode, String);

fn link(directive: &Node<Directive>) -> Result<Link, Problem> {
    let usage = |message: &str| {
        (
            CompositionCode::INVALID_LINK_DIRECTIVE_USAGE,
            message.to_owned(),
        )
    };
    let text = |name: &str| directive.specified_argument_by_name(name);
    let url = text("url").and_then(|url| url.as_str()).ok_or_else(|| {
        let message = "`@link` has no `url`".to_owned();
        (CompositionCode::INVALID_GRAPHQL, message)
    })?;
    let (identity, feature, version) = parts(url)?;
    let namespace = match text("as") {
        None => feature.clone(),
        Some(name) => match name.as_str() {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ if name.is_null() => feature.clone(),
            _ => return Err(usage("`as` of `@link` is not a name")),
        },
    };
    let is_purpose = |purpose: &Node<Value>| {
        let name = purpose.as_enum().map(|name| name.as_str());
        purpose.is_null() || matches!(name, Some("SECURITY" | "EXECUTION"))
    };
    if text("for").is_some_and(|purpose| !is_purpose(purpose)) {
        return Err(usage(
            "`for` of `@link` is neither `SECURITY` nor `EXECUTION`",
        ));
    }
    let mut imports = Vec::new();
    if let Some(list) = text("import").filter(|list| !list.is_null()) {
        let list = list
            .as_list()
            .ok_or_else(|| usage("`import` of `@link` is not a list"))?;
        for item in list {
            imports.push(import(item)?);
        }
    }
    Ok(Link {
        identity,
        feature,
        version,
        namespace,
        imports,
        directive: directive.clone(),
    })
}

fn import(item: &Node<Value>) -> Result<(String, String), Problem> {
    let usage = |message: String| (CompositionCode::INVALID_LINK_DIRECTIVE_USAGE, message);
    if let Some(name) = item.as_str() {
        return Ok((name.to_owned(), name.to_owned()));
    }
    let Some(members) = item.as_object() else {
        return Err(usage(format!(
            "`{item}` in `import` of `@link` is neither a string nor an object"
        )));
    };
    let member = |wanted: &str| {
        let found = members.iter().find(|(name, _)| name == wanted);
        found.and_then(|(_, value)| value.as_str())
    };
    let unknown = members
        .iter()
        .find(|(name, _)| name != "name" && name != "as");
    match (member("name"), unknown) {
        (_, Some((other, _))) => Err(usage(format!(
            "an import of `@link` has `name` and `as`, not `{other}`"
        ))),
        (None, _) => Err(usage("an import of `@link` has no `name`".to_owned())),
        (Some(name), None) => Ok((name.to_owned(), member("as").unwrap_or(name).to_owned())),
    }
}

/// Splits the URL of a feature into its identity, its name and its version.
fn parts(url: &str) -> Result<(String, String, LinkVersion), Problem> {
    let invalid = |what: &str| {
        let message = format!("`{url}` is not a URL of a feature: {what}");
        (CompositionCode::INVALID_LINK_IDENTIFIER, message)
    };
    let (scheme, rest) = url
        .split_once("://")
        .ok_or_else(|| invalid("it has no scheme"))?;
    if scheme.is_empty() || rest.trim_matches('/').is_empty() {
        return Err(invalid("it has no path"));
    }
    let url = url.trim_end_matches('/');
    let (before, last) = url
        .rsplit_once('/')
        .ok_or_else(|| invalid("it has no path"))?;
    let version = last.strip_prefix('v').and_then(|text| {
        let (major, minor) = text.split_once('.')?;
        Some(LinkVersion {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    });
    let version =
        version.ok_or_else(|| invalid("its last segment is not a version such as `v2.3`"))?;
    let feature = before.rsplit('/').next().unwrap_or_default();
    Ok((before.to_owned(), feature.to_owned(), version))
}
