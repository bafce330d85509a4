//! Random documents: valid ones mean the same however they are printed, and mutated ones never panic
//! and always point into the document.

mod generate;
mod print;

use generate::document;
use proptest::prelude::*;
use soml_core::span::LineIndex;
use soml_core::{Severity, load};

proptest! {
    #[test]
    fn a_document_means_the_same_in_every_layout(document in document()) {
        let block = print::load_valid(&print::block(&document));
        let flow = print::load_valid(&document.to_string());
        prop_assert_eq!(print::without_places(&block), print::without_places(&flow));
    }

    #[test]
    fn a_schema_printed_in_full_reads_as_itself(document in document()) {
        let schema = print::load_valid(&print::block(&document));
        let again = print::load_valid(&print::block(&print::effective(&schema)));
        prop_assert_eq!(print::without_places(&schema), print::without_places(&again));
    }

    #[test]
    fn mutated_documents_are_told_about_in_their_own_text(
        document in document(),
        flow in any::<bool>(),
        mutation in mutation(),
    ) {
        let text = if flow { document.to_string() } else { print::block(&document) };
        check_places(&mutation.apply(&text));
    }

    #[test]
    fn mutated_published_schemas_are_told_about_in_their_own_text(mutation in mutation()) {
        let name = "graphdb-workbench/swapi-schema-species.yaml";
        let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
        check_places(&mutation.apply(&std::fs::read_to_string(path).expect(name)));
    }

    #[test]
    fn any_text_is_told_about_in_its_own_text(text in "[ -~\n\té€𝄞\r]{0,200}") {
        check_places(&text);
    }

    #[test]
    fn language_specifications_print_as_they_are_read(text in "(ALL[,:])?(-?(en|fr-CA|NONE)~?|ANY|BROWSER|UNIQ|[a-z,;~-]){1,4}") {
        use soml_core::lang::{LangSpec, LangValidation};
        if let Ok(spec) = LangSpec::parse(&text) {
            prop_assert_eq!(LangSpec::parse(&spec.to_string()), Ok(spec));
        }
        if let Ok(spec) = LangValidation::parse(&text) {
            prop_assert_eq!(LangValidation::parse(&spec.to_string()), Ok(spec));
        }
    }
}

/// One change to a text.
#[derive(Clone, Debug)]
enum Mutation {
    Insert(usize, String),
    Delete(usize, usize),
    RepeatLine(usize),
    DropLine(usize),
    SwapLines(usize, usize),
    Replace(usize, String),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            ":",
            " ",
            "\n",
            "\t",
            "{",
            "}",
            "[",
            "]",
            "'",
            "\"",
            "&a ",
            "*a",
            "<<: ",
            "- ",
            "#",
            "~",
            "|",
            ">",
            "%",
            "!!str ",
            "? ",
            "---\n",
            "é",
            "\u{feff}",
            "\u{0}",
            "objects:",
            "props:",
            "null",
            "inherits: ",
            "inf",
            "-1",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9:/._-]{1,8}",
    ];
    let at = any::<usize>();
    prop_oneof![
        (at, piece.clone()).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (at, 1..12_usize).prop_map(|(at, n)| Mutation::Delete(at, n)),
        at.prop_map(Mutation::RepeatLine),
        at.prop_map(Mutation::DropLine),
        (at, at).prop_map(|(a, b)| Mutation::SwapLines(a, b)),
        (at, piece).prop_map(|(at, piece)| Mutation::Replace(at, piece)),
    ]
}

impl Mutation {
    fn apply(&self, text: &str) -> String {
        let place = |at: usize| {
            let mut at = at % (text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let mut lines: Vec<_> = text.lines().collect();
        let line = |at: usize| at % lines.len().max(1);
        match self {
            Mutation::Insert(at, piece) => {
                let (before, after) = text.split_at(place(*at));
                return format!("{before}{piece}{after}");
            }
            Mutation::Delete(at, n) => {
                let (before, after) = text.split_at(place(*at));
                return format!("{before}{}", after.chars().skip(*n).collect::<String>());
            }
            Mutation::Replace(at, piece) => {
                let (before, after) = text.split_at(place(*at));
                let rest = after.trim_start_matches(|c: char| c.is_alphanumeric());
                return format!("{before}{piece}{rest}");
            }
            Mutation::RepeatLine(at) => {
                let at = line(*at);
                lines.insert(at, lines[at]);
            }
            Mutation::DropLine(at) => {
                lines.remove(line(*at));
            }
            Mutation::SwapLines(a, b) => {
                let (a, b) = (line(*a), line(*b));
                lines.swap(a, b);
            }
        }
        lines.join("\n")
    }
}

fn check_places(text: &str) {
    let loaded = load(text);
    let index = LineIndex::new(text);
    for diagnostic in &loaded.diagnostics {
        let places = diagnostic.labels.iter().map(|label| label.place);
        for place in places.chain(diagnostic.place) {
            let span = place.span;
            assert!(
                text.get(span.range()).is_some(),
                "{span:?} in {} bytes\n{diagnostic}\n{text}",
                text.len()
            );
            assert_eq!(
                (index.position(span.start), index.position(span.end)),
                (place.start, place.end)
            );
        }
    }
    let has_errors = loaded
        .diagnostics
        .iter()
        .any(|d| d.severity == Severity::Error);
    assert_eq!(loaded.schema.is_none(), has_errors, "{text}");
}
