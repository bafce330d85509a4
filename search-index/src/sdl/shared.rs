//! The types that all searches share.

use super::nodes::{Types, field, inputs};

/// Adds what all searches share.
pub(super) fn add(types: &mut Types) {
    types.scalar("Search_Value", "A string, a number or a Boolean");
    types.scalar("Long", "Signed 64-bit integer");
    for &(name, description, values) in CHOICES {
        types.choice(name, description, values.iter().copied());
    }
    for &(name, description, rows) in INPUTS {
        types.inputs(name, description, inputs("", rows));
    }
    let total = vec![
        field("value", "Long!", "Number of hits"),
        field(
            "relation",
            "String!",
            "`eq` when the number is exact, `gte` when there are more",
        ),
    ];
    types.object("Search_Total", "How many objects match", total);
    add_aggregations(types);
}

fn add_aggregations(types: &mut Types) {
    let bucket = vec![
        field("key", "String!", "The value"),
        field("doc_count", "Long!", "Number of objects"),
    ];
    types.object("Search_Bucket", "Objects with the same value", bucket);
    let aggregation = vec![
        field("name", "String!", "The name that the search gives"),
        field("type", "String!", "The kind of aggregation"),
        field(
            "doc_count_error_upper_bound",
            "Long",
            "Greatest error of the counts",
        ),
        field(
            "sum_other_doc_count",
            "Long",
            "Number of values in other buckets: one for each object, or embedded object, that has it",
        ),
        field("buckets", "[Search_Bucket!]", "Objects by value"),
    ];
    types.object(
        "Search_Aggregation",
        "The answer to an aggregation",
        aggregation,
    );
}

/// Name, description and values of each enumeration.
const CHOICES: &[(&str, &str, &[&str])] = &[
    (
        "Search_Operator",
        "How the terms of a text are combined",
        &["AND", "OR"],
    ),
    (
        "Search_ZeroTerms",
        "What a text without terms matches",
        &["NONE", "ALL"],
    ),
    ("Search_Order", "Direction of a sort key", &["ASC", "DESC"]),
    (
        "Search_Missing",
        "Where objects without a value are",
        &["_first", "_last"],
    ),
    ("Search_SortMode", MODE, &["MIN", "MAX"]),
    (
        "Search_NumberSortMode",
        "Which of several values an object is sorted by; those of several embedded objects have no median",
        &["MIN", "MAX", "SUM", "AVG", "MEDIAN"],
    ),
    (
        "Search_ScoreMode",
        "How scores are combined",
        &["AVG", "MAX", "MIN", "SUM", "NONE"],
    ),
    (
        "Search_BucketOrder",
        "Order of buckets",
        &["COUNT_DESC", "COUNT_ASC", "KEY_ASC", "KEY_DESC"],
    ),
];

const MODE: &str = "Which of several values an object is sorted by";

/// An input field: its name, type and description.
pub(super) type Row = (&'static str, &'static str, &'static str);

/// Name, description and fields of each input type.
const INPUTS: &[(&str, &str, &[Row])] = &[
    ("Search_All", "Everything or nothing", &[BOOST]),
    (
        "Search_Match",
        "Analysed text",
        &[
            QUERY,
            OPERATOR,
            FUZZINESS,
            PREFIX_LENGTH,
            EXPANSIONS,
            TRANSPOSITIONS,
            MINIMUM,
            LENIENT,
            ZERO_TERMS,
            BOOST,
        ],
    ),
    (
        "Search_LanguageMatch",
        "Analysed text in languages",
        &[
            QUERY,
            LANG,
            OPERATOR,
            FUZZINESS,
            PREFIX_LENGTH,
            EXPANSIONS,
            TRANSPOSITIONS,
            MINIMUM,
            LENIENT,
            ZERO_TERMS,
            BOOST,
        ],
    ),
    ("Search_ValueMatch", "A value", &[QUERY, LENIENT, BOOST]),
    ("Search_Term", "One term", &[VALUE, CASE, BOOST]),
    (
        "Search_LanguageTerm",
        "One term in languages",
        &[VALUE, LANG, CASE, BOOST],
    ),
    ("Search_ValueTerm", "One value", &[VALUE, BOOST]),
    (
        "Search_Terms",
        "Any of some values",
        &[("values", "[Search_Value!]!", "The values"), BOOST],
    ),
    (
        "Search_Range",
        "Values between bounds",
        &[
            ("gt", "Search_Value", "Greater than"),
            ("gte", "Search_Value", "Greater than or equal to"),
            ("lt", "Search_Value", "Less than"),
            ("lte", "Search_Value", "Less than or equal to"),
            BOOST,
        ],
    ),
    (
        "Search_Prefix",
        "Terms by their beginning",
        &[BEGINNING, CASE, BOOST],
    ),
    (
        "Search_LanguagePrefix",
        "Terms by their beginning, in languages",
        &[BEGINNING, LANG, CASE, BOOST],
    ),
    (
        "Search_Ids",
        "Objects by id",
        &[("values", "[ID!]!", "The ids"), BOOST],
    ),
    (
        "Search_Sort",
        "A sort key",
        &[ORDER, MISSING, ("mode", "Search_SortMode", MODE)],
    ),
    (
        "Search_NumberSort",
        "A sort key",
        &[ORDER, MISSING, ("mode", "Search_NumberSortMode", MODE)],
    ),
    ("Search_ScoreSort", "The score as a sort key", &[ORDER]),
];

pub(super) const BOOST: Row = ("boost", "Float", "Factor of the score");
const QUERY: Row = ("query", "Search_Value!", "What to find");
const VALUE: Row = ("value", "Search_Value!", "The value");
const BEGINNING: Row = ("value", "String!", "The beginning");
const LANG: Row = ("lang", "String", "Only values in this language");
const CASE: Row = (
    "case_insensitive",
    "Boolean",
    "Ignores the case of ASCII letters",
);
const LENIENT: Row = (
    "lenient",
    "Boolean",
    "A value that does not fit matches nothing",
);
const OPERATOR: Row = ("operator", "Search_Operator", "How terms are combined");
const FUZZINESS: Row = (
    "fuzziness",
    "String",
    "Errors of a term: `0`, `1`, `2`, `AUTO` or `AUTO:3,6`",
);
const PREFIX_LENGTH: Row = (
    "prefix_length",
    "Int",
    "Number of letters that must be equal",
);
const EXPANSIONS: Row = (
    "max_expansions",
    "Int",
    "Number of similar terms that are looked up",
);
const TRANSPOSITIONS: Row = (
    "fuzzy_transpositions",
    "Boolean",
    "Two exchanged letters are one error",
);
pub(super) const MINIMUM: Row = (
    "minimum_should_match",
    "String",
    "How many have to match: `2`, `-1`, `75%` or `2<-25% 9<-3`",
);
const ZERO_TERMS: Row = (
    "zero_terms_query",
    "Search_ZeroTerms",
    "What a text without terms matches",
);
const ORDER: Row = ("order", "Search_Order", "Direction");
const MISSING: Row = (
    "missing",
    "Search_Missing",
    "Where objects without a value are",
);
