//! Analyzers: the terms that they make of text.

use search_index::analysis::Analyzer;

/// Returns the terms of a text, with a space between two, and a `_` where words were left out.
fn terms(analyzer: &str, text: &str) -> String {
    let analyzer =
        Analyzer::named(analyzer).unwrap_or_else(|| panic!("there is no analyzer `{analyzer}`"));
    let found = analyzer.analyze(text);
    let mut words = vec!["_"; found.words as usize];
    for token in &found.tokens {
        words[token.position as usize] = &token.text;
    }
    words.join(" ")
}

#[test]
fn each_analyzer_makes_the_terms_of_its_namesake() {
    let cases = [
        (
            "standard",
            "The Red-Planet's 3.14 can't foo_bar a.b.c U.S.A.",
            "the red planet's 3.14 can't foo_bar a.b.c u.s.a",
        ),
        ("standard", "Straße ΟΔΟΣ İstanbul", "straße οδοσ istanbul"),
        (
            "standard",
            "日本語 カタカナ ひら 한국어",
            "日 本 語 カタカナ ひ ら 한국어",
        ),
        ("standard", "ภาษาไทย มาก", "ภาษาไทย มาก"),
        ("standard", "a 🙂 b", "a 🙂 b"),
        ("standard", "", ""),
        ("simple", "It's 3 o'Clock, foo_bar", "it s o clock foo bar"),
        (
            "whitespace",
            " Red\tPlanet's\u{a0}x ",
            "Red Planet's\u{a0}x",
        ),
        ("keyword", "Red Planet ", "Red Planet "),
        ("stop", "The Planets of 2 SUNS", "_ planets _ suns"),
        (
            "english",
            "The planet's running FOXES' ponies",
            "_ planet run fox poni",
        ),
        ("english", "generously organization's", "gener organ"),
        (
            "english",
            "incredibly topologies s us fly",
            "incred topolog s us fly",
        ),
        ("russian", "и Планеты красивые", "_ планет красив"),
        ("danish", "Hunden og kattene", "hund _ kat"),
        ("norwegian", "Hunden og kattene", "hund _ katt"),
        ("romanian", "Planetele și oamenii", "planet _ oamen"),
        ("hungarian", "A bolygók és házak", "_ bolygó _ ház"),
        ("turkish", "Ankara'nın IŞIKLARI ve evler", "ankar ışık _ ev"),
        (
            "dutch",
            "De fietsen en kind fiets",
            "_ fiets _ kinder fiets",
        ),
        ("french", "L'avion et les créatrices", "avion _ _ crer"),
        ("german", "Die Häuser und Straßen", "_ haus _ strass"),
        ("spanish", "Los niños y las luces", "_ niñ _ _ luz"),
        ("italian", "L'amica e i pianeti", "amica _ _ pianet"),
        (
            "portuguese",
            "Os animais e a francesa",
            "_ animal _ _ frances",
        ),
    ];
    for (analyzer, text, expected) in cases {
        assert_eq!(terms(analyzer, text), expected, "{analyzer}: {text}");
    }
}

#[test]
fn words_that_are_too_long_are_cut() {
    for analyzer in ["standard", "simple", "whitespace"] {
        let found = Analyzer::named(analyzer)
            .expect("an analyzer")
            .analyze(&"a".repeat(600));
        let lengths: Vec<_> = found.tokens.iter().map(|token| token.text.len()).collect();
        assert_eq!(lengths, [255, 255, 90], "{analyzer}");
    }
    // Letters beyond the first plane are two units each.
    let found = Analyzer::named("whitespace")
        .expect("an analyzer")
        .analyze(&"𐐀".repeat(130));
    let lengths: Vec<_> = found
        .tokens
        .iter()
        .map(|token| token.text.chars().count())
        .collect();
    assert_eq!(lengths, [127, 3]);
}

#[test]
fn other_names_are_unknown() {
    for name in ["polish", "French", "swedish", "", "pattern"] {
        assert_eq!(Analyzer::named(name), None, "{name}");
    }
    assert_eq!(Analyzer::names().names().count(), 18);
}
