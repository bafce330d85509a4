//! What documents mean: merging, names, inheritance, the name property.

use soml_core::schema::{Max, Object, ObjectKind, Path, Property, Range, Schema};
use soml_core::{Valid, load};

fn schema(text: &str) -> Valid<Schema> {
    let loaded = load(text);
    let said: Vec<_> = loaded.diagnostics.iter().map(ToString::to_string).collect();
    assert!(said.iter().all(|d| d.contains("MISSING_ID")), "{said:#?}");
    loaded.schema.expect("no errors")
}

fn object<'s>(schema: &'s Schema, name: &str) -> &'s Object {
    &schema[schema.object_named(name).expect(name)]
}

fn property<'s>(schema: &'s Schema, object_name: &str, name: &str) -> &'s Property {
    let ids = &object(schema, object_name).props;
    ids.iter()
        .map(|id| &schema[*id])
        .find(|p| p.name.graphql == name)
        .expect(name)
}

fn names(schema: &Schema, name: &str) -> Vec<String> {
    object(schema, name)
        .props
        .iter()
        .map(|id| schema[*id].name.graphql.clone())
        .collect()
}

fn data(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR")))
        .expect(name)
}

#[test]
fn entries_are_laid_over_each_other_key_by_key() {
    let schema = schema(
        "properties:\n  note: {range: langString, max: inf, min: 1, label: Note}\nobjects:\n  Thing: {kind: abstract, \
         props: {note: {label: Remark}, size: {range: int}}}\n  Box: {inherits: Thing, props: {colour: , note: {min: 0}}}\n",
    );
    let note = property(&schema, "Box", "note");
    assert_eq!(
        (note.min, note.max, note.label.as_deref()),
        (0, Max::Unbounded, Some("Remark"))
    );
    assert_eq!(property(&schema, "Thing", "note").min, 1);
    assert_eq!(
        names(&schema, "Box"),
        ["note", "size", "colour"],
        "inherited places are kept"
    );
    let thing = schema.object_named("Thing").expect("it is declared");
    assert_eq!(
        (note.declared_by, &schema[note.owner].name.written[..]),
        (thing, "Box")
    );
}

#[test]
fn a_merged_alias_wins_over_a_merged_rdf_property() {
    let schema = schema(&data("graphdb-workbench/swapi-schema.yaml"));
    for (owner, name, of) in [
        ("Character", "role", "character"),
        ("Film", "role", "film"),
        ("Person", "role", "person"),
        ("Country", "location", "country"),
        ("LocationInterface", "film", "location"),
        ("LocationInterface", "resident", "residentOf"),
    ] {
        let Path::Inverse { iri, of: partner } = &property(&schema, owner, name).path else {
            panic!("{owner}.{name} is stored");
        };
        assert_eq!(iri, &format!("https://swapi.co/vocabulary/{of}"));
        assert_eq!(schema[*partner].name.written, of);
    }
    let species = property(&schema, "Droid", "species");
    assert_eq!(
        species.path.iri(),
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    );
    assert!(species.range_check && matches!(species.range, Range::Object(_)));
}

/// How `staff` of an object is reached: `^` before the IRI where it is read in inverse direction.
fn staff(global: &str, above: &str, own: &str) -> String {
    let text = format!(
        "specialPrefixes: {{vocab_iri: 'http://v/', vocab_prefix: v}}\n\
         properties:\n  staff: {{range: Person, max: inf{global}}}\n\
         objects:\n  Person: {{props: {{firm: {{range: Firm}}, boss: {{range: Firm}}}}}}\n\
         \x20 Firm: {{kind: abstract, props: {{staff: {{{above}}}}}}}\n\
         \x20 Shop: {{inherits: Firm, props: {{staff: {{{own}}}}}}}\n"
    );
    let loaded = load(&text);
    let Some(schema) = loaded.schema else {
        panic!("{:?}\n{text}", loaded.diagnostics);
    };
    match &property(&schema, "Shop", "staff").path {
        Path::Forward(iri) => iri.replace("http://v/", ""),
        Path::Inverse { iri, .. } => iri.replace("http://v/", "^"),
    }
}

#[test]
fn the_nearer_of_rdf_property_and_alias_says_how_values_are_reached() {
    for (global, above, own, expected) in [
        (", inverseAlias: firm", "", "", "^firm"),
        (", inverseAlias: firm", "", "rdfProp: v:p", "p"),
        (", inverseAlias: firm", "rdfProp: v:p", "", "p"),
        (
            ", inverseAlias: firm",
            "rdfProp: v:p",
            "inverseAlias: boss",
            "^boss",
        ),
        (", rdfProp: v:p", "", "inverseAlias: boss", "^boss"),
        (", rdfProp: v:p", "inverseAlias: firm", "", "^firm"),
        (", rdfProp: v:p", "inverseAlias: firm", "rdfProp: v:q", "q"),
        (", rdfProp: v:p, inverseAlias: firm", "", "", "^firm"),
        ("", "", "rdfProp: v:p, inverseAlias: firm", "^firm"),
        (
            "",
            "rdfProp: v:p, inverseAlias: firm",
            "inverseAlias: null",
            "p",
        ),
        (
            ", rdfProp: v:p, inverseAlias: firm",
            "",
            "inverseAlias: null",
            "p",
        ),
        (
            ", rdfProp: v:p",
            "inverseAlias: firm",
            "inverseAlias: null",
            "p",
        ),
        (", inverseAlias: firm", "", "inverseAlias: null", "staff"),
        (", inverseAlias: firm", "", "inverseAlias: ~", "staff"),
        (
            ", inverseAlias: firm",
            "inverseAlias: null",
            "inverseAlias: boss",
            "^boss",
        ),
        (", inverseAlias: firm", "", "rdfProp: null", "^firm"),
        (", inverseAlias: firm", "", "label: Staff", "^firm"),
    ] {
        let found = staff(global, above, own);
        assert_eq!(found, expected, "{global:?} {above:?} {own:?}");
    }
}

#[test]
fn an_entry_called_name_describes_the_built_in_field() {
    let schema = schema(&data("bsdd/bsdd-graphql-soml-refact@fd10ed32.yaml"));
    assert_eq!(names(&schema, "Country"), ["code", "bsdd_name"]);
    let country = object(&schema, "Country");
    assert_eq!(country.name_label.as_deref(), Some("Country name"));
    let stored = property(&schema, "Country", "bsdd_name");
    assert_eq!(
        (stored.label.as_deref(), stored.implied_by_name),
        (Some("Name"), true)
    );
    assert_eq!((stored.name.written.as_str(), stored.min), ("bsdd:name", 1));
    assert_eq!(stored.path.iri(), "http://bsdd.buildingsmart.org/def#name");
    assert_eq!(country.name_property, country.props.last().copied());
    // Without such an entry the field has no label of its own.
    assert_eq!(object(&schema, "PropertyValue").name_label, None);
    assert_eq!(
        names(&schema, "PropertyValue"),
        [
            "code",
            "description",
            "bsdd_value",
            "sortNumber",
            "bsdd_name"
        ]
    );
}

#[test]
fn a_name_property_is_found_made_and_inherited() {
    let schema = schema(
        "objects:\n  Named: {kind: abstract, name: rdfs:label}\n  Film: {inherits: Named, props: {year: {range: year}}}\n  \
         Book: {inherits: Named, props: {rdfs:label: {label: Title}, pages: {range: int}}}\n  \
         Person: {name: fullName, props: {fullName: {}, age: {range: int}}}\n  Place: {props: {name: {label: Place name}}}\n  Plain: {}\n",
    );
    assert_eq!(names(&schema, "Film"), ["year", "rdfs_label"]);
    assert!(property(&schema, "Film", "rdfs_label").implied_by_name);
    assert_eq!(names(&schema, "Book"), ["rdfs_label", "pages"]);
    assert!(!property(&schema, "Book", "rdfs_label").implied_by_name);
    assert_eq!(names(&schema, "Person"), ["fullName", "age"]);
    assert_eq!(names(&schema, "Place"), ["voc_name"]);
    assert_eq!(
        object(&schema, "Place").name_label.as_deref(),
        Some("Place name")
    );
    let nameable: Vec<_> = schema
        .objects()
        .map(|(id, _)| schema.is_nameable(id))
        .collect();
    assert_eq!(nameable, [true, true, true, true, true, false]);
}

#[test]
fn types_prefixes_and_type_properties_become_iris() {
    let schema = schema(
        "specialPrefixes: {base_iri: 'http://ex.test/id/', vocab_iri: 'http://ex.test/v#', vocab_prefix: v}\nobjects:\n  \
         Org: {typeProp: inScheme, type: [organization/type, v:Org, 'http://ex.test/full'], prefix: org/, props: {inScheme: {range: iri, rdfProp: 'skos:inScheme'}}}\n  \
         Sub: {inherits: Org}\n  Self: {type: Self}\n  Work: {kind: abstract, typeProp: v:kind}\n",
    );
    let org = object(&schema, "Org");
    assert_eq!(
        org.types,
        [
            "http://ex.test/id/organization/type",
            "http://ex.test/v#Org",
            "http://ex.test/full"
        ]
    );
    assert_eq!(
        org.type_prop,
        "http://www.w3.org/2004/02/skos/core#inScheme"
    );
    assert_eq!(org.id_prefix.as_deref(), Some("http://ex.test/id/org/"));
    let sub = object(&schema, "v:Sub");
    assert_eq!(
        (sub.types.clone(), &sub.type_prop),
        (vec!["http://ex.test/v#Sub".to_owned()], &org.type_prop)
    );
    assert_eq!(sub.id_prefix, org.id_prefix);
    assert_eq!(object(&schema, "Self").types, ["http://ex.test/v#Self"]);
    let work = object(&schema, "Work");
    assert_eq!(
        (work.kind, work.types.len(), work.type_prop.as_str()),
        (ObjectKind::Abstract, 0, "http://ex.test/v#kind")
    );
}

#[test]
fn truth_has_many_words_and_text_stays_text() {
    let schema = schema(
        "label: yes\nversionInfo: 1.0\nobjects:\n  Film: {extend: yes, props: {a: {rangeCheck: on, typeCast: 'no', nonNullable: TRUE}}}\n",
    );
    assert_eq!(schema.metadata.label.as_deref(), Some("yes"));
    assert_eq!(schema.metadata.version_info.as_deref(), Some("1.0"));
    let a = property(&schema, "Film", "a");
    assert!(schema.objects[0].extend && a.range_check && !a.type_cast && a.non_nullable);
}

#[test]
fn search_settings_come_from_the_nearest_level() {
    let schema = schema(
        "config: {search: {analysis: {analyzer: simple}}}\nobjects:\n  Work: {kind: abstract, search: {index: yes, nested: true, type: {nestingLevel: 2}}}\n  \
         Film: {inherits: Work, props: {a: {}, b: {search: {index: no}}, c: {search: {analysis: {lang: {en: {analyzer: english}}}}}}}\n  Plain: {}\n",
    );
    let film = object(&schema, "Film")
        .search
        .clone()
        .expect("it inherits settings");
    assert_eq!(
        (
            film.index,
            film.nested,
            film.nesting_level,
            film.analyzer.as_deref()
        ),
        (true, true, Some(2), Some("simple"))
    );
    let of = |name| {
        property(&schema, "Film", name)
            .search
            .clone()
            .expect("it has settings")
    };
    assert!(of("a").index && !of("a").nested && !of("b").index);
    assert_eq!(
        of("c").lang_analyzers,
        [("en".to_owned(), "english".to_owned())]
    );
    assert!(
        !object(&schema, "Plain")
            .search
            .clone()
            .expect("from config")
            .index
    );
}

#[test]
fn checks_can_be_switched_off() {
    let text = "id: /soml/x\nconfig: {disabledChecks: [rangeCheck, regexInheritanceCheck]}\nobjects:\n  Work: {kind: abstract, regex: a, props: {x: {range: int}}}\n  \
                Film: {inherits: Work, regex: b, props: {x: {range: string}}}\n";
    assert_eq!(load(text).diagnostics, []);
    assert_eq!(
        load(&text.replace(
            "config: {disabledChecks: [rangeCheck, regexInheritanceCheck]}",
            "config:"
        ))
        .diagnostics
        .len(),
        2
    );
}

#[test]
fn three_mistakes_are_three_findings() {
    let text = "id: /soml/x\nobjects:\n  Film:\n    inherits: Wrok\n    props:\n      year: {range: integr}\n      title: {lable: Title}\n  Work: {}\n";
    let found: Vec<_> = load(text)
        .diagnostics
        .into_iter()
        .map(|d| {
            (
                d.place.expect("a place").start.line,
                d.help.unwrap_or_default(),
            )
        })
        .collect();
    let expected = [(4, "`Work`"), (6, "`integer`"), (7, "`label`")];
    assert_eq!(found.len(), 3);
    for ((line, help), (expected_line, near)) in found.iter().zip(expected) {
        assert_eq!(*line, expected_line);
        assert!(help.contains(near), "{help}");
    }
}

#[test]
fn the_forms_for_machines_tell_places_and_help() {
    let text = "objects:\n  Film: {}\n  Film: {}\n";
    let report = soml_core::report::json(&load(text).diagnostics);
    assert_eq!(report["valid"], false);
    let error = &report["errors"][0];
    assert_eq!(
        (&error["code"], &error["line"], &error["column"]),
        (&"DUPLICATE_KEY".into(), &3.into(), &3.into())
    );
    assert_eq!(
        (&error["endColumn"], &error["related"][0]["line"]),
        (&7.into(), &2.into())
    );
    assert_eq!(report["warnings"][0]["code"], "MISSING_ID");
    let ld = soml_core::report::json_ld("/soml/x", text, &load(text).diagnostics);
    assert_eq!(
        (&ld["@type"], &ld["@id"], &ld["input"]),
        (&"SOML".into(), &"/soml/x".into(), &text.into())
    );
}
