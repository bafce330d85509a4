//! The table of finding codes. Documentation pages and `explain` commands are made from it.

use std::fmt;

/// How bad a finding is.
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
pub struct CodeInfo {
    /// The code itself.
    pub code: Code,
    /// Its stable name.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Why it is reported and what to do.
    pub explanation: &'static str,
    /// A small document, or a part of one, that causes it.
    pub example: &'static str,
}

macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $title:literal $explanation:literal $example:literal;)*) => {
        /// A stable code of a finding.
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
    YamlSyntax "YAML_SYNTAX" Error "the text is not YAML"
        "The YAML parser cannot go on at this place, so nothing behind it was read. Usual causes are a \
         key without its colon, wrong indentation, a tab, or an open quote or bracket."
        "properties:\n  height\n    range: decimal\n";
    LimitExceeded "LIMIT_EXCEEDED" Error "the document is larger than allowed"
        "Size, depth, number of nodes, objects, effective properties and levels of inheritance are \
         bounded, so that no document can cost more than a bounded amount of time and memory. \
         `LoadOptions` holds the bounds."
        "objects: [[[[[[[[]]]]]]]]   # and many more\n";
    SeveralDocuments "SEVERAL_DOCUMENTS" Error "more than one YAML document"
        "A SOML text is one YAML document; what follows `---` is a second one. Put it in a file of its own."
        "objects: {}\n---\nobjects: {}\n";
    DuplicateKey "DUPLICATE_KEY" Error "the same key twice in one mapping"
        "Neither of two values for one key can be preferred, so the second one is refused. Remove or \
         rename it. Keys that are repeated many times are reported once, with their number."
        "objects:\n  Film: {}\n  Film: {}\n";
    KeyNotText "KEY_NOT_TEXT" Error "a key that is not text"
        "Keys of SOML are names. A list, a mapping or nothing cannot be a key; quote a name with \
         special characters."
        "objects:\n  [Film, Person]: {}\n";
    UnknownAlias "UNKNOWN_ALIAS" Error "an alias without its anchor"
        "`*name` repeats the value that was marked `&name` earlier in the document, and there is none. \
         Text that begins with `*` must be quoted."
        "label: *title\n";
    RecursiveAlias "RECURSIVE_ALIAS" Error "an alias inside its own anchor"
        "The value would contain itself."
        "objects: &all\n  Film: *all\n";
    WrongType "WRONG_TYPE" Error "a value of the wrong form"
        "The key wants another form of value: a mapping, a list, text, a boolean or a number."
        "objects:\n  Film: {props: [title]}\n";
    SeveralTexts "SEVERAL_TEXTS" Warning "a list where one text is expected"
        "Descriptive keys hold one text. The first one is used."
        "label: [Films, Movies]\n";
    UnknownKey "UNKNOWN_KEY" Warning "a key that the language does not have"
        "The key and everything under it is ignored. It may be misspelt, or stand at the wrong level."
        "objects:\n  Film: {inherit: Work}\n";
    OldSpelling "OLD_SPELLING" Warning "an old name of a key"
        "The key is read as the one that is used today."
        "objects:\n  Film: {props: {role: {range: Role, inverse: film}}}\n";
    MissingId "MISSING_ID" Warning "no `id`"
        "The identifier is how a stored schema is updated, bound and deleted. Without one, an identifier \
         is made from the text, and changes with it."
        "objects: {}\n";
    IdForm "ID_FORM" Warning "an `id` that does not begin with `/soml/`"
        "Identifiers of schemas look like `/soml/films`; the last part is the name used in addresses."
        "id: films\n";
    NoObjects "NO_OBJECTS" Warning "no `objects`"
        "Without objects there is nothing to query. Write `objects: {}` when this is meant."
        "id: /soml/films\n";
    BadIri "BAD_IRI" Error "not an absolute IRI"
        "Namespaces, and what names expand to, must be absolute IRIs: a scheme, a colon, and no blanks, \
         quotes, braces or angle brackets."
        "prefixes: {ex: example.org/}\n";
    UndeclaredPrefix "UNDECLARED_PREFIX" Error "a prefix that is not declared"
        "The text before the colon must be declared under `prefixes`, be the `vocab_prefix`, or be one of \
         the predefined ones."
        "objects:\n  Film: {type: exx:Film}\n";
    PrefixConflict "PREFIX_CONFLICT" Warning "two namespaces for the vocabulary prefix"
        "`prefixes` and `specialPrefixes` bind the same prefix to different namespaces. \
         `specialPrefixes` wins."
        "prefixes: {voc: http://example.org/a#}\nspecialPrefixes: {vocab_prefix: voc, vocab_iri: http://example.org/b#}\n";
    BadName "BAD_NAME" Error "a name that cannot be one"
        "A name has at least one character besides its prefix, and at most 500 bytes."
        "objects:\n  'voc:': {}\n";
    ReservedName "RESERVED_NAME" Error "a name that is taken by the language"
        "`id`, `type`, `value`, `lang` and everything that begins with `__` are fields that every object \
         or literal has. A property with such a name is written with the vocabulary prefix and keeps it \
         in GraphQL. Names of datatypes cannot name objects."
        "objects:\n  Film: {props: {type: {}}}\n";
    NameCollision "NAME_COLLISION" Error "two elements with one name"
        "Punctuation that GraphQL does not allow becomes `_`, so different names in SOML can be one \
         name in GraphQL; and a name with and without the vocabulary prefix is the same. Rename one."
        "objects:\n  Film: {props: {run-time: {}, run.time: {}}}\n";
    EmptyEnum "EMPTY_ENUM" Error "an enumeration without values"
        "An enumeration lists at least one value."
        "types:\n  Kind: {values: []}\n";
    BadEnumValue "BAD_ENUM_VALUE" Error "not a name for an enumeration value"
        "Values are GraphQL names: letters, digits and `_`, not beginning with a digit, and not `true`, \
         `false` or `null`; each once."
        "types:\n  Kind: {values: [{name: sci-fi}]}\n";
    UnsupportedType "UNSUPPORTED_TYPE" Error "a kind of datatype that cannot be defined"
        "A custom type is either an enumeration (`values`) or a union of existing datatypes (`union`)."
        "types:\n  Point: {rdf: 'http://www.opengis.net/ont/geosparql#wktLiteral'}\n";
    UnknownMember "UNKNOWN_MEMBER" Error "a union member that is not a literal datatype"
        "Members of a union are scalar datatypes or `langString`."
        "types:\n  When: {union: [date, yeer]}\n";
    UnknownKind "UNKNOWN_KIND" Error "an unknown kind of object"
        "`kind` of an object is `abstract` or `object` (a concrete one, which is the default)."
        "objects:\n  Work: {kind: abstrct}\n";
    UnknownPropertyKind "UNKNOWN_PROPERTY_KIND" Warning "an unknown kind of property"
        "`kind` of a property is `literal`, `object` or `mixed`. It is a hint only; the range decides."
        "properties:\n  title: {kind: litteral}\n";
    UnknownParent "UNKNOWN_PARENT" Error "a superclass that is not declared"
        "`inherits` names another object of this document."
        "objects:\n  Film: {inherits: Wrok}\n  Work: {}\n";
    InheritanceCycle "INHERITANCE_CYCLE" Error "an object that inherits from itself"
        "Following `inherits` from here leads back to this object."
        "objects:\n  Film: {inherits: Work}\n  Work: {inherits: Film}\n";
    NoType "NO_TYPE" Error "an object without a type"
        "A concrete object is recognised by at least one type. Leave `type` out to use the object's own name."
        "objects:\n  Film: {type: []}\n";
    UnknownRange "UNKNOWN_RANGE" Error "a range that is neither a datatype nor an object"
        "The range of a property is a built-in datatype, a type of the `types` section or an object of \
         this document. Declare an empty object for a class that has no properties here."
        "objects:\n  Film: {props: {year: {range: interger}}}\n";
    BadCardinality "BAD_CARDINALITY" Error "not a cardinality"
        "`min` is a whole number from 0, `max` one from 1, or `inf` for no bound."
        "objects:\n  Film: {props: {title: {max: many}}}\n";
    MinOverMax "MIN_OVER_MAX" Error "`min` is greater than `max`"
        "No number of values can satisfy both."
        "objects:\n  Film: {props: {title: {min: 2, max: 1}}}\n";
    MinWithoutMax "MIN_WITHOUT_MAX" Warning "`min` is greater than the default of `max`"
        "`max` is 1 unless written, so a property that needs several values must say how many it may have."
        "objects:\n  Film: {props: {director: {min: 2}}}\n";
    PropertyNearMiss "PROPERTY_NEAR_MISS" Warning "a name that is nearly a declared one"
        "An empty entry under `props` takes everything from the global property of the same name, and \
         `name` of an object makes a property that is not declared. Nothing has this name, but something \
         has one that differs little."
        "properties:\n  title: {min: 1}\nobjects:\n  Film: {props: {titel: {}}}\n";
    NameProperty "NAME_PROPERTY" Error "a property that cannot supply names"
        "`name` of an object is a property with text or other literal values; references to objects, \
         and the fields `id` and `type`, cannot supply it."
        "objects:\n  Film: {name: maker, props: {maker: {range: Film}}}\n";
    UnknownInverse "UNKNOWN_INVERSE" Error "an inverse that the range does not have"
        "`inverseAlias` and `inverseOf` name a property, own or inherited, of the object that is the range."
        "objects:\n  Film: {props: {role: {range: Role, inverseAlias: flim}}}\n  Role: {props: {film: {range: Film}}}\n";
    InverseRange "INVERSE_RANGE" Error "ranges that do not fit an inverse"
        "A property with an inverse has an object as range, and the range of the partner of `inverseOf` is \
         the declaring object or one of its superclasses."
        "objects:\n  Film: {props: {role: {range: iri, inverseOf: film}}}\n";
    InverseAliasRange "INVERSE_ALIAS_RANGE" Warning "the aliased property leads elsewhere"
        "The range of the aliased property is not related to this object, so the alias will hardly \
         find anything."
        "objects:\n  Film: {props: {role: {range: Role, inverseAlias: person}}}\n  Role: {props: {person: {range: Person}}}\n  Person: {}\n";
    InverseConflict "INVERSE_CONFLICT" Error "both kinds of inverse"
        "`inverseAlias` says that nothing is stored for the property, `inverseOf` that both directions are."
        "objects:\n  Film: {props: {role: {range: Film, inverseAlias: of, inverseOf: of}, of: {range: Film}}}\n";
    InverseOfAlias "INVERSE_OF_ALIAS" Error "an inverse of something that is not stored"
        "The partner is an `inverseAlias` itself, so there is nothing to read backwards."
        "objects:\n  Film: {props: {a: {range: Film, inverseAlias: b}, b: {range: Film, inverseAlias: c}, c: {range: Film}}}\n";
    InverseGroup "INVERSE_GROUP" Error "more than one inverse"
        "A stored property has at most one inverse: when the partner names an inverse too, it must be this \
         property."
        "objects:\n  Film: {props: {a: {range: Film, inverseOf: b}, b: {range: Film, inverseOf: c}, c: {range: Film}}}\n";
    RdfPropIgnored "RDF_PROP_IGNORED" Warning "`rdfProp` beside `inverseAlias`"
        "The RDF property of an alias is that of its partner; `rdfProp` has no effect."
        "objects:\n  Film: {props: {role: {range: Role, inverseAlias: film, rdfProp: 'voc:role'}}}\n  Role: {props: {film: {range: Film}}}\n";
    SymmetricRange "SYMMETRIC_RANGE" Error "a symmetric property that cannot be its own inverse"
        "Values of a symmetric property have the same property themselves, so its range is an object."
        "objects:\n  Film: {props: {similar: {symmetric: true}}}\n";
    RangeInheritance "RANGE_INHERITANCE" Error "a range that does not fit the inherited one"
        "A property that is declared again keeps the inherited range or narrows it to a subclass. \
         `disabledChecks: rangeCheck` switches this check off."
        "objects:\n  Work: {kind: abstract, props: {year: {range: integer}}}\n  Film: {inherits: Work, props: {year: {range: string}}}\n";
    RegexInheritance "REGEX_INHERITANCE" Error "a regular expression in place of an inherited one"
        "Instances of a subclass are instances of the superclass and must match its expression too. \
         `disabledChecks: regexInheritanceCheck` switches this check off."
        "objects:\n  Work: {kind: abstract, regex: 'work/'}\n  Film: {inherits: Work, regex: 'film/'}\n";
    FieldTypeInheritance "FIELD_TYPE_INHERITANCE" Error "a field that does not fit its interface"
        "A subclass cannot turn a list into a single value or the reverse, nor take back `nonNullable` or \
         `nonNullableElements`: GraphQL does not allow it."
        "objects:\n  Work: {kind: abstract, props: {title: {max: inf}}}\n  Film: {inherits: Work, props: {title: {max: 1}}}\n";
    PathInheritance "PATH_INHERITANCE" Error "an inherited property that is stored elsewhere"
        "Every object under a superclass stores an inherited property under the same RDF property, or a \
         query on the superclass would miss some. Give the property another name."
        "objects:\n  Work: {kind: abstract, props: {title: {}}}\n  Film: {inherits: Work, props: {title: {rdfProp: 'rdfs:label'}}}\n";
    BadLangSpec "BAD_LANG_SPEC" Error "not a language specification"
        "`fetch` is a list such as `en~,fr,NONE`, or begins with `ALL`; `validate` is a list such as \
         `en,fr` with `;UNIQ` at its end; `implicit` is one tag."
        "config: {lang: {validate: 'UNIQ;en'}}\n";
    BadFieldPrefix "BAD_FIELD_PREFIX" Error "not the beginning of a GraphQL name"
        "`queryPfx` and `mutationPfx` consist of letters, digits and `_`, and do not begin with a digit \
         or with `__`."
        "config: {queryPfx: my-}\n";
    UnknownCheck "UNKNOWN_CHECK" Warning "a check that does not exist"
        "`disabledChecks` knows `rangeCheck` and `regexInheritanceCheck`."
        "config: {disabledChecks: rangeChek}\n";
    BadAction "BAD_ACTION" Error "not an action"
        "An action has three parts, `<object>/<property>/<operation>`; `*` stands for anything, also \
         within a part."
        "rbac: {roles: {Reader: {actions: ['*/read']}}}\n";
    UnknownOperation "UNKNOWN_OPERATION" Warning "an operation that does not exist"
        "The operations are `read`, `write` and `delete`."
        "rbac: {roles: {Reader: {actions: ['*/*/reed']}}}\n";
    UnknownTarget "UNKNOWN_TARGET" Warning "a role about something that is not declared"
        "The action names an object or a property that the schema does not have, so it permits nothing."
        "objects: {Film: {}}\nrbac: {roles: {Reader: {actions: ['Flim/*/read']}}}\n";
    IndexCollision "INDEX_COLLISION" Error "two searchable objects with one index"
        "Names of search indexes are in lower case, so the names of searchable objects must differ \
         in more than case."
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

    /// Returns how bad a finding with this code is.
    #[must_use]
    pub fn severity(self) -> Severity {
        self.info().severity
    }

    /// Finds a code by its name; letter case does not matter.
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
