//! The keys of SOML: where each key is allowed, and the form of its value.
//!
//! The parser, the suggestions for misspelt keys and the JSON Schema all use these tables.

/// The keys of one kind of mapping.
#[derive(Debug)]
pub(crate) struct Table {
    /// What the mapping describes, for messages: "an object".
    pub(crate) what: &'static str,
    /// Name of the definition in the JSON Schema.
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [Key],
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) doc: &'static str,
    /// The current name, if this one is an old spelling.
    pub(crate) instead: Option<&'static str>,
}

/// The form of a value. Null is allowed everywhere and means that the key is absent.
#[derive(Debug)]
pub(crate) enum Shape {
    /// A string; numbers and dates are read as written.
    Text,
    /// A string or a list of strings.
    Texts,
    /// `true` or `false`, also `yes`, `no`, `on`, `off`.
    Bool,
    /// A non-negative integer.
    Natural,
    /// A positive integer or `inf`.
    Max,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// One or several of a few words.
    Choices(&'static [&'static str]),
    /// A mapping with the keys of a table.
    Map(&'static Table),
    /// A mapping from names to mappings with the keys of a table.
    MapOf(&'static Table),
    /// A mapping from names to strings.
    TextMap,
    /// A list of strings or of mappings with the keys of a table.
    ListOf(&'static Table),
    /// Either of two forms.
    Either(&'static Shape, &'static Shape),
    /// Any value; it is not inspected.
    Any,
}

const fn key(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key {
        name,
        shape,
        doc,
        instead: None,
    }
}

const fn old(name: &'static str, shape: Shape, instead: &'static str) -> Key {
    Key {
        name,
        shape,
        doc: "Old spelling.",
        instead: Some(instead),
    }
}

/// The names of the checks that `disabledChecks` can switch off.
pub(crate) const CHECKS: &[&str] = &["rangeCheck", "regexInheritanceCheck"];
/// Values of `kind` of an object.
pub(crate) const OBJECT_KINDS: &[&str] = &["abstract", "object", "concrete", "supertype"];
/// Values of `kind` of a property.
pub(crate) const PROPERTY_KINDS: &[&str] = &["literal", "object", "mixed"];

pub(crate) static DOCUMENT: Table = Table {
    what: "a schema",
    name: "document",
    keys: &[
        key(
            "id",
            Shape::Text,
            "Identifier of the schema, such as `/soml/films`.",
        ),
        key("label", Shape::Text, "Display name of the schema."),
        key("creator", Shape::Text, "Name or address of the author."),
        key("created", Shape::Text, "Creation date."),
        key("updated", Shape::Text, "Date of the last change."),
        key("versionInfo", Shape::Text, "Version of this schema."),
        key("config", Shape::Map(&CONFIG), "Schema-wide settings."),
        key(
            "specialPrefixes",
            Shape::Map(&SPECIAL_PREFIXES),
            "Base IRI and namespaces of the vocabulary, the ontology and the shapes.",
        ),
        key("prefixes", Shape::TextMap, "Prefixes and their namespaces."),
        key("types", Shape::MapOf(&TYPE), "Enumerations and unions."),
        key(
            "properties",
            Shape::MapOf(&PROPERTY),
            "Global properties, shared by objects.",
        ),
        key("objects", Shape::MapOf(&OBJECT), "Object types."),
        key("rbac", Shape::Map(&RBAC), "Roles and their permissions."),
        key(
            "diagram",
            Shape::Any,
            "Settings for diagram tools; ignored.",
        ),
    ],
};

pub(crate) static CONFIG: Table = Table {
    what: "`config`",
    name: "config",
    keys: &[
        key(
            "enable_mutations",
            Shape::Bool,
            "Generates mutations (default true).",
        ),
        key(
            "lang",
            Shape::Either(&Shape::Text, &Shape::Map(&SCHEMA_LANG)),
            "Which language variants are read and written; a string sets `fetch`.",
        ),
        key(
            "implicit",
            Shape::Text,
            "Same as `lang.implicit`, which takes precedence.",
        ),
        key(
            "queryPfx",
            Shape::Text,
            "Prefix of the names of query fields.",
        ),
        key(
            "mutationPfx",
            Shape::Text,
            "Prefix of the names of mutation fields.",
        ),
        key(
            "nullJsonArrays",
            Shape::Bool,
            "Returns null instead of an empty list (default `graphql.response.json.nullArrays`).",
        ),
        key("repository", Shape::Text, "Repository that holds the data."),
        key(
            "includeInferred",
            Shape::Bool,
            "Reads inferred statements (default true).",
        ),
        key(
            "expandOwlSameAs",
            Shape::Bool,
            "Expands `owl:sameAs` (default true).",
        ),
        key(
            "disabledChecks",
            Shape::Choices(CHECKS),
            "Schema checks to switch off.",
        ),
        key(
            "defaultRole",
            Shape::Text,
            "Role of callers without a declared role (default `Default`).",
        ),
        key(
            "defaultIntegrationRole",
            Shape::Text,
            "Read-only role of system integrations (default `Federation_SystemRole`).",
        ),
        key(
            "exposeSomlInGraphQL",
            Shape::Bool,
            "Adds directives with the effective SOML settings (default false).",
        ),
        key(
            "enableCollectionCount",
            Shape::Bool,
            "Adds a count field for each list (default false).",
        ),
        key(
            "enableTypeCount",
            Shape::Bool,
            "Adds a count root field for each type (default false).",
        ),
        key(
            "enableAggregates",
            Shape::Bool,
            "Adds an aggregate field for each list (default false).",
        ),
        key(
            "enableConnections",
            Shape::Bool,
            "Adds Relay connections (default false).",
        ),
        key(
            "compactErrorMessages",
            Shape::Bool,
            "Shortens error messages (default false).",
        ),
        key(
            "enableGraphQlExplain",
            Shape::Bool,
            "Lets clients request the plan of a query (default true).",
        ),
        key(
            "search",
            Shape::Either(&Shape::Bool, &Shape::Map(&SEARCH)),
            "Default search settings of objects and properties.",
        ),
    ],
};

pub(crate) static SCHEMA_LANG: Table = Table {
    what: "`lang`",
    name: "schemaLang",
    keys: &[
        key(
            "fetch",
            Shape::Text,
            "Which language variants are returned, such as `en~,fr,NONE`.",
        ),
        key(
            "validate",
            Shape::Text,
            "Which language tags are allowed on writes, such as `en,fr;UNIQ`.",
        ),
        key(
            "implicit",
            Shape::Text,
            "Language tag given on writes to strings without one.",
        ),
        key(
            "defaultNameFetch",
            Shape::Text,
            "Which language variant the field `name` returns (default `ANY`).",
        ),
        key(
            "appendDefaultNameFetch",
            Shape::Bool,
            "Appends `defaultNameFetch` to the `lang` argument of `name` (default true).",
        ),
    ],
};

pub(crate) static PROPERTY_LANG: Table = Table {
    what: "`lang`",
    name: "propertyLang",
    keys: &[
        key(
            "fetch",
            Shape::Text,
            "Which language variants are returned, such as `en~,fr,NONE`.",
        ),
        key(
            "validate",
            Shape::Text,
            "Which language tags are allowed on writes, such as `en,fr;UNIQ`.",
        ),
        key(
            "implicit",
            Shape::Text,
            "Language tag given on writes to strings without one.",
        ),
    ],
};

pub(crate) static SEARCH: Table = Table {
    what: "`search`",
    name: "search",
    keys: &[
        key(
            "index",
            Shape::Bool,
            "Makes the object or property searchable; `false` disables the other keys.",
        ),
        key("analysis", Shape::Map(&ANALYSIS), "Text analysis."),
        key(
            "nested",
            Shape::Bool,
            "Indexes objects of this type as nested documents.",
        ),
        key(
            "type",
            Shape::Either(&Shape::Text, &Shape::Map(&SEARCH_TYPE)),
            "Field type in the search engine.",
        ),
    ],
};

pub(crate) static SEARCH_TYPE: Table = Table {
    what: "`type`",
    name: "searchType",
    keys: &[
        key("name", Shape::Text, "Name of the field type."),
        key(
            "nestingLevel",
            Shape::Natural,
            "Number of levels of referenced objects to embed (default 1).",
        ),
    ],
};

pub(crate) static ANALYSIS: Table = Table {
    what: "`analysis`",
    name: "analysis",
    keys: &[
        key("analyzer", Shape::Text, "Name of the analyzer."),
        key(
            "lang",
            Shape::MapOf(&LANG_ANALYSIS),
            "Analyzers per language tag.",
        ),
    ],
};

pub(crate) static LANG_ANALYSIS: Table = Table {
    what: "the analysis of a language",
    name: "langAnalysis",
    keys: &[key("analyzer", Shape::Text, "Name of the analyzer.")],
};

pub(crate) static SPECIAL_PREFIXES: Table = Table {
    what: "`specialPrefixes`",
    name: "specialPrefixes",
    keys: &[
        key(
            "base_iri",
            Shape::Text,
            "Base of relative IRIs in the data.",
        ),
        key(
            "vocab_iri",
            Shape::Text,
            "Namespace of names without a prefix.",
        ),
        key(
            "vocab_prefix",
            Shape::Text,
            "Prefix of `vocab_iri` (default `voc`).",
        ),
        key("ontology_iri", Shape::Text, "IRI of the ontology."),
        key("shape_iri", Shape::Text, "Namespace of generated shapes."),
        old("shapes_iri", Shape::Text, "shape_iri"),
    ],
};

pub(crate) static TYPE: Table = Table {
    what: "a type",
    name: "type",
    keys: &[
        key("label", Shape::Text, "Display name."),
        key("descr", Shape::Text, "Description."),
        key(
            "values",
            Shape::ListOf(&ENUM_VALUE),
            "Values of an enumeration.",
        ),
        key("union", Shape::Texts, "Members of a union."),
        key(
            "graphql",
            Shape::Text,
            "Ignored; the GraphQL name is the name of the type.",
        ),
        key(
            "rdf",
            Shape::Text,
            "Ignored; custom types have no RDF datatype.",
        ),
        key("graphqlExtension", Shape::Bool, "Ignored."),
    ],
};

pub(crate) static ENUM_VALUE: Table = Table {
    what: "a value of an enumeration",
    name: "enumValue",
    keys: &[
        key("name", Shape::Text, "The value."),
        key("label", Shape::Text, "Display name."),
        key("descr", Shape::Text, "Description."),
    ],
};

pub(crate) static PROPERTY: Table = Table {
    what: "a property",
    name: "property",
    keys: &[
        key("label", Shape::Text, "Display name."),
        key("descr", Shape::Text, "Description."),
        key(
            "range",
            Shape::Text,
            "A datatype or an object (default `string`).",
        ),
        key(
            "rangeCheck",
            Shape::Bool,
            "Checks that values are instances of the range (default false).",
        ),
        key(
            "typeCast",
            Shape::Bool,
            "Casts stored literals to the range (default false).",
        ),
        key(
            "min",
            Shape::Natural,
            "Minimum number of values, enforced on writes only (default 0).",
        ),
        key(
            "max",
            Shape::Max,
            "Maximum number of values, or `inf` (default 1); above 1, the field is a list.",
        ),
        key(
            "nonNullable",
            Shape::Bool,
            "Makes the field non-null (default false).",
        ),
        key(
            "nonNullableElements",
            Shape::Bool,
            "Makes the elements of the list non-null (default false).",
        ),
        key(
            "inverseAlias",
            Shape::Text,
            "Property of the range to read in inverse direction; nothing is stored for this \
             property. `null` removes an inherited alias, as does an `rdfProp` that is declared \
             closer to the object.",
        ),
        key(
            "inverseOf",
            Shape::Text,
            "Inverse property of the range; both are stored.",
        ),
        old("inverse", Shape::Text, "inverseOf"),
        key(
            "rdfProp",
            Shape::Text,
            "RDF property, if it differs from the name.",
        ),
        key(
            "symmetric",
            Shape::Bool,
            "The property is its own inverse (default false).",
        ),
        key(
            "regex",
            Shape::Text,
            "Unanchored regular expression that values must match.",
        ),
        key("prefix", Shape::Text, "Prefix of the IRIs of values."),
        key(
            "pattern",
            Shape::Text,
            "Template or regular expression that values must match.",
        ),
        key(
            "kind",
            Shape::Choice(PROPERTY_KINDS),
            "Only a hint; `range` decides.",
        ),
        key(
            "lang",
            Shape::Either(&Shape::Text, &Shape::Map(&PROPERTY_LANG)),
            "Language settings of this property; a string sets `fetch`.",
        ),
        key("valuesIn", Shape::Texts, "List of allowed values."),
        key(
            "immutable",
            Shape::Bool,
            "Can be set once and not changed afterwards (default false).",
        ),
        old("readOnly", Shape::Bool, "immutable"),
        key(
            "search",
            Shape::Either(&Shape::Bool, &Shape::Map(&SEARCH)),
            "Search settings.",
        ),
        key(
            "sparqlFederatedService",
            Shape::Text,
            "SPARQL service that holds the values.",
        ),
        key("meta", Shape::Text, "Extra meta directive."),
        key(
            "diagram",
            Shape::Any,
            "Settings for diagram tools; ignored.",
        ),
    ],
};

pub(crate) static OBJECT: Table = Table {
    what: "an object",
    name: "object",
    keys: &[
        key("label", Shape::Text, "Display name."),
        key("descr", Shape::Text, "Description."),
        key(
            "kind",
            Shape::Choice(OBJECT_KINDS),
            "`abstract` or `object` (concrete, the default).",
        ),
        key("inherits", Shape::Text, "Superclass."),
        key(
            "name",
            Shape::Text,
            "Property that supplies the field `name`.",
        ),
        key(
            "props",
            Shape::MapOf(&PROPERTY),
            "Properties; an empty entry uses the global property.",
        ),
        key(
            "type",
            Shape::Texts,
            "RDF types; a node with any of them is an instance (default: the name).",
        ),
        key(
            "typeProp",
            Shape::Text,
            "RDF property that holds the type of a node (default `rdf:type`).",
        ),
        key(
            "regex",
            Shape::Text,
            "Unanchored regular expression that the IRIs of instances must match.",
        ),
        key("prefix", Shape::Text, "Prefix of the IRIs of instances."),
        key(
            "pattern",
            Shape::Text,
            "Template or regular expression that the IRIs of instances must match.",
        ),
        key(
            "extend",
            Shape::Bool,
            "Generates `extend type` (default false).",
        ),
        key(
            "search",
            Shape::Either(&Shape::Bool, &Shape::Map(&SEARCH)),
            "Search settings, also the defaults of the properties.",
        ),
        key(
            "sparqlFederatedService",
            Shape::Text,
            "SPARQL service that holds the instances.",
        ),
        key("meta", Shape::Text, "Extra meta directive."),
        key(
            "diagram",
            Shape::Any,
            "Settings for diagram tools; ignored.",
        ),
    ],
};

pub(crate) static RBAC: Table = Table {
    what: "`rbac`",
    name: "rbac",
    keys: &[key("roles", Shape::MapOf(&ROLE), "Roles.")],
};

pub(crate) static ROLE: Table = Table {
    what: "a role",
    name: "role",
    keys: &[
        key("description", Shape::Text, "Description."),
        key(
            "actions",
            Shape::Texts,
            "Permissions of the role, as `<object>/<property>/<operation>`.",
        ),
        key(
            "notActions",
            Shape::Texts,
            "Permissions excluded from `actions`.",
        ),
        key(
            "filters",
            Shape::MapOf(&ROW_FILTER),
            "Conditions on the objects that the role may read, write and delete, by object.",
        ),
        key(
            "presets",
            Shape::Any,
            "Values that are set in written objects and cannot be chosen by clients, by object and \
             property.",
        ),
    ],
};

pub(crate) static ROW_FILTER: Table = Table {
    what: "the conditions on an object",
    name: "rowFilter",
    keys: &[
        key(
            "read",
            Shape::Any,
            "Condition on the objects that can be read, in the form of `where`.",
        ),
        key(
            "write",
            Shape::Any,
            "Condition on objects that are created or changed, checked before and after the change.",
        ),
        key(
            "delete",
            Shape::Any,
            "Condition on objects that are deleted.",
        ),
    ],
};
