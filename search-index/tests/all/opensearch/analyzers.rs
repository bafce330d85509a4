//! The embedded analyzers make the terms that those of a server make.
//!
//! Texts are all literals of the multilingual data and of the demo, those of the file that `SEARCH_TEXTS`
//! names, a line each, and random ones; `SEARCH_ANALYZER` names the only analyzer to be compared. Runs of Thai, Lao, Khmer and Myanmar, which are words of a
//! dictionary there, may differ, and so may the letter İ.

use std::collections::BTreeSet;
use std::io::Read;
use std::ops::RangeInclusive;

use oxrdf::Term;
use oxrdfio::{RdfFormat, RdfParser};
use regex::Regex;
use search_index::analysis::Analyzer;
use serde_json::{Value, json};
use test_support::random::Random;

use super::address;

/// Tokens of a request; the server refuses more than 10,000.
const TOKENS: usize = 5_000;

/// Differences that are shown of an analyzer.
const SHOWN: usize = 20;

/// Characters that are tried one by one: those of the first planes, and of tags.
const CHARACTERS: [RangeInclusive<char>; 2] = ['\0'..='\u{32000}', '\u{e0000}'..='\u{e01ff}'];

/// Random texts.
const RANDOM_TEXTS: usize = 10_000;

/// Random texts of words with endings.
const RANDOM_WORDS: usize = 5_000;

/// A term, and its position.
type Token = (String, u64);

/// An analyzer of the server and the embedded one of the same name.
struct Pair<'n> {
    agent: &'n ureq::Agent,
    name: &'n str,
    embedded: Analyzer,
    url: String,
    /// Positions that the server leaves out between two values.
    gap: u64,
}

impl Pair<'_> {
    /// Returns the terms that the server makes of some values of one field, and where each begins, in UTF-16
    /// units with one between two values.
    fn of_server(&self, texts: &[&str]) -> (Vec<Token>, Vec<u64>) {
        let body = json!({"analyzer": self.name, "text": texts}).to_string();
        let mut answer = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .send(body)
            .unwrap_or_else(|error| panic!("{}: {error}: {texts:?}", self.name));
        let reader = answer.body_mut().with_config().limit(64 << 20);
        let answer: Value = serde_json::from_reader(reader.reader()).expect("JSON");
        let tokens = answer["tokens"].as_array().expect("tokens");
        let number = |token: &Value, name: &str| token[name].as_u64().expect("a number");
        let token = |token: &Value| {
            let text = token["token"].as_str().expect("a term").to_owned();
            let token_and_place = (text, number(token, "position"));
            (token_and_place, number(token, "start_offset"))
        };
        tokens.iter().map(token).unzip()
    }

    /// Returns the terms that the embedded analyzer makes of some values of one field.
    fn embedded(&self, texts: &[&str]) -> Vec<Token> {
        let mut all = Vec::new();
        let mut base = 0;
        for text in texts {
            let terms = self.embedded.analyze(text);
            for token in terms.tokens {
                all.push((token.text, base + u64::from(token.position)));
            }
            base += u64::from(terms.words) + self.gap;
        }
        all
    }

    /// Adds the texts of which the two do not make the same terms.
    fn compare<'t>(&self, texts: &[&'t str], different: &mut Vec<&'t str>) {
        if texts.is_empty() {
            return;
        }
        let (tokens, starts) = self.of_server(texts);
        if tokens == self.embedded(texts) {
            return;
        }
        if let [text] = texts {
            return different.push(text);
        }
        // Each alone, where that shows something.
        let mut others = Vec::new();
        let (mut at, mut end) = (0, 0);
        for text in texts {
            end += text.encode_utf16().count() as u64 + 1;
            let next = at + starts[at..].partition_point(|start| *start < end);
            if from_first(&tokens[at..next]) == from_first(&self.embedded(&[text])) {
                others.push(*text)
            } else {
                different.push(text)
            }
            at = next;
        }
        if others.len() < texts.len() {
            self.compare(&others, different)
        } else {
            let (first, second) = texts.split_at(texts.len() / 2);
            self.compare(first, different);
            self.compare(second, different);
        }
    }
}

/// Counts positions from that of the first term.
fn from_first(tokens: &[Token]) -> Vec<(&str, u64)> {
    let first = tokens.first().map_or(0, |(_, position)| *position);
    let tokens = tokens.iter();
    tokens
        .map(|(text, position)| (text.as_str(), position - first))
        .collect()
}

/// Adds the literals of a Turtle document.
fn add_literals(turtle: &[u8], texts: &mut BTreeSet<String>) {
    let parser = RdfParser::from_format(RdfFormat::Turtle).lenient();
    for quad in parser.for_slice(turtle).filter_map(Result::ok) {
        if let Term::Literal(literal) = quad.object {
            texts.insert(literal.value().to_owned());
        }
    }
}

/// Returns the texts of the data.
fn texts() -> BTreeSet<String> {
    let servers = concat!(env!("CARGO_MANIFEST_DIR"), "/../servers");
    let read = |file: &str| std::fs::read(format!("{servers}/{file}")).expect("the file");
    let mut turtle = Vec::new();
    flate2::read::GzDecoder::new(&*read("tests/data/star-wars-multilingual/data.ttl.gz"))
        .read_to_end(&mut turtle)
        .expect("the data");
    let mut texts = BTreeSet::new();
    add_literals(&turtle, &mut texts);
    add_literals(&read("demo/star-wars/data.ttl"), &mut texts);
    if let Ok(file) = std::env::var("SEARCH_TEXTS") {
        let lines = std::fs::read_to_string(file).expect("the file of SEARCH_TEXTS");
        texts.extend(lines.lines().map(str::to_owned));
    }
    texts
}

/// Returns a text of letters of some scripts, digits, marks, symbols and anything else.
fn random_text(random: &mut Random) -> String {
    // Scripts by their first and last letters.
    const SCRIPTS: &[(u32, u32)] = &[
        (0x20, 0x7e),
        (0x20, 0x7e),
        (0xa0, 0x17f),
        (0x180, 0x24f),
        (0x300, 0x36f),
        (0x370, 0x3ff),
        (0x400, 0x52f),
        (0x530, 0x58f),
        (0x590, 0x5ff),
        (0x600, 0x6ff),
        (0x900, 0xdff),
        (0x10a0, 0x10ff),
        (0x1e00, 0x1fff),
        (0x2000, 0x206f),
        (0x2070, 0x2bff),
        (0x3000, 0x30ff),
        (0x4e00, 0x9fff),
        (0xac00, 0xd7a3),
        (0xff00, 0xffef),
        (0x1f1e6, 0x1f1ff),
        (0x1f300, 0x1faff),
        (0x1_0400, 0x1_044f),
        (0, 0x10_ffff),
    ];
    let mut text = String::new();
    let mut script = SCRIPTS[random.below(SCRIPTS.len())];
    for _ in 0..random.below(40) {
        if random.chance(25) {
            script = SCRIPTS[random.below(SCRIPTS.len())];
        }
        let (first, last) = script;
        let number =
            first + u32::try_from(random.below((last - first + 1) as usize)).expect("small");
        text.extend(char::from_u32(number));
        if random.chance(12) {
            text.push(' ');
        }
    }
    text
}

/// Returns some words that end as those of European languages do.
fn random_words(random: &mut Random) -> String {
    const LETTERS: &str =
        "abcdefghijklmnopqrstuvwxyzabcdefghilmnoprstuaeiouaeiouàáâäãåçèéêëìíîïñòóôöõøùúûüßæ'";
    const ENDINGS: &str = "a ada adas ação ações ais ama ar ateur atrice ation aux bly catrice cateur ces e é ée eaux \
        eira eis éis ement en er ère erende ern erne es esa eses esse est ète euse eux ficateur ficatrice folle gd \
        heden heter iaca ica ida idade ie ième ik inage ingen inha ino ions ique is isateur isation isations \
        issant issement ition iva ive ivement logies molle mente ne nnel nnelle ns o ões ães óis ona ons ora os \
        osa r s st tés teur teuse trice ualisation ux x y zz";
    let letters: Vec<char> = LETTERS.chars().collect();
    let endings: Vec<&str> = ENDINGS.split_whitespace().collect();
    let mut text = String::new();
    for _ in 0..=random.below(4) {
        let stem = (0..random.below(9)).map(|_| letters[random.below(letters.len())]);
        text.extend(stem);
        for _ in 0..random.below(3) {
            text += endings[random.below(endings.len())];
        }
        text.push(' ');
    }
    text
}

/// Returns a character alone and between others.
fn neighbours(letter: char) -> [String; 4] {
    [
        format!("{letter}"),
        format!("a{letter}b"),
        format!("1{letter}2"),
        format!("_{letter}"),
    ]
}

#[test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
fn embedded_analyzers_make_the_terms_of_a_server() {
    let of_dictionaries = Regex::new(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}İ]").expect("valid");
    let mut texts = texts();
    let of_data = texts.len();
    let mut random = Random::new(1);
    texts.extend((0..RANDOM_TEXTS).map(|_| random_text(&mut random)));
    texts.extend((0..RANDOM_WORDS).map(|_| random_words(&mut random)));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    println!("{of_data} texts of data, {} in all", texts.len());
    let mut unexplained = 0;
    let agent = ureq::Agent::new_with_defaults();
    let only = std::env::var("SEARCH_ANALYZER").ok();
    let names = Analyzer::names();
    let names = names.names();
    for name in names.filter(|name| only.as_deref().is_none_or(|only| only == *name)) {
        let mut pair = Pair {
            agent: &agent,
            name,
            embedded: Analyzer::named(name).expect("it is one of them"),
            url: format!("{}/_analyze", address().trim_end_matches('/')),
            gap: 0,
        };
        pair.gap = pair.of_server(&["xa", "xb"]).0[1].1 - 1;
        let mut different = Vec::new();
        let (mut batch, mut tokens) = (Vec::new(), 0);
        let alone: Vec<String> = match name {
            "standard" => CHARACTERS
                .into_iter()
                .flatten()
                .flat_map(neighbours)
                .collect(),
            _ => Vec::new(),
        };
        for text in texts
            .iter()
            .copied()
            .chain(alone.iter().map(String::as_str))
        {
            // No word is shorter than a byte, and the server may make more of them.
            tokens += text.len() / 2 + 1;
            if tokens > TOKENS && !batch.is_empty() {
                pair.compare(&batch, &mut different);
                batch.clear();
                tokens = text.len() / 2 + 1;
            }
            batch.push(text);
        }
        pair.compare(&batch, &mut different);
        let all = different.len();
        different.retain(|text| !of_dictionaries.is_match(text));
        println!(
            "{name}: {all} differ, {} of them without a reason",
            different.len()
        );
        for text in different.iter().take(SHOWN) {
            let (ours, theirs) = (pair.embedded(&[text]), pair.of_server(&[text]).0);
            println!("  {text:?}\n    ours   {ours:?}\n    theirs {theirs:?}");
        }
        unexplained += different.len();
    }
    assert_eq!(unexplained, 0, "terms differ, see above");
}
