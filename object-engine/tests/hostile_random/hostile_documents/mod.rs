//! Documents made to do harm, each from a seed, with the codes that they may be met with.

mod arguments;
mod selections;
mod texts;

use serde_json::{Value, json};

/// A request made to do harm.
pub(crate) struct Hostile {
    pub(crate) document: String,
    pub(crate) variables: Value,
    /// Size of the variables as JSON.
    pub(crate) variable_bytes: usize,
    pub(crate) accepted: Vec<String>,
    /// Codes of which some may come; an empty one allows an answer without errors.
    pub(crate) codes: Vec<&'static str>,
}

impl Hostile {
    fn new(document: impl Into<String>, codes: &[&'static str]) -> Self {
        Hostile {
            document: document.into(),
            variables: json!({}),
            variable_bytes: 0,
            accepted: Vec::new(),
            codes: codes.to_vec(),
        }
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.variable_bytes = size_of(&value);
        self.variables = json!({ name: value });
        self
    }
}

/// About the size of a value as JSON, without recursion.
fn size_of(value: &Value) -> usize {
    let mut left = vec![value];
    let mut size = 0;
    while let Some(value) = left.pop() {
        size += 8;
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            Value::String(text) => size += text.len(),
            _ => {}
        }
    }
    size
}

/// A seeded source of numbers.
pub(crate) struct Source(u64);

impl Source {
    fn new(seed: u64) -> Self {
        Source(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a small number");
        usize::try_from(self.next() % bound).expect("a small number")
    }

    fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A size up to `greatest`, of each order of magnitude as often as of any other; beyond some
    /// thousands only in one of ten cases.
    fn size(&mut self, greatest: usize) -> usize {
        let greatest = if self.below(10) == 0 {
            greatest
        } else {
            greatest.min(3_000)
        };
        let magnitude = self.below(usize::BITS as usize - greatest.leading_zeros() as usize);
        let low = 1usize << magnitude;
        (low + self.below(low)).min(greatest)
    }
}

/// Makes the document of a seed.
type Make = fn(u64) -> Hostile;

/// All kinds, each with its maker.
pub(crate) const KINDS: &[(&str, Make)] = &[
    ("deep selections", selections::deep),
    ("breadth", selections::broad),
    ("aliases", selections::aliases),
    ("fragment cycles", selections::cycles),
    ("fragment fans", selections::fans),
    ("repeated directives", selections::directives),
    ("conflicting fields", selections::conflicts),
    ("many operations", selections::operations),
    ("deep introspection", selections::deep_introspection),
    ("broad introspection", selections::broad_introspection),
    ("inline fragments in each other", selections::inline),
    ("lists as literals", arguments::list_literal),
    ("lists as variables", arguments::list_variable),
    ("deep filters", arguments::deep_literal),
    ("deep variables", arguments::deep_variable),
    ("conditions as literals", arguments::conditions_literal),
    ("conditions as variables", arguments::conditions_variable),
    ("lists of lists", arguments::nested_lists),
    ("many variables", arguments::many_variables),
    ("numbers", arguments::numbers),
    ("pages", arguments::pages),
    ("orders", arguments::orders),
    ("ids", arguments::ids),
    ("graphs", arguments::graphs),
    ("cursors", arguments::cursors),
    ("language specifications", texts::languages),
    ("accepted languages", texts::accepted),
    ("regular expressions", texts::regexes),
    ("heavy regular expressions", texts::heavy_regexes),
    ("long names", texts::names),
    ("long strings", texts::strings),
    ("escapes", texts::escapes),
    ("unicode", texts::unicode),
    ("cut documents", texts::cut),
];

/// The greatest documents, each with the code that it must be refused with.
pub(crate) fn greatest() -> Vec<(&'static str, Hostile, &'static str)> {
    let or = "{ thing(where: {OR: [".to_owned() + &"{} ".repeat(1_000_000) + "]}) { id } }";
    let many = Value::Array(vec![json!({}); 1_000_000]);
    let list = |code| {
        Hostile::new(
            "query($w: [Thing_Where_Multi!]) { thing(where: {OR: $w}) { id } }",
            code,
        )
    };
    let long = "a".repeat(10 << 20);
    let one = |operator: &str| {
        format!("{{ thing(where: {{name: {{{operator}: \"{long}\"}}}}) {{ id }} }}")
    };
    let names: String = (0..400_000)
        .map(|n| format!("{{name: {{EQ: \"a{n}\"}}}} "))
        .collect();
    vec![
        (
            "a million conditions",
            Hostile::new(or, &["LIMIT_TOKENS"]),
            "LIMIT_TOKENS",
        ),
        (
            "a million conditions in a variable",
            list(&["LIMIT_LIST_LENGTH"]).with("w", many),
            "LIMIT_LIST_LENGTH",
        ),
        (
            "a pattern of 10 MiB",
            Hostile::new(one("RE"), &["LIMIT_REGEX"]),
            "LIMIT_REGEX",
        ),
        (
            "a filter of 10 MiB",
            Hostile::new(
                format!("{{ thing(where: {{OR: [{names}]}}) {{ id }} }}"),
                &["LIMIT_TOKENS"],
            ),
            "LIMIT_TOKENS",
        ),
    ]
}
