//! Supergraphs and operations made to do harm: planned, or refused with a code, in bounded time and memory.
//!
//! A test binary of its own, since it counts the memory of the process.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail and print as tests do; clippy sees only test functions as such"
)]

mod memory;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use apollo_compiler::ExecutableDocument;
use apollo_compiler::response::JsonMap;
use federation::plan::{Plan, Planned};
use federation::{ActiveLabels, GatewayLimits, Supergraph};
use graphql_service::GraphqlError;
use memory::Watch;

const HEAD: &str = r#"schema @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION) { query: Query }
directive @link(url: String, for: link__Purpose) repeatable on SCHEMA
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
directive @join__type(graph: join__Graph!, key: String) repeatable on OBJECT | INTERFACE | UNION
directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT
directive @join__field(graph: join__Graph, requires: String, external: Boolean, contextArguments: [join__ContextArgument!]) repeatable on FIELD_DEFINITION
directive @context(name: String!) repeatable on OBJECT
input join__ContextArgument { name: String! type: String! context: String! selection: String! }
enum link__Purpose { SECURITY EXECUTION }
"#;

/// How long planning may take, on a busy machine too. What is not bounded takes longer.
const SOON: Duration = Duration::from_secs(60);

/// Bytes that planning may hold at a time.
const MEMORY: usize = 64 << 20;

/// Held while something is measured: all threads share the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn supergraph(graphs: usize, types: &str) -> Supergraph {
    let mut sdl = format!("{HEAD}enum join__Graph {{");
    for index in 0..graphs {
        let _ = write!(sdl, " G{index} @join__graph(name: \"g{index}\", url: \"\")");
    }
    sdl.push_str(" }\n");
    sdl.push_str(types);
    Supergraph::parse(&sdl, "supergraph.graphql").unwrap()
}

/// Plans an operation, and checks what that costs.
fn plan(supergraph: &Supergraph, operation: &str) -> Result<Plan, GraphqlError> {
    let document =
        ExecutableDocument::parse_and_validate(supergraph.api(), operation, "op.graphql");
    let document = document.unwrap();
    let planned = Planned {
        supergraph,
        labels: &ActiveLabels::default(),
        document: &document,
        operation: document.operations.get(None).unwrap(),
        variables: &JsonMap::new(),
    };
    let alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let watch = Watch::start();
    let begun = Instant::now();
    let plan = Plan::new(planned, &GatewayLimits::default());
    let mut took = begun.elapsed();
    let memory = watch.stop();
    for _ in 0..4 {
        // Other work on the machine does not count.
        if took >= SOON {
            let begun = Instant::now();
            let _ = Plan::new(planned, &GatewayLimits::default());
            took = took.min(begun.elapsed());
        }
    }
    drop(alone);
    println!(
        "{} in {took:?}, {} KiB",
        match &plan {
            Ok(plan) => format!("{:?}, optimal {}", plan.cost, plan.is_optimal),
            Err(error) => error.code.to_string(),
        },
        memory >> 10
    );
    assert!(took < SOON, "{took:?}");
    assert!(memory < MEMORY, "{memory} bytes");
    plan
}

fn each(graphs: usize, text: impl Fn(usize) -> String) -> String {
    (0..graphs).map(text).collect()
}

#[test]
fn many_types_of_one_interface_are_one_class() {
    let mut types = String::from("type Query @join__type(graph: G0) { node: Node }\n");
    types.push_str("interface Node @join__type(graph: G0) { id: ID! next: Node }\n");
    for index in 0..300 {
        let _ = writeln!(
            types,
            "type T{index} implements Node @join__type(graph: G0, key: \"id\") @join__type(graph: G1, key: \"id\") @join__implements(graph: G0, interface: \"Node\") {{ id: ID! next: Node @join__field(graph: G0) x{index}: Int @join__field(graph: G1) }}"
        );
    }
    let supergraph = supergraph(2, &types);
    // Nothing tells the types apart, so eight levels are eight classes.
    let plain = format!(
        "{{ node {{ {} id {} }} }}",
        "next { ".repeat(8),
        "} ".repeat(8)
    );
    let plain = plan(&supergraph, &plain).unwrap();
    assert_eq!((plain.cost.waves, plain.cost.fetches), (1, 1));
    assert_eq!(plain.tree.len(), 10);
    // One fragment on each level tells one type from the rest; what all have is asked of the interface.
    let mut nested = "{ id }".to_owned();
    for level in 0..4 {
        nested = format!("{{ next {nested} ... on T{level} {{ x{level} }} }}");
    }
    let nested = plan(&supergraph, &format!("{{ node {nested} }}")).unwrap();
    assert_eq!((nested.cost.waves, nested.cost.fetches), (2, 2));
    let once = plan(&supergraph, "{ node { next { id } ... on T7 { x7 } } }").unwrap();
    assert_eq!((once.cost.waves, once.cost.fetches), (2, 2));
    // Fragments on many types on each level are soon more than can be looked at.
    let steps = [1, 30, 75, 150, 300];
    let sizes = steps
        .into_iter()
        .flat_map(|step| (1..9).map(move |levels| (step, levels)));
    for (step, levels) in sizes {
        print!("{} fragments on {levels} levels: ", 300 / step);
        let all = each(300 / step, |index| {
            let index = index * step;
            format!(" ... on T{index} {{ x{index} }}")
        });
        let mut nested = "{ id }".to_owned();
        for _ in 0..levels {
            nested = format!("{{ next {nested} {all} }}");
        }
        if let Err(refused) = plan(&supergraph, &format!("{{ node {nested} }}")) {
            assert_eq!(refused.code.as_str(), "LIMIT_GATEWAY_PLAN");
        }
    }
}

#[test]
fn forty_subgraphs_that_share_forty_fields_are_one_request() {
    let joins = each(40, |index| {
        format!(" @join__type(graph: G{index}, key: \"id\")")
    });
    let fields = each(40, |index| format!(" f{index}: T"));
    let query = each(40, |index| format!(" @join__type(graph: G{index})"));
    let types = format!("type Query{query} {{ t: T }}\ntype T{joins} {{ id: ID!{fields} x: Int }}");
    let supergraph = supergraph(40, &types);
    let fields = each(40, |index| format!(" f{index} {{ x f{index} {{ id }} }}"));
    let plan = plan(&supergraph, &format!("{{ t {{{fields} }} }}")).unwrap();
    assert_eq!((plan.cost.waves, plan.cost.fetches), (1, 1));
}

#[test]
fn a_mesh_of_sixty_keys_is_crossed_in_the_fewest_waves() {
    // Each subgraph knows two keys of its own and the next one's, so the way is as long as the mesh.
    let joins = each(60, |index| {
        let next = index + 1;
        format!(
            " @join__type(graph: G{index}, key: \"k{index}\") @join__type(graph: G{index}, key: \"k{next}\")"
        )
    });
    let fields = each(61, |index| {
        let before = index
            .checked_sub(1)
            .map(|g| format!(" @join__field(graph: G{g})"));
        let own = (index < 60).then(|| format!(" @join__field(graph: G{index})"));
        format!(
            " k{index}: ID!{}{}",
            before.unwrap_or_default(),
            own.unwrap_or_default()
        )
    });
    let types = format!(
        "type Query @join__type(graph: G0) {{ t: T }}\ntype T{joins} {{{fields} end: Int @join__field(graph: G59) }}"
    );
    let supergraph = supergraph(60, &types);
    let plan = plan(&supergraph, "{ t { end } }").unwrap();
    assert_eq!((plan.cost.waves, plan.cost.fetches), (60, 60));
}

#[test]
fn requirements_in_a_ring_are_refused() {
    let types = r#"type Query @join__type(graph: G0) { t: T }
        type T @join__type(graph: G0, key: "id") @join__type(graph: G1, key: "id") {
            id: ID!
            a: Int @join__field(graph: G0, requires: "b") @join__field(graph: G1, external: true)
            b: Int @join__field(graph: G1, requires: "a") @join__field(graph: G0, external: true)
        }"#;
    let refused = plan(&supergraph(2, types), "{ t { a } }").unwrap_err();
    assert_eq!(refused.code.as_str(), "PLAN_IMPOSSIBLE");
    assert!(refused.message.contains("`T.a`"), "{}", refused.message);
}

#[test]
fn mutations_of_two_subgraphs_in_turn_are_planned_however_many() {
    let types = "type Query @join__type(graph: G0) @join__type(graph: G1) { x: Int }\n\
        type Mutation @join__type(graph: G0) @join__type(graph: G1) {\n\
        a(n: Int): T @join__field(graph: G0) b(n: Int): Int @join__field(graph: G1) }\n\
        type T @join__type(graph: G0, key: \"id\") @join__type(graph: G1, key: \"id\") {\n\
        id: ID! x: Int @join__field(graph: G0) y: Int @join__field(graph: G1) }";
    let mut sdl = HEAD.replace("query: Query", "query: Query mutation: Mutation");
    sdl.push_str("enum join__Graph { G0 @join__graph(name: \"g0\", url: \"\") ");
    sdl.push_str("G1 @join__graph(name: \"g1\", url: \"\") }\n");
    sdl.push_str(types);
    let supergraph = Supergraph::parse(&sdl, "supergraph.graphql").unwrap();
    let plain = each(60, |index| {
        format!(" a{index}: a(n: {index}) {{ x }} b{index}: b")
    });
    let plain = plan(&supergraph, &format!("mutation {{{plain} }}")).unwrap();
    assert_eq!((plain.cost.waves, plain.cost.fetches), (120, 120));
    let followed = each(60, |index| format!(" a{index}: a(n: {index}) {{ x y }}"));
    let followed = plan(&supergraph, &format!("mutation {{{followed} }}")).unwrap();
    assert_eq!((followed.cost.waves, followed.cost.fetches), (120, 120));
}

#[test]
fn two_thousand_aliases_are_planned() {
    let types = r#"type Query @join__type(graph: G0) { t: T }
        type T @join__type(graph: G0, key: "id") @join__type(graph: G1, key: "id") {
            id: ID! @join__field(graph: G0) @join__field(graph: G1)
            x(n: Int): Int @join__field(graph: G1)
            y: Int @join__field(graph: G1)
        }"#;
    let supergraph = supergraph(2, types);
    let same = each(2_000, |index| format!(" a{index}: y"));
    let same = plan(&supergraph, &format!("{{ t {{{same} }} }}")).unwrap();
    assert_eq!(same.cost.fields, 3);
    let different = each(2_000, |index| format!(" a{index}: x(n: {index})"));
    let different = plan(&supergraph, &format!("{{ t {{{different} }} }}")).unwrap();
    assert_eq!((different.cost.fetches, different.cost.fields), (2, 2_002));
    let objects = each(2_000, |index| format!(" a{index}: t {{ y }}"));
    let objects = plan(&supergraph, &format!("{{{objects} }}")).unwrap();
    assert_eq!(objects.cost.fetches, 2);
}

#[test]
fn fields_that_random_subgraphs_share_are_planned() {
    // Of forty subgraphs each field is in some, and each subgraph has some of three keys.
    let some = |index: usize, graph: usize, of: usize| {
        (index * 7 + graph * 13 + index * graph).is_multiple_of(of)
    };
    let joins = each(40, |graph| {
        let keys = (0..3).filter(|key| some(*key, graph, 2) || graph == 0);
        let keys: Vec<String> = keys
            .map(|key| format!(" @join__type(graph: G{graph}, key: \"k{key}\")"))
            .collect();
        if keys.is_empty() {
            format!(" @join__type(graph: G{graph}, key: \"k0\")")
        } else {
            keys.concat()
        }
    });
    let fields = each(40, |index| {
        let on = each(40, |graph| {
            if some(index, graph, 5) {
                format!(" @join__field(graph: G{graph})")
            } else {
                String::new()
            }
        });
        let on = if on.is_empty() {
            " @join__field(graph: G0)".to_owned()
        } else {
            on
        };
        format!(" f{index}: T{on}\n x{index}: Int{on}\n")
    });
    let keys = each(3, |key| format!(" k{key}: ID!"));
    let types =
        format!("type Query @join__type(graph: G0) {{ t: T }}\ntype T{joins} {{{keys}{fields} }}");
    let supergraph = supergraph(40, &types);
    let leaves = each(40, |index| format!(" x{index}"));
    plan(&supergraph, &format!("{{ t {{{leaves} }} }}")).unwrap();
    let nested = each(40, |index| {
        format!(" f{index} {{ x{index} x{} }}", (index + 3) % 40)
    });
    plan(&supergraph, &format!("{{ t {{{nested} }} }}")).unwrap();
    let deep = (0..40).fold("{ k0 }".to_owned(), |inner, index| {
        format!("{{ f{index} {inner} }}")
    });
    plan(&supergraph, &format!("{{ t {deep} }}")).unwrap();
}

#[test]
fn chains_of_requirements_are_planned_however_long() {
    // Each field requires the two before it, from the other subgraph.
    for length in [4, 14, 40] {
        let fields = each(length, |index| {
            let (own, other) = (index % 2, 1 - index % 2);
            let requires = match index {
                0 => String::new(),
                1 => ", requires: \"a0\"".to_owned(),
                _ => format!(", requires: \"a{} a{}\"", index - 1, index - 2),
            };
            format!(
                " a{index}: Int @join__field(graph: G{own}{requires}) @join__field(graph: G{other}, external: true)\n"
            )
        });
        let types = format!(
            "type Query @join__type(graph: G0) {{ t: T }}\ntype T @join__type(graph: G0, key: \"id\") @join__type(graph: G1, key: \"id\") {{ id: ID!\n{fields} }}"
        );
        let supergraph = supergraph(2, &types);
        let plan = plan(&supergraph, &format!("{{ t {{ a{} }} }}", length - 1)).unwrap();
        assert_eq!(plan.cost.waves, length);
    }
}

#[test]
fn values_from_contexts_are_planned_for_many_fields_and_on_many_levels() {
    let taken = r#"[{context: "c", name: "c", type: "Int", selection: "{ n }"}, {context: "top", name: "t", type: "Int", selection: "{ n }"}]"#;
    let types = format!(
        r#"type Query @join__type(graph: G0) {{ top: Top }}
        type Top @join__type(graph: G0, key: "id") @join__type(graph: G1, key: "id") @context(name: "top") {{
            id: ID! n: Int @join__field(graph: G1) t: T @join__field(graph: G0) }}
        type T @join__type(graph: G0, key: "id") @join__type(graph: G1, key: "id") @context(name: "c") {{
            id: ID! n: Int @join__field(graph: G1) next: T @join__field(graph: G0) kept: K @join__field(graph: G0) }}
        type K @join__type(graph: G0, key: "id") @join__type(graph: G1, key: "id") {{
            id: ID! x(n: Int): Int @join__field(graph: G1, contextArguments: {taken}) }}"#
    );
    let supergraph = supergraph(2, &types);
    let many = each(2_000, |index| format!(" a{index}: x(n: {index})"));
    let many = plan(
        &supergraph,
        &format!("{{ top {{ t {{ kept {{{many} }} }} }} }}"),
    )
    .unwrap();
    assert_eq!((many.cost.waves, many.cost.fetches), (3, 3));
    for levels in [10, 50, 100] {
        let nested = (0..levels).fold("{ id }".to_owned(), |inner, _| {
            format!("{{ next {inner} kept {{ x }} }}")
        });
        let nested = plan(&supergraph, &format!("{{ top {{ t {nested} }} }}")).unwrap();
        assert_eq!((nested.cost.waves, nested.cost.fetches), (3, 3));
    }
}

/// Adds the scenario folders below a folder.
fn scenarios(root: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root).unwrap() {
        let entry = entry.unwrap().path();
        if entry.join("query.graphql").exists() {
            found.push(entry);
        } else if entry.is_dir() {
            scenarios(&entry, found);
        }
    }
}

/// Returns how long planning a scenario takes, and whether all plans were tried.
fn plan_scenario(folder: &Path) -> (Duration, bool) {
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let sdl = read("supergraph.graphql").or_else(|_| read("../supergraph.graphql"));
    let supergraph = Supergraph::parse(&sdl.unwrap(), "supergraph.graphql").unwrap();
    let operation = read("query.graphql").unwrap();
    let api = supergraph.api();
    let document = ExecutableDocument::parse_and_validate(api, operation, "op.graphql").unwrap();
    let variables = read("variables.json").unwrap_or_else(|_| "{}".to_owned());
    let planned = Planned {
        supergraph: &supergraph,
        labels: &ActiveLabels::default(),
        document: &document,
        operation: document.operations.get(None).unwrap(),
        variables: &serde_json::from_str(&variables).unwrap(),
    };
    let alone = ALONE.lock();
    let times = (0..5).map(|_| {
        let begun = Instant::now();
        let plan = Plan::new(planned, &GatewayLimits::default()).unwrap();
        (begun.elapsed(), plan.is_optimal)
    });
    let least = times.min().unwrap();
    drop(alone);
    least
}

#[test]
fn scenarios_are_planned_soon() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut found = Vec::new();
    scenarios(&root, &mut found);
    let mut all: Vec<(Duration, bool, PathBuf)> = Vec::new();
    for folder in found {
        let (took, is_optimal) = plan_scenario(&folder);
        all.push((took, is_optimal, folder));
    }
    all.sort();
    let sum: Duration = all.iter().map(|(took, ..)| *took).sum();
    let open = all.iter().filter(|(_, is_optimal, _)| !is_optimal);
    println!(
        "{} scenarios in {sum:?}, {} not all tried",
        all.len(),
        open.count()
    );
    for (took, is_optimal, folder) in all.iter().rev().take(12) {
        println!("{took:?} {is_optimal} {}", folder.display());
    }
    let (slowest, ..) = all.last().unwrap();
    assert!(*slowest < SOON, "{slowest:?}");
}
