//! What is read from supergraph SDL, and what is refused.

use apollo_compiler::executable::OperationType;

use super::*;
use crate::code;

const HEAD: &str = r#"
    directive @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet, type: String, external: Boolean, override: String, usedOverridden: Boolean, overrideLabel: String) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
    directive @join__graph(name: String!, url: String!) on ENUM_VALUE
    directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT | INTERFACE
    directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false, resolvable: Boolean! = true, isInterfaceObject: Boolean! = false) repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR
    directive @join__unionMember(graph: join__Graph!, member: String!) repeatable on UNION
    directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
    directive @inaccessible on FIELD_DEFINITION | OBJECT | ENUM_VALUE | ARGUMENT_DEFINITION
    directive @authenticated on FIELD_DEFINITION | OBJECT
    directive @tag(name: String!) repeatable on FIELD_DEFINITION | OBJECT
    scalar join__FieldSet
    scalar link__Import
    enum link__Purpose { SECURITY EXECUTION }
    enum join__Graph { A @join__graph(name: "a", url: "http://a") B @join__graph(name: "b", url: "http://b") }
"#;

fn with_links(links: &str, types: &str) -> Result<Supergraph, Vec<SupergraphError>> {
    let schema = format!("schema {links} {{ query: Query }}{HEAD}{types}");
    Supergraph::parse(&schema, "supergraph.graphql")
}

fn read(types: &str) -> Result<Supergraph, Vec<SupergraphError>> {
    let join = r#"@link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION)"#;
    with_links(join, types)
}

const QUERY: &str = "type Query @join__type(graph: A) { t: T @join__field(graph: A) }";

#[test]
fn a_field_without_join_is_resolved_wherever_its_type_is() {
    let types = r#"type T @join__type(graph: A, key: "id") @join__type(graph: B, key: "id", resolvable: false)
        { id: ID! name: String @join__field(graph: B) }"#;
    let supergraph = read(&format!("{QUERY}{types}")).unwrap();
    let (a, b) = (
        supergraph.subgraph_id("a").unwrap(),
        supergraph.subgraph_id("b").unwrap(),
    );
    assert_eq!(supergraph.subgraph(b).url, "http://b");
    let ty = supergraph.type_id("T").unwrap();
    let id = supergraph.field(supergraph.field_id(ty, "id").unwrap());
    assert!(id.join(a).is_some() && id.join(b).is_some());
    let name = supergraph.field(supergraph.field_id(ty, "name").unwrap());
    assert!(name.join(a).is_none() && name.join(b).is_some());
    let keys: Vec<bool> = supergraph
        .ty(ty)
        .joins
        .iter()
        .map(|join| join.keys[0].is_resolvable)
        .collect();
    assert_eq!(keys, [true, false]);
    assert_eq!(
        supergraph.root(OperationType::Query),
        supergraph.type_id("Query")
    );
}

#[test]
fn possible_types_differ_between_subgraphs() {
    let types = r#"union U @join__type(graph: A) @join__type(graph: B)
        @join__unionMember(graph: A, member: "T") @join__unionMember(graph: B, member: "S")
        @join__unionMember(graph: B, member: "T") = T | S
        type T @join__type(graph: A) @join__type(graph: B) { x: Int }
        type S @join__type(graph: B) { y: U }"#;
    let supergraph = read(&format!("{QUERY}{types}")).unwrap();
    let union = supergraph.ty(supergraph.type_id("U").unwrap());
    let possible: Vec<usize> = union.joins.iter().map(|join| join.possible.len()).collect();
    assert_eq!((union.possible.len(), possible), (2, vec![1, 2]));
}

#[test]
fn overrides_decide_who_resolves_a_field() {
    let types = r#"type T @join__type(graph: A) @join__type(graph: B) {
        x: Int @join__field(graph: A) @join__field(graph: B, override: "a", overrideLabel: "l")
        y: Int @join__field(graph: A, usedOverridden: true) @join__field(graph: B, override: "a")
    }"#;
    let supergraph = read(&format!("{QUERY}{types}")).unwrap();
    let ty = supergraph.type_id("T").unwrap();
    let said = |name: &str| -> Vec<Override> {
        let field = supergraph.field(supergraph.field_id(ty, name).unwrap());
        field.joins.iter().map(|join| join.overridden).collect()
    };
    let label = supergraph.label_id(0);
    assert_eq!(said("x"), [Override::Unless(label), Override::If(label)]);
    assert_eq!(said("y"), [Override::Always, Override::Never]);
}

#[test]
fn the_api_schema_has_neither_machinery_nor_what_is_inaccessible() {
    let types = r#"type T @join__type(graph: A) @tag(name: "t") {
        x(a: Int, hidden: Int @inaccessible): Int @tag(name: "t") @deprecated(reason: "r")
        s: S @inaccessible
        e: E
    }
    type S @join__type(graph: A) @inaccessible { x: Int }
    enum E @join__type(graph: A) { SEEN HIDDEN @inaccessible }"#;
    let supergraph = read(&format!("{QUERY}{types}")).unwrap();
    let sdl = supergraph.api().to_string();
    let expected = "type Query {\n  t: T\n}\n\ntype T {\n  x(a: Int): Int @deprecated(reason: \"r\")\n  e: E\n}\n\nenum E {\n  SEEN\n}\n";
    assert_eq!(sdl, expected);
}

#[test]
fn what_contradicts_itself_is_reported_with_its_place() {
    let types = "type T @join__type(graph: A, key: \"id nope\") {\n id: ID! x: Int @join__field(graph: A, type: \"Nope\")\n}";
    let errors = read(&format!("{QUERY}\n{types}")).unwrap_err();
    let codes: Vec<_> = errors.iter().map(|error| error.code).collect();
    assert_eq!(
        codes,
        [code::INVALID_FEDERATION_SUPERGRAPH; 2],
        "{errors:?}"
    );
    assert!(errors[0].message.contains("id nope"), "{}", errors[0]);
    assert!(errors[1].message.contains("Nope"), "{}", errors[1]);
    let lines: Vec<usize> = errors
        .iter()
        .map(|error| error.location.unwrap().line)
        .collect();
    assert_eq!(lines[1], lines[0] + 1);
    for nothing in [
        "",
        " ",
        "id }",
        "{ id } x",
        "id } { x",
        "# id",
        "query { id }",
        "{}",
        "...F",
        "(",
    ] {
        let types =
            format!("type T @join__type(graph: A, key: \"{nothing}\") {{ id: ID! x: Int }}");
        let errors = read(&format!("{QUERY}{types}")).unwrap_err();
        assert!(errors[0].message.starts_with("the fields"), "{errors:?}");
    }
    for key in [" id", "id ", "{ id }", " { id x }", "id # x", ",id,"] {
        let types = format!("type T @join__type(graph: A, key: \"{key}\") {{ id: ID! x: Int }}");
        assert!(read(&format!("{QUERY}{types}")).is_ok(), "{key}");
    }
    for machinery in ["join__Graph", "__Type", "link__Purpose"] {
        let types = format!("type T @join__type(graph: A) {{ x: {machinery} }}");
        let errors = read(&format!("{QUERY}{types}")).unwrap_err();
        assert!(errors[0].message.contains(machinery), "{errors:?}");
    }
    let twice = format!("{HEAD}{QUERY} type T {{ x: Int }}").replace("\"b\"", "\"a\"");
    let twice = Supergraph::parse(
        &format!("schema {{ query: Query }}{twice}"),
        "twice.graphql",
    );
    assert!(twice.unwrap_err()[0].message.contains("name `a`"));
    let plain = Supergraph::parse("type Query { a: Int }", "plain.graphql").unwrap_err();
    assert!(
        plain[0].message.contains("not a supergraph"),
        "{}",
        plain[0]
    );
    let broken = Supergraph::parse("type Query {", "broken.graphql").unwrap_err();
    assert_eq!(broken[0].code, code::INVALID_FEDERATION_SUPERGRAPH);
}

#[test]
fn a_field_requires_what_its_type_and_its_parent_require() {
    let types = r#"type T @join__type(graph: A) @authenticated {
        x: S @requiresScopes(scopes: [["a", "b"], ["c"]])
        y: S
        z: Int @policy(policies: [])
    }
    scalar S @join__type(graph: A) @policy(policies: [["p"]])"#;
    let definitions = "directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION
        directive @policy(policies: [[String!]!]!) on FIELD_DEFINITION | SCALAR";
    let supergraph = read(&format!("{QUERY}{types}{definitions}")).unwrap();
    let ty = supergraph.type_id("T").unwrap();
    let required = |name: &str| -> Vec<Requirement> {
        let field = supergraph.field(supergraph.field_id(ty, name).unwrap());
        let ids = field.requirements.iter();
        ids.map(|id| supergraph.requirements()[id.index()].clone())
            .collect()
    };
    let list = |lists: &[&[&str]]| {
        let lists = lists.iter();
        let owned = lists.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        owned.collect::<Vec<Vec<String>>>()
    };
    let policy = Requirement::Policies(list(&[&["p"]]));
    let scopes = Requirement::Scopes(list(&[&["a", "b"], &["c"]]));
    for (name, mut expected) in [
        (
            "x",
            vec![scopes, policy.clone(), Requirement::Authenticated],
        ),
        ("y", vec![policy, Requirement::Authenticated]),
        (
            "z",
            vec![
                Requirement::Policies(Vec::new()),
                Requirement::Authenticated,
            ],
        ),
    ] {
        let mut found = required(name);
        for all in [&mut found, &mut expected] {
            all.sort_by_key(|it| format!("{it:?}"));
        }
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn features_that_cannot_be_ignored_are_refused() {
    let refused = |links: &str, types: &str| {
        let errors = with_links(links, types).unwrap_err();
        assert!(
            errors
                .iter()
                .all(|error| error.code == code::UNSUPPORTED_FEATURE),
            "{errors:?}"
        );
        assert!(errors[0].location.is_some());
        errors[0].message.clone()
    };
    let plain = "type T @join__type(graph: A) { x: Int }";
    let types = format!("{QUERY}{plain}");
    let old = refused(
        r#"@link(url: "https://specs.apollo.dev/join/v0.1", for: EXECUTION)"#,
        &types,
    );
    assert!(old.contains("v0.1"), "{old}");
    let unknown = r#"@link(url: "https://example.org/secret/v1.0", for: SECURITY)"#;
    assert!(refused(unknown, &types).contains("secret"));
    for opaque in ["vault", "urn:vault", "https://example.org/secret/v1.0/"] {
        let opaque = format!(r#"@link(url: "{opaque}", for: SECURITY)"#);
        assert!(refused(&opaque, &types).contains("SECURITY"), "{opaque}");
    }
    let slash = r#"@link(url: "https://specs.apollo.dev/join/v0.5/", for: EXECUTION)"#;
    assert!(with_links(slash, &types).is_ok());
    let harmless = r#"@link(url: "https://example.org/nice/v1.0")"#;
    assert!(with_links(harmless, &types).is_ok());
    let newer = r#"@link(url: "https://specs.apollo.dev/policy/v0.2", for: SECURITY)"#;
    assert!(refused(newer, &types).contains("v0.2"));
    let renamed = r#"@link(url: "https://specs.apollo.dev/authenticated/v0.1", import: [{ name: "@authenticated", as: "@known" }], for: SECURITY)"#;
    assert!(refused(renamed, &types).contains("another name"));
}

#[test]
fn an_interface_object_lends_its_fields_to_all_implementing_types() {
    let types = r#"interface I @join__type(graph: A, key: "id") @join__type(graph: B, key: "id", isInterfaceObject: true) {
        id: ID! x: Int @join__field(graph: B) }
    type T implements I @join__implements(graph: A, interface: "I") @join__type(graph: A, key: "id") {
        id: ID! x: Int @join__field own: Int }"#;
    let supergraph = read(&format!("{QUERY}{types}")).unwrap();
    let b = supergraph.subgraph_id("b").unwrap();
    let (interface, ty) = (
        supergraph.type_id("I").unwrap(),
        supergraph.type_id("T").unwrap(),
    );
    let join = supergraph.ty(ty).join(b).unwrap();
    assert_eq!((join.interface, join.keys.len()), (Some(interface), 1));
    assert_eq!(supergraph.ty(interface).join(b).unwrap().possible, [ty]);
    let has = |name: &str| {
        let field = supergraph.field_id(ty, name).unwrap();
        supergraph.field(field).join(b).is_some()
    };
    assert_eq!(["id", "x", "own"].map(has), [true, true, false]);
}

#[test]
fn an_interface_object_beside_its_implementing_types_is_refused() {
    let types = r#"interface I @join__type(graph: A, key: "id", isInterfaceObject: true) { id: ID! }
    type T implements I @join__implements(graph: A, interface: "I") @join__type(graph: A, key: "id") { id: ID! }"#;
    let errors = read(&format!("{QUERY}{types}")).unwrap_err();
    assert!(
        errors[0]
            .message
            .contains("interface object `I`, but also its implementation `T`"),
        "{}",
        errors[0]
    );
    let no_interface =
        r#"type T @join__type(graph: A, key: "x", isInterfaceObject: true) { x: Int }"#;
    let errors = read(&format!("{QUERY}{no_interface}")).unwrap_err();
    assert!(
        errors[0].message.contains("but not an interface"),
        "{}",
        errors[0]
    );
}

#[test]
fn an_interface_object_that_is_met_as_an_object_of_another_interface_is_refused() {
    let types = |query: &str, key: &str| {
        format!(
            r#"type Query @join__type(graph: A) @join__type(graph: B) {{ i: [I] @join__field(graph: A) {query} }}
            interface N @join__type(graph: A) @join__type(graph: B{key}) {{ id: ID! }}
            interface I implements N @join__implements(graph: A, interface: "N") @join__implements(graph: B, interface: "N")
                @join__type(graph: A, key: "id") @join__type(graph: B, key: "id", isInterfaceObject: true) {{ id: ID! x: Int @join__field(graph: B) }}
            type T implements I & N @join__implements(graph: A, interface: "I") @join__implements(graph: A, interface: "N")
                @join__type(graph: A, key: "id") {{ id: ID! x: Int @join__field }}"#
        )
    };
    for (query, key, reason) in [
        ("n: N @join__field(graph: B)", "", "`Query.n` leads to it"),
        ("", r#", key: "id""#, "`N` has a key"),
    ] {
        let errors = read(&types(query, key)).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(errors[0].code, code::UNSUPPORTED_FEATURE);
        let place = "the interface object `I` implements `N` in the subgraph `b`";
        let message = &errors[0].message;
        assert!(
            message.contains(place) && message.contains(reason),
            "{message}"
        );
        assert!(errors[0].location.is_some());
    }
    // Where only the other subgraph leads there, nothing is answered that no one knows.
    let harmless = read(&types("n: N @join__field(graph: A)", "")).unwrap();
    let (b, ty) = (
        harmless.subgraph_id("b").unwrap(),
        harmless.type_id("N").unwrap(),
    );
    assert_eq!(harmless.ty(ty).join(b).unwrap().possible, []);
}

/// Looking through all directives for each type and subgraph would take minutes.
#[test]
fn many_members_implementers_and_subgraphs_are_read_and_written_in_one_pass() {
    const COUNT: usize = 20_000;
    let mut union = String::from("union U @join__type(graph: A) @join__type(graph: B)");
    let (mut members, mut types) = (String::new(), String::new());
    for number in 0..COUNT {
        let graph = ["A", "B"][number % 2];
        union.push_str(&format!(
            " @join__unionMember(graph: {graph}, member: \"T{number}\")"
        ));
        members.push_str(&format!(" | T{number}"));
        types.push_str(&format!(
            "type T{number} implements I @join__implements(graph: {graph}, interface: \"I\") @join__type(graph: A) @join__type(graph: B) {{ x: Int }}\n"
        ));
    }
    let query = "type Query @join__type(graph: A) { u: U @join__field(graph: A) }";
    let interface = "interface I @join__type(graph: A) @join__type(graph: B) { x: Int }";
    let supergraph = read(&format!(
        "{query}\n{interface}\n{union} = {members}\n{types}"
    ))
    .unwrap();
    let b = supergraph.subgraph_id("b").unwrap();
    for name in ["U", "I"] {
        let ty = supergraph.ty(supergraph.type_id(name).unwrap());
        assert_eq!(
            (ty.possible.len(), ty.join(b).unwrap().possible.len()),
            (COUNT, COUNT / 2)
        );
    }
    assert_eq!(
        supergraph.to_sdl().matches("join__unionMember(").count(),
        COUNT + 1
    );
}

/// Reading the selection for each argument and each type would take minutes, and its results gigabytes.
#[test]
fn a_context_of_many_types_is_read_once_for_all_fields_that_take_the_same() {
    const COUNT: usize = 2_000;
    let contexts = r#"directive @context(name: String!) repeatable on OBJECT | INTERFACE
        input join__ContextArgument { name: String! type: String! context: String! selection: String! }"#;
    let head = HEAD.replace(
        "overrideLabel: String)",
        "overrideLabel: String, contextArguments: [join__ContextArgument!])",
    );
    let taken =
        r#"contextArguments: [{ context: "c", name: "a", type: "Int", selection: "{ x }" }]"#;
    let mut types = String::from(
        "type Query @join__type(graph: A) { i: I @join__field(graph: A) }
        interface I @join__type(graph: A) @context(name: \"c\") { x: Int k: K }
        type K @join__type(graph: A, key: \"id\") { id: ID!",
    );
    for number in 0..COUNT {
        types.push_str(&format!(" f{number}: Int @join__field(graph: A, {taken})"));
    }
    types.push_str(" }");
    for number in 0..COUNT {
        types.push_str(&format!(
            " type T{number} implements I @join__implements(graph: A, interface: \"I\") @join__type(graph: A) {{ x: Int k: K }}"
        ));
    }
    let link = r#"@link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION)"#;
    let sdl = format!("schema {link} {{ query: Query }}{head}{contexts}{types}");
    let supergraph = Supergraph::parse(&sdl, "supergraph.graphql").unwrap();
    let field = |name: &str| {
        let ty = supergraph.type_id("K").unwrap();
        supergraph.field(supergraph.field_id(ty, name).unwrap())
    };
    let (first, last) = (&field("f0").joins[0], &field("f1999").joins[0]);
    assert_eq!(first.contexts[0].sources.len(), COUNT);
    assert!(std::sync::Arc::ptr_eq(
        &first.contexts[0].sources,
        &last.contexts[0].sources
    ));
}
