//! The table of diagnostic codes. The documentation and `explain` commands are generated from it.

use std::fmt;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The document cannot be used.
    Error,
    /// The document can be used, but probably does not say what its author meant.
    Warning,
}

impl Severity {
    /// Returns `error` or `warning`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One row of the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeInfo {
    /// The code itself.
    pub code: Code,
    /// The stable name of the code.
    pub name: &'static str,
    /// The severity of diagnostics with this code.
    pub severity: Severity,
    /// A short title, as a lower-case fragment.
    pub title: &'static str,
    /// Why it is reported and how to fix it.
    pub explanation: &'static str,
    /// A minimal document, or part of one, that causes it.
    pub example: &'static str,
}

macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $title:literal $explanation:literal $example:literal;)*) => {
        /// The stable code of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $name, "`: ", $title, ".")] $variant,)*
        }

        /// All codes, in the order in which a document is checked.
        pub static CODES: &[CodeInfo] = &[
            $(CodeInfo {
                code: Code::$variant,
                name: $name,
                severity: Severity::$severity,
                title: $title,
                explanation: $explanation,
                example: $example,
            },)*
        ];
    };
}

codes! {
    YamlSyntax "YAML_SYNTAX" Error "YAML syntax error"
        "The YAML parser stopped at this position; nothing after it was read. Common causes are a \
         missing colon after a key, wrong indentation, a tab, or an unclosed quote or bracket."
        "properties:\n  height\n    range: decimal\n";
    LimitExceeded "LIMIT_EXCEEDED" Error "the document is larger than allowed"
        "Size, depth, number of nodes, objects, effective properties and levels of inheritance are \
         limited, so that time and memory are bounded for every document. The limits are in \
         `LoadOptions`."
        "objects: [[[[[[[[]]]]]]]]   # and many more\n";
    SeveralDocuments "SEVERAL_DOCUMENTS" Error "more than one YAML document"
        "A SOML file contains one YAML document, but `---` begins a second one. Put that into a \
         separate file."
        "objects: {}\n---\nobjects: {}\n";
    DuplicateKey "DUPLICATE_KEY" Error "a duplicate key in a mapping"
        "A key can have only one value. Remove or rename all but one occurrence. A key that is \
         repeated many times is reported once, with the number of occurrences."
        "objects:\n  Film: {}\n  Film: {}\n";
    KeyNotText "KEY_NOT_TEXT" Error "a key that is not a string"
        "Keys in SOML are names. A list, a mapping or null cannot be a key; quote names with \
         special characters."
        "objects:\n  [Film, Person]: {}\n";
    UnknownAlias "UNKNOWN_ALIAS" Error "an alias without an anchor"
        "The alias `*name` repeats the value with the anchor `&name`, but there is no such anchor \
         earlier in the document. A string that begins with `*` must be quoted."
        "label: *title\n";
    RecursiveAlias "RECURSIVE_ALIAS" Error "an alias inside its own anchor"
        "The value would contain itself."
        "objects: &all\n  Film: *all\n";
    WrongType "WRONG_TYPE" Error "a value of the wrong form"
        "The key expects a value of a different form: a mapping, a list, a string, a boolean or a number."
        "objects:\n  Film: {props: [title]}\n";
    SeveralTexts "SEVERAL_TEXTS" Warning "a list where one string is expected"
        "Descriptive keys take a single string. The first string of the list is used."
        "label: [Films, Movies]\n";
    UnknownKey "UNKNOWN_KEY" Warning "an unknown key"
        "The key and everything under it is ignored. It may be misspelt or at the wrong level."
        "objects:\n  Film: {inherit: Work}\n";
    OldSpelling "OLD_SPELLING" Warning "an old spelling of a key"
        "The key is accepted as its current spelling."
        "objects:\n  Film: {props: {role: {range: Role, inverse: film}}}\n";
    MissingId "MISSING_ID" Warning "no `id`"
        "The identifier is needed to update, bind and delete a stored schema. Without one, an \
         identifier is derived from the text, and changes whenever the text does."
        "objects: {}\n";
    IdForm "ID_FORM" Warning "an `id` that does not begin with `/soml/`"
        "Identifiers of schemas look like `/soml/films`; the last segment is the name used in URLs."
        "id: films\n";
    NoObjects "NO_OBJECTS" Warning "no `objects`"
        "Without objects there is nothing to query. Write `objects: {}` if this is intended."
        "id: /soml/films\n";
    BadIri "BAD_IRI" Error "not an absolute IRI"
        "Namespaces and expanded names must be absolute IRIs: they have a scheme followed by a \
         colon, and no spaces, quotes, braces or angle brackets."
        "prefixes: {ex: example.org/}\n";
    UndeclaredPrefix "UNDECLARED_PREFIX" Error "a prefix that is not declared"
        "The prefix before the colon must be declared under `prefixes`, be the `vocab_prefix`, or \
         be one of the predefined prefixes."
        "objects:\n  Film: {type: exx:Film}\n";
    PrefixConflict "PREFIX_CONFLICT" Warning "two namespaces for the vocabulary prefix"
        "`prefixes` and `specialPrefixes` bind the same prefix to different namespaces. \
         `specialPrefixes` takes precedence."
        "prefixes: {voc: http://example.org/a#}\nspecialPrefixes: {vocab_prefix: voc, vocab_iri: http://example.org/b#}\n";
    BadName "BAD_NAME" Error "an invalid name"
        "A name has at least one character after its prefix, and at most 500 bytes."
        "objects:\n  'voc:': {}\n";
    ReservedName "RESERVED_NAME" Error "a reserved name"
        "`id`, `type`, `value`, `lang` and names that begin with `__` are fields of every object \
         or literal. A property can use such a name with the vocabulary prefix, which it keeps in \
         GraphQL. Objects cannot have the names of datatypes."
        "objects:\n  Film: {props: {type: {}}}\n";
    NameCollision "NAME_COLLISION" Error "two elements with the same name"
        "Punctuation that GraphQL does not allow becomes `_`, so different names in SOML can \
         become the same name in GraphQL; and a name is the same with and without the vocabulary \
         prefix. Rename one of the elements."
        "objects:\n  Film: {props: {run-time: {}, run.time: {}}}\n";
    EmptyEnum "EMPTY_ENUM" Error "an enumeration without values"
        "An enumeration lists at least one value."
        "types:\n  Kind: {values: []}\n";
    BadEnumValue "BAD_ENUM_VALUE" Error "an invalid enumeration value"
        "Values are GraphQL names: letters, digits and `_`, not beginning with a digit, and not \
         `true`, `false` or `null`. Each value is listed once."
        "types:\n  Kind: {values: [{name: sci-fi}]}\n";
    UnsupportedType "UNSUPPORTED_TYPE" Error "an unsupported kind of custom type"
        "A custom type is either an enumeration (`values`) or a union of existing datatypes \
         (`union`)."
        "types:\n  Point: {rdf: 'http://www.opengis.net/ont/geosparql#wktLiteral'}\n";
    UnknownMember "UNKNOWN_MEMBER" Error "a union member that is not a literal datatype"
        "Members of a union are scalar datatypes or `langString`."
        "types:\n  When: {union: [date, yeer]}\n";
    UnknownKind "UNKNOWN_KIND" Error "an unknown kind of object"
        "`kind` of an object is `abstract` or `object` (concrete, the default)."
        "objects:\n  Work: {kind: abstrct}\n";
    UnknownPropertyKind "UNKNOWN_PROPERTY_KIND" Warning "an unknown kind of property"
        "`kind` of a property is `literal`, `object` or `mixed`. It is only a hint; the range \
         decides."
        "properties:\n  title: {kind: litteral}\n";
    UnknownParent "UNKNOWN_PARENT" Error "a superclass that is not declared"
        "`inherits` must name another object of this document."
        "objects:\n  Film: {inherits: Wrok}\n  Work: {}\n";
    InheritanceCycle "INHERITANCE_CYCLE" Error "an object that inherits from itself"
        "Following `inherits` from here leads back to this object."
        "objects:\n  Film: {inherits: Work}\n  Work: {inherits: Film}\n";
    NoType "NO_TYPE" Error "an object without a type"
        "A concrete object needs at least one type. Omit `type` to use the name of the object."
        "objects:\n  Film: {type: []}\n";
    UnknownRange "UNKNOWN_RANGE" Error "a range that is neither a datatype nor an object"
        "The range of a property is a built-in datatype, a type of the `types` section or an \
         object of this document. For a class without properties, declare an empty object."
        "objects:\n  Film: {props: {year: {range: interger}}}\n";
    BadCardinality "BAD_CARDINALITY" Error "an invalid cardinality"
        "`min` is a non-negative integer, `max` a positive integer or `inf` for unbounded."
        "objects:\n  Film: {props: {title: {max: many}}}\n";
    MinOverMax "MIN_OVER_MAX" Error "`min` is greater than `max`"
        "No number of values can satisfy both."
        "objects:\n  Film: {props: {title: {min: 2, max: 1}}}\n";
    MinWithoutMax "MIN_WITHOUT_MAX" Warning "`min` is greater than the default of `max`"
        "`max` defaults to 1, so a property with a greater `min` must set `max` too."
        "objects:\n  Film: {props: {director: {min: 2}}}\n";
    PropertyNearMiss "PROPERTY_NEAR_MISS" Warning "a property name that is probably misspelt"
        "An empty entry under `props` takes its settings from the global property of the same \
         name, and `name` of an object adds a property that is not declared. No declared property \
         has this name, but one has a similar name."
        "properties:\n  title: {min: 1}\nobjects:\n  Film: {props: {titel: {}}}\n";
    NameProperty "NAME_PROPERTY" Error "a property that cannot be the name property"
        "`name` of an object refers to a property with strings or other literals as values. \
         Properties whose values are objects, and the fields `id` and `type`, cannot be used."
        "objects:\n  Film: {name: maker, props: {maker: {range: Film}}}\n";
    UnknownInverse "UNKNOWN_INVERSE" Error "an inverse that the range does not have"
        "`inverseAlias` and `inverseOf` must name a property, declared or inherited, of the object \
         that is the range."
        "objects:\n  Film: {props: {role: {range: Role, inverseAlias: flim}}}\n  Role: {props: {film: {range: Film}}}\n";
    InverseRange "INVERSE_RANGE" Error "ranges that do not fit an inverse"
        "The range of a property with an inverse is an object. For `inverseOf`, the range of the \
         inverse property is the declaring object or one of its superclasses."
        "objects:\n  Film: {props: {role: {range: iri, inverseOf: film}}}\n";
    InverseAliasRange "INVERSE_ALIAS_RANGE" Warning "an aliased property with an unrelated range"
        "The range of the aliased property is not related to this object, so the alias is unlikely \
         to return any values."
        "objects:\n  Film: {props: {role: {range: Role, inverseAlias: person}}}\n  Role: {props: {person: {range: Person}}}\n  Person: {}\n";
    InverseConflict "INVERSE_CONFLICT" Error "both kinds of inverse"
        "With `inverseAlias`, nothing is stored for the property itself; with `inverseOf`, both \
         directions are stored. Keep one of them."
        "objects:\n  Film: {props: {role: {range: Film, inverseAlias: of, inverseOf: of}, of: {range: Film}}}\n";
    InverseOfAlias "INVERSE_OF_ALIAS" Error "an inverse of something that is not stored"
        "The inverse property is an `inverseAlias` itself, so it has no stored statements that \
         could be read in inverse direction."
        "objects:\n  Film: {props: {a: {range: Film, inverseAlias: b}, b: {range: Film, inverseAlias: c}, c: {range: Film}}}\n";
    InverseGroup "INVERSE_GROUP" Error "more than one inverse"
        "A stored property has at most one inverse. If the inverse property declares an inverse \
         too, that must be this property."
        "objects:\n  Film: {props: {a: {range: Film, inverseOf: b}, b: {range: Film, inverseOf: c}, c: {range: Film}}}\n";
    RdfPropIgnored "RDF_PROP_IGNORED" Warning "`rdfProp` together with `inverseAlias`"
        "An alias uses the RDF property of the aliased property; `rdfProp` has no effect."
        "objects:\n  Film: {props: {role: {range: Role, inverseAlias: film, rdfProp: 'voc:role'}}}\n  Role: {props: {film: {range: Film}}}\n";
    FederatedServiceIgnored "FEDERATED_SERVICE_IGNORED" Warning "data in another SPARQL service"
        "`sparqlFederatedService` declares that another SPARQL service holds the instances of an object or the \
         values of a property. That service is not queried: data that are not in the store of this service are \
         missing from responses."
        "objects:\n  Film: {sparqlFederatedService: archive}\n";
    SymmetricRange "SYMMETRIC_RANGE" Error "a symmetric property that cannot be its own inverse"
        "The values of a symmetric property have the same property themselves, so its range must \
         be an object."
        "objects:\n  Film: {props: {similar: {symmetric: true}}}\n";
    RangeInheritance "RANGE_INHERITANCE" Error "a range that does not fit the inherited one"
        "A subclass that redeclares a property keeps the inherited range or narrows it to a \
         subclass. `disabledChecks: rangeCheck` switches this check off."
        "objects:\n  Work: {kind: abstract, props: {year: {range: integer}}}\n  Film: {inherits: Work, props: {year: {range: string}}}\n";
    RegexInheritance "REGEX_INHERITANCE" Error "a regular expression that replaces an inherited one"
        "Instances of a subclass are instances of the superclass and must match its expression \
         too. `disabledChecks: regexInheritanceCheck` switches this check off."
        "objects:\n  Work: {kind: abstract, regex: 'work/'}\n  Film: {inherits: Work, regex: 'film/'}\n";
    FieldTypeInheritance "FIELD_TYPE_INHERITANCE" Error "a field that does not fit its interface"
        "A subclass cannot turn a list into a single value or the reverse, nor revoke \
         `nonNullable` or `nonNullableElements`: GraphQL does not allow it."
        "objects:\n  Work: {kind: abstract, props: {title: {max: inf}}}\n  Film: {inherits: Work, props: {title: {max: 1}}}\n";
    PathInheritance "PATH_INHERITANCE" Warning "an inherited property with a different RDF property"
        "Each type reads the RDF property that it declares, and a query on the superclass tests each \
         object by the RDF property of its type. That is slower than one RDF property for all types, \
         and an `inverseAlias` to the property follows only the RDF property of its range."
        "objects:\n  Work: {kind: abstract, props: {title: {}}}\n  Film: {inherits: Work, props: {title: {rdfProp: 'rdfs:label'}}}\n";
    BadLangSpec "BAD_LANG_SPEC" Error "an invalid language specification"
        "`fetch` is a list such as `en~,fr,NONE`, or begins with `ALL`; `validate` is a list such \
         as `en,fr`, optionally followed by `;UNIQ`; `implicit` is a single language tag."
        "config: {lang: {validate: 'UNIQ;en'}}\n";
    BadFieldPrefix "BAD_FIELD_PREFIX" Error "an invalid prefix for GraphQL fields"
        "`queryPfx` and `mutationPfx` consist of letters, digits and `_`, and do not begin with a \
         digit or with `__`."
        "config: {queryPfx: my-}\n";
    UnknownCheck "UNKNOWN_CHECK" Warning "a check that does not exist"
        "`disabledChecks` can contain `rangeCheck` and `regexInheritanceCheck`."
        "config: {disabledChecks: rangeChek}\n";
    BadAction "BAD_ACTION" Error "an invalid action"
        "An action has three parts, `<object>/<property>/<operation>`. `*` is a wildcard, also \
         within a part."
        "rbac: {roles: {Reader: {actions: ['*/read']}}}\n";
    UnknownOperation "UNKNOWN_OPERATION" Warning "an operation that does not exist"
        "The operations are `read`, `write` and `delete`."
        "rbac: {roles: {Reader: {actions: ['*/*/reed']}}}\n";
    UnknownTarget "UNKNOWN_TARGET" Warning "a role that refers to an unknown object or property"
        "The action names an object or a property that the schema does not have, so it permits \
         nothing."
        "objects: {Film: {}}\nrbac: {roles: {Reader: {actions: ['Flim/*/read']}}}\n";
    BadRowRule "BAD_ROW_RULE" Error "an invalid filter or preset of a role"
        "`filters` has a condition for each object and operation, `presets` a value for each object and property. \
         Claims of the caller are written `$claims.<name>`. A rule for something that does not exist would protect \
         nothing."
        "objects: {Film: {}}\nrbac: {roles: {Reader: {filters: {Flim: {read: {ID: 'http://e/1'}}}}}}\n";
    IndexCollision "INDEX_COLLISION" Error "two searchable objects with the same index"
        "Names of search indexes are lower-case, so the names of searchable objects must differ in \
         more than case."
        "objects:\n  FILM: {search: true}\n  Film: {search: true}\n";
}

impl Code {
    /// Returns the row of the table.
    #[must_use]
    pub fn info(self) -> &'static CodeInfo {
        &CODES[self as usize]
    }

    /// Returns the stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.info().name
    }

    /// Returns the severity of diagnostics with this code.
    #[must_use]
    pub fn severity(self) -> Severity {
        self.info().severity
    }

    /// Finds a code by its name, ignoring case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Code> {
        CODES
            .iter()
            .find(|row| row.name.eq_ignore_ascii_case(name))
            .map(|row| row.code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_the_index_of_their_code_and_names_are_unique() {
        for (i, row) in CODES.iter().enumerate() {
            assert_eq!(row.code as usize, i);
            assert_eq!(Code::from_name(row.name), Some(row.code));
            assert!(
                !row.explanation.is_empty() && !row.example.is_empty(),
                "{}",
                row.name
            );
        }
    }
}
