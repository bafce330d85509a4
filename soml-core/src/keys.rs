//! The keys of the language: which key stands where, and what form its value has.
//!
//! The parser, the hints for misspelt keys and the JSON Schema are all made from these tables.

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
    /// Today's name, when this one is an old spelling.
    pub(crate) instead: Option<&'static str>,
}

/// The form of a value. Null is allowed everywhere and means that the key is absent.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Text; numbers and dates count as the text that was written.
    Text,
    /// One text or a list of texts.
    Texts,
    /// `true` or `false`, also `yes`, `no`, `on`, `off`.
    Bool,
    /// A whole number from 0.
    Natural,
    /// A whole number from 1, or `inf`.
    Max,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// One or several of a few words.
    Choices(&'static [&'static str]),
    /// A mapping with the keys of a table.
    Map(&'static Table),
    /// A mapping from names to mappings with the keys of a table.
    MapOf(&'static Table),
    /// A mapping from names to texts.
    TextMap,
    /// A list of texts or of mappings with the keys of a table.
    ListOf(&'static Table),
    /// Either of two forms.
    Either(&'static Shape, &'static Shape),
    /// Anything; not looked at.
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
        key("label", Shape::Text, "Human name of the schema."),
        key("creator", Shape::Text, "Name or address of the author."),
        key("created", Shape::Text, "Date of creation."),
        key("updated", Shape::Text, "Date of the last change."),
        key("versionInfo", Shape::Text, "Version of this schema."),
        key("config", Shape::Map(&CONFIG), "Schema-wide settings."),
        key(
            "specialPrefixes",
            Shape::Map(&SPECIAL_PREFIXES),
            "Namespaces with a special meaning.",
        ),
        key("prefixes", Shape::TextMap, "Prefixes and their namespaces."),
        key("types", Shape::MapOf(&TYPE), "Enumerations and unions."),
        key(
            "properties",
            Shape::MapOf(&PROPERTY),
            "Properties that objects share.",
        ),
        key("objects", Shape::MapOf(&OBJECT), "Object types."),
        key("rbac", Shape::Map(&RBAC), "Roles and what they may do."),
        key(
            "diagram",
            Shape::Any,
            "Settings of a diagram tool; ignored.",
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
            "Which language variants are read and written; a text sets `fetch`.",
        ),
        key(
            "implicit",
            Shape::Text,
            "The same as `lang.implicit`, which wins.",
        ),
        key(
            "queryPfx",
            Shape::Text,
            "Beginning of the names of query fields.",
        ),
        key(
            "mutationPfx",
            Shape::Text,
            "Beginning of the names of mutation fields.",
        ),
        key(
            "nullJsonArrays",
            Shape::Bool,
            "Answers null instead of an empty list (default false).",
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
            "Schema checks that are off.",
        ),
        key(
            "defaultRole",
            Shape::Text,
            "Role of callers without a declared role (default `Default`).",
        ),
        key(
            "defaultIntegrationRole",
            Shape::Text,
            "Read-only role of machines (default `Federation_SystemRole`).",
        ),
        key(
            "exposeSomlInGraphQL",
            Shape::Bool,
            "Adds directives with the effective SOML (default false).",
        ),
        key(
            "enableCollectionCount",
            Shape::Bool,
            "Adds a count beside each list (default false).",
        ),
        key(
            "enableTypeCount",
            Shape::Bool,
            "Adds a counting root field per type (default false).",
        ),
        key(
            "enableAggregates",
            Shape::Bool,
            "Adds an aggregating field beside each list (default false).",
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
            "Lets clients ask for the plan of a query (default true).",
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
            "Which variants are returned, such as `en~,fr,NONE`.",
        ),
        key(
            "validate",
            Shape::Text,
            "Which tags may be written, such as `en,fr;UNIQ`.",
        ),
        key(
            "implicit",
            Shape::Text,
            "Tag of written text that has none.",
        ),
        key(
            "defaultNameFetch",
            Shape::Text,
            "Which variant the field `name` gives (default `ANY`).",
        ),
        key(
            "appendDefaultNameFetch",
            Shape::Bool,
            "Appends `defaultNameFetch` to the argument of `name` (default true).",
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
            "Which variants are returned, such as `en~,fr,NONE`.",
        ),
        key(
            "validate",
            Shape::Text,
            "Which tags may be written, such as `en,fr;UNIQ`.",
        ),
        key(
            "implicit",
            Shape::Text,
            "Tag of written text that has none.",
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
            "Searchable; `false` switches the other keys off.",
        ),
        key("analysis", Shape::Map(&ANALYSIS), "How text is analysed."),
        key(
            "nested",
            Shape::Bool,
            "Embeds objects of this type as nested documents.",
        ),
        key(
            "type",
            Shape::Either(&Shape::Text, &Shape::Map(&SEARCH_TYPE)),
            "Field type of the search engine.",
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
            "How many levels of referred objects are embedded (default 1).",
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
        key("base_iri", Shape::Text, "Base of relative data IRIs."),
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
        key("label", Shape::Text, "Human name."),
        key("descr", Shape::Text, "Longer text."),
        key(
            "values",
            Shape::ListOf(&ENUM_VALUE),
            "Values of an enumeration.",
        ),
        key("union", Shape::Texts, "Members of a union."),
        key(
            "graphql",
            Shape::Text,
            "Name in GraphQL; the name of the type is used.",
        ),
        key("rdf", Shape::Text, "RDF datatype; custom types have none."),
        key("graphqlExtension", Shape::Bool, "Ignored."),
    ],
};

pub(crate) static ENUM_VALUE: Table = Table {
    what: "a value of an enumeration",
    name: "enumValue",
    keys: &[
        key("name", Shape::Text, "The value."),
        key("label", Shape::Text, "Human name."),
        key("descr", Shape::Text, "Longer text."),
    ],
};

pub(crate) static PROPERTY: Table = Table {
    what: "a property",
    name: "property",
    keys: &[
        key("label", Shape::Text, "Human name."),
        key("descr", Shape::Text, "Longer text."),
        key(
            "range",
            Shape::Text,
            "A datatype or an object (default `string`).",
        ),
        key(
            "rangeCheck",
            Shape::Bool,
            "Tests the type of the target (default false).",
        ),
        key(
            "typeCast",
            Shape::Bool,
            "Casts stored literals to the range (default false).",
        ),
        key("min", Shape::Natural, "Least number of values (default 0)."),
        key(
            "max",
            Shape::Max,
            "Greatest number of values, or `inf` (default 1).",
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
            "Property of the range that is read backwards.",
        ),
        key(
            "inverseOf",
            Shape::Text,
            "Property of the range that is stored too.",
        ),
        old("inverse", Shape::Text, "inverseOf"),
        key(
            "rdfProp",
            Shape::Text,
            "RDF property, when not the one of the name.",
        ),
        key(
            "symmetric",
            Shape::Bool,
            "The property is its own inverse (default false).",
        ),
        key(
            "regex",
            Shape::Text,
            "Regular expression for values, not anchored.",
        ),
        key("prefix", Shape::Text, "Beginning of the IRIs of values."),
        key(
            "pattern",
            Shape::Text,
            "Template or regular expression for values.",
        ),
        key(
            "kind",
            Shape::Choice(PROPERTY_KINDS),
            "Hint; the range decides.",
        ),
        key(
            "lang",
            Shape::Either(&Shape::Text, &Shape::Map(&PROPERTY_LANG)),
            "Language settings of this property; a text sets `fetch`.",
        ),
        key("valuesIn", Shape::Texts, "Closed list of values."),
        key(
            "immutable",
            Shape::Bool,
            "May be set once and not changed (default false).",
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
            "Service that holds the values.",
        ),
        key("meta", Shape::Text, "Extra meta directive."),
        key(
            "diagram",
            Shape::Any,
            "Settings of a diagram tool; ignored.",
        ),
    ],
};

pub(crate) static OBJECT: Table = Table {
    what: "an object",
    name: "object",
    keys: &[
        key("label", Shape::Text, "Human name."),
        key("descr", Shape::Text, "Longer text."),
        key(
            "kind",
            Shape::Choice(OBJECT_KINDS),
            "`abstract` or `object` (default).",
        ),
        key("inherits", Shape::Text, "The superclass."),
        key(
            "name",
            Shape::Text,
            "Property that supplies the field `name`.",
        ),
        key(
            "props",
            Shape::MapOf(&PROPERTY),
            "Properties; an empty entry takes the global one.",
        ),
        key(
            "type",
            Shape::Texts,
            "Types of which any one makes an instance (default: the name).",
        ),
        key(
            "typeProp",
            Shape::Text,
            "Property that tells the type (default `rdf:type`).",
        ),
        key(
            "regex",
            Shape::Text,
            "Regular expression for the IRIs of instances, not anchored.",
        ),
        key("prefix", Shape::Text, "Beginning of the IRIs of instances."),
        key(
            "pattern",
            Shape::Text,
            "Template or regular expression for the IRIs of instances.",
        ),
        key(
            "extend",
            Shape::Bool,
            "Generates `extend type` (default false).",
        ),
        key(
            "search",
            Shape::Either(&Shape::Bool, &Shape::Map(&SEARCH)),
            "Search settings, also the default of the properties.",
        ),
        key(
            "sparqlFederatedService",
            Shape::Text,
            "Service that holds the instances.",
        ),
        key("meta", Shape::Text, "Extra meta directive."),
        key(
            "diagram",
            Shape::Any,
            "Settings of a diagram tool; ignored.",
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
        key("description", Shape::Text, "Longer text."),
        key(
            "actions",
            Shape::Texts,
            "What the role may do, as `<object>/<property>/<operation>`.",
        ),
        key(
            "notActions",
            Shape::Texts,
            "What is taken away from `actions`.",
        ),
        key(
            "filters",
            Shape::Any,
            "Conditions per object and operation that rows must meet.",
        ),
        key(
            "presets",
            Shape::Any,
            "Values that are set on writing and cannot be chosen.",
        ),
    ],
};
