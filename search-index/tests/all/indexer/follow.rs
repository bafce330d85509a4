//! Indexes that follow the changes of their data: afterwards they hold what a new index would hold, whatever happened
//! on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use futures::executor::block_on;
use graph_store::facts::{Fact, PathStep, ValuePath};
use graph_store::image::ImageStore;
use graph_store::query::{Domain, NodeCondition, Quantifier, Step, TermCondition, ValueCondition};
use graph_store::write::{ChangeKind, ChangedObjects, NewRecord, QuadChange, RecordQuery};
use graph_store::{CallContext, GraphStore};
use oxrdf::vocab::rdf;
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};
use search_index::dsl::{Search, Sort};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::{
    Binding, Built, DataPosition, IndexState, PhysicalName, Refusal, SearchEngine,
};
use search_index::indexer::{Following, Indexer, Outcome, Standing};
use search_index::mapping::{Indexes, MappingOptions};
use search_index::read::DocumentReader;
use serde_json::Value as Json;
use soml_core::Schema;
use test_support::random::Random;
use test_support::random_tests;

use super::memory::{Fault, Memory};
use super::{indexer, indexer_with, options};
use crate::{images, schema};

/// Films embed planets to the second level, planets films by a property that is read backwards, and their rulers;
/// sequels are of an abstract type.
const SCHEMA: &str = "
id: /soml/f
specialPrefixes: {vocab_iri: 'http://e/', vocab_prefix: v}
objects:
  Work: {kind: abstract, search: yes, props: {title: {}}}
  Film:
    inherits: Work
    search: yes
    props:
      planets: {range: Planet, max: inf, search: {type: {nestingLevel: 2}}}
      sequel: {range: Work, search: {type: {nestingLevel: 1}}}
  Book: {inherits: Work}
  Planet:
    search: yes
    props:
      mass: {range: decimal}
      films: {range: Film, max: inf, inverseAlias: planets}
      ruler: {range: Person}
  Person: {search: yes, props: {alias: {}}}
";

/// Objects of each type, by the beginning of their names.
const TYPES: [(&str, &str, usize); 4] = [
    ("f", "Film", 5),
    ("b", "Book", 2),
    ("p", "Planet", 5),
    ("h", "Person", 3),
];

fn v(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

fn type_of(name: &str) -> &'static str {
    let found = TYPES.iter().find(|(start, ..)| name.starts_with(start));
    found.expect("an object of the world").1
}

/// The data, and what is said of their changes.
struct World {
    store: Arc<ImageStore>,
    triples: BTreeSet<(String, String, String)>,
    requests: AtomicUsize,
}

impl World {
    fn new(triples: &[(&str, &str, &str)], first_request: usize) -> Self {
        let mut world = World {
            store: Arc::new(images::empty()),
            triples: BTreeSet::new(),
            requests: AtomicUsize::new(first_request),
        };
        let all = triples
            .iter()
            .map(|(s, p, o)| ((*s).to_owned(), (*p).to_owned(), (*o).to_owned()));
        world.set(all.collect());
        world
    }

    fn data(&self) -> Arc<dyn GraphStore> {
        Arc::clone(&self.store) as Arc<dyn GraphStore>
    }

    /// Puts other triples in place of all there are, in one transaction with a record.
    fn set(&mut self, triples: BTreeSet<(String, String, String)>) {
        let quad = |(s, p, o): &(String, String, String)| {
            let predicate = match p.as_str() {
                "type" => rdf::TYPE.into_owned(),
                name => v(name),
            };
            let object: Term = match o.strip_prefix('"') {
                Some(text) => Literal::from(text).into(),
                None => v(o).into(),
            };
            Quad::new(v(s), predicate, object, GraphName::DefaultGraph)
        };
        let removed: Vec<_> = self.triples.difference(&triples).cloned().collect();
        let added: Vec<_> = triples.difference(&self.triples).cloned().collect();
        let is_there = |among: &BTreeSet<(String, String, String)>, name: &str| {
            among.iter().any(|(s, p, _)| s == name && p == "type")
        };
        let subjects: BTreeSet<&String> = removed.iter().chain(&added).map(|(s, ..)| s).collect();
        let mut changes = Vec::new();
        for name in subjects {
            let kind = match (is_there(&self.triples, name), is_there(&triples, name)) {
                (false, true) => ChangeKind::Created,
                (true, false) => ChangeKind::Deleted,
                (true, true) => ChangeKind::Updated,
                (false, false) => continue,
            };
            changes.push(ChangedObjects {
                kind,
                object_type: type_of(name).to_owned(),
                objects: vec![v(name)],
            });
        }
        let change = QuadChange {
            removed: removed.iter().map(quad).collect(),
            added: added.iter().map(quad).collect(),
        };
        commit(
            &self.store,
            change,
            changes,
            self.requests.fetch_add(1, Ordering::Relaxed),
        );
        self.triples = triples;
    }

    /// Changes an object or two as a mutation would.
    fn change(&mut self, random: &mut Random) {
        let mut triples = self.triples.clone();
        for _ in 0..random.between(1, 3) {
            let (start, ty, count) = random.choose(&TYPES);
            let name = format!("{start}{}", random.below(count));
            let is_there = triples.contains(&(name.clone(), "type".to_owned(), ty.to_owned()));
            if is_there && random.chance(25) {
                triples.retain(|(s, _, o)| *s != name && *o != name);
                continue;
            }
            triples.insert((name.clone(), "type".to_owned(), ty.to_owned()));
            let mut set = |property: &str, values: Vec<String>| {
                triples.retain(|(s, p, _)| (s.as_str(), p.as_str()) != (&name, property));
                let values = values.into_iter();
                triples.extend(values.map(|value| (name.clone(), property.to_owned(), value)));
            };
            let mut some = |start: &str, count: usize, most: usize| -> Vec<String> {
                let number = random.below(most + 1);
                (0..number)
                    .map(|_| format!("{start}{}", random.below(count)))
                    .collect()
            };
            match ty {
                "Film" => {
                    let planets = some("p", 5, 3);
                    let sequel = match some("f", 5, 1) {
                        films if films.is_empty() => some("b", 2, 1),
                        films => films,
                    };
                    set("planets", planets);
                    set("sequel", sequel);
                }
                "Planet" => {
                    let ruler = some("h", 3, 1);
                    set("ruler", ruler);
                }
                _ => {}
            }
            let text = format!("\"text {}", random.below(1_000));
            set(if ty == "Person" { "alias" } else { "title" }, vec![text]);
        }
        self.set(triples);
    }

    /// Returns the documents of a new index, by the name of the object and the id of the document.
    fn expected(&self) -> BTreeMap<String, BTreeMap<String, Json>> {
        self.expected_with(&|_| MappingOptions::default())
    }

    /// Returns the same of indexes that are defined in some way.
    fn expected_with(
        &self,
        mapping: &dyn Fn(&Schema) -> MappingOptions,
    ) -> BTreeMap<String, BTreeMap<String, Json>> {
        let schema = schema(SCHEMA);
        let indexes = Indexes::new(&schema, &mapping(&schema)).expect("searchable");
        let context = CallContext::new();
        let of = |definition| {
            let reader = DocumentReader::new(&schema, definition, &*self.store);
            let ids = block_on(reader.ids(&context)).expect("ids");
            let documents = block_on(reader.documents(&ids, &context)).expect("documents");
            let documents = documents.into_iter();
            documents
                .map(|document| {
                    let json = serde_json::from_slice(&document.source).expect("JSON");
                    (document.id, json)
                })
                .collect()
        };
        let all = indexes.indexes.iter();
        all.map(|definition| (definition.name.clone(), of(definition)))
            .collect()
    }
}

/// Commits a change with a record of it.
fn commit(store: &ImageStore, change: QuadChange, changes: Vec<ChangedObjects>, request: usize) {
    let (writer, context) = (
        store.writer().expect("it is written to"),
        CallContext::new(),
    );
    let done = block_on(async {
        let mut transaction = writer.begin(&context).await?;
        transaction.apply(change, &context).await?;
        let record = NewRecord {
            request: format!("r{request}"),
            idempotency_key: None,
            digest: String::new(),
            time: SystemTime::now(),
            changes,
        };
        transaction.commit(record, &context).await
    });
    done.expect("committed");
}

fn world() -> World {
    world_from(0)
}

/// The same data, changed by requests of certain numbers.
fn world_from(first_request: usize) -> World {
    let triples = [
        ("f0", "type", "Film"),
        ("f0", "title", "\"One"),
        ("f0", "planets", "p0"),
        ("f0", "planets", "p1"),
        ("p0", "type", "Planet"),
        ("p0", "title", "\"Hoth"),
        ("p0", "ruler", "h0"),
        ("p1", "type", "Planet"),
        ("h0", "type", "Person"),
        ("h0", "alias", "\"Jabba"),
        ("f1", "type", "Film"),
        ("f1", "sequel", "b0"),
    ];
    World::new(&triples, first_request)
}

/// Returns the documents that searches of an engine in memory find.
fn found(engine: &Memory) -> BTreeMap<String, BTreeMap<String, Json>> {
    let state = engine.state();
    let live = state
        .indexes
        .values()
        .filter(|index| !index.aliases.is_empty());
    live.map(|index| {
        let object = index.mark.as_ref().expect("ours").object.clone();
        let documents = index.visible.iter();
        let json = |(id, source): (&String, &String)| {
            (id.clone(), serde_json::from_str(source).expect("JSON"))
        };
        (object, documents.map(json).collect())
    })
    .collect()
}

/// Builds indexes, and begins to follow the data.
async fn built(indexer: &Indexer) -> Following {
    let report = indexer.run(&CallContext::new()).await.expect("built");
    followed(
        indexer,
        report.objects.iter().map(|o| (o.object.as_str(), &o.index)),
    )
    .await
}

async fn followed(
    indexer: &Indexer,
    indexes: impl IntoIterator<Item = (&str, &PhysicalName)>,
) -> Following {
    let following = indexer.following(indexes, &CallContext::new()).await;
    following.expect("an answer").expect("the data are known")
}

/// Follows until nothing is left.
async fn level(indexer: &Indexer, following: &mut Following) {
    loop {
        let context = CallContext::new();
        match indexer.follow(following, &context).await.expect("followed") {
            Standing::Level => return,
            Standing::Behind => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn what_is_created_updated_and_deleted_is_found_as_it_is_and_where_it_is_embedded() {
    let (mut world, engine) = (world(), Arc::new(Memory::default()));
    let indexer = indexer(SCHEMA, world.data(), engine.clone(), options());
    let mut following = built(&indexer).await;
    assert_eq!(found(&engine), world.expected());
    let first = following.sequence().expect("a sequence");
    type Triple = (&'static str, &'static str, &'static str);
    let steps: [(&str, &[Triple], &[Triple]); 8] = [
        (
            "an object that others led to is created",
            &[],
            &[("b0", "type", "Book"), ("b0", "title", "\"B")],
        ),
        (
            "an object two levels below",
            &[("h0", "alias", "\"Jabba")],
            &[("h0", "alias", "\"Leia")],
        ),
        (
            "a link by which another one is read backwards",
            &[],
            &[("f1", "planets", "p1")],
        ),
        ("the same link is gone", &[("f1", "planets", "p1")], &[]),
        (
            "a link to what is not there",
            &[],
            &[("f0", "planets", "p4")],
        ),
        (
            "it is created",
            &[],
            &[("p4", "type", "Planet"), ("p4", "title", "\"P")],
        ),
        (
            "an object changes its type",
            &[("b0", "type", "Book")],
            &[("b0", "type", "Planet")],
        ),
        (
            "an object is deleted",
            &[
                ("p0", "type", "Planet"),
                ("p0", "title", "\"Hoth"),
                ("p0", "ruler", "h0"),
                ("f0", "planets", "p0"),
            ],
            &[],
        ),
    ];
    let owned = |(s, p, o): &Triple| ((*s).to_owned(), (*p).to_owned(), (*o).to_owned());
    for (at, (step, removed, added)) in steps.iter().enumerate() {
        let mut triples = world.triples.clone();
        removed
            .iter()
            .for_each(|triple| assert!(triples.remove(&owned(triple)), "{step}"));
        triples.extend(added.iter().map(owned));
        let before = found(&engine);
        world.set(triples);
        level(&indexer, &mut following).await;
        assert_eq!(found(&engine), world.expected(), "{step}");
        assert_ne!(found(&engine), before, "{step}");
        assert_eq!(following.sequence(), Some(first + at as u64 + 1), "{step}");
    }
    let last = following
        .indexes()
        .iter()
        .map(|index| index.built.documents);
    assert_eq!(
        last.sum::<u64>(),
        found(&engine)
            .values()
            .map(|of| of.len() as u64)
            .sum::<u64>()
    );
}

/// Follows random changes on an engine in memory whose calls fail, get lost or are broken off.
#[tokio::test]
async fn whatever_fails_on_the_way_indexes_hold_in_the_end_what_a_new_one_would() {
    follow_randomly(&|_| MappingOptions::default()).await;
}

#[tokio::test]
async fn facts_that_depend_on_other_objects_follow_these() {
    follow_randomly(&with_facts).await;
}

/// Adds facts that depend on objects some steps away, forwards and backwards.
fn with_facts(schema: &Schema) -> MappingOptions {
    let object = |name: &str| schema.object_named(name).expect("an object");
    let forward = |name: &str| Step::forward(v(name));
    let some = |step: Step, condition: ValueCondition| NodeCondition::Values {
        step,
        quantifier: Quantifier::Some,
        condition: Box::new(condition),
    };
    let has_alias = some(forward("alias"), ValueCondition::Term(TermCondition::TRUE));
    let is_ruled = some(forward("ruler"), ValueCondition::Node(has_alias.clone()));
    let step = |step: Step, condition: Option<NodeCondition>| PathStep {
        step,
        condition: condition.map(ValueCondition::Node),
    };
    let backwards = Step {
        inverse: true,
        ..forward("planets")
    };
    let path = |steps: Vec<PathStep>, domain: Domain| Fact::Values(ValuePath { steps, domain });
    let of_film = [
        Fact::Holds(some(forward("planets"), ValueCondition::Node(is_ruled))),
        path(
            vec![
                step(forward("planets"), None),
                step(forward("ruler"), Some(has_alias)),
                step(forward("alias"), None),
            ],
            Domain::Text,
        ),
    ];
    let of_planet = [
        path(vec![step(backwards.clone(), None)], Domain::Iri),
        path(
            vec![step(backwards, None), step(forward("title"), None)],
            Domain::Text,
        ),
    ];
    let of_person = [path(Vec::new(), Domain::Iri)];
    MappingOptions::default().with_facts(
        [
            (object("Film"), of_film.into()),
            (object("Planet"), of_planet.into()),
            (object("Person"), of_person.into()),
        ]
        .into(),
    )
}

async fn follow_randomly(mapping: &dyn Fn(&Schema) -> MappingOptions) {
    let seed = random_tests::setting("FOLLOW_SEED", 1);
    for case in 0..random_tests::count("FOLLOW_CASES", 60) {
        let mut random = Random::new(seed.wrapping_mul(1_000).wrapping_add(case));
        let (mut world, engine) = (world(), Arc::new(Memory::default()));
        let mut small = options();
        (small.max_retries, small.bulk_bytes) = (0, 200);
        let data = world.data();
        let begin = || indexer_with(SCHEMA, mapping, data.clone(), engine.clone(), small.clone());
        let mut indexer = begin();
        let mut following = built(&indexer).await;
        for _ in 0..random.between(5, 20) {
            (0..random.between(1, 4)).for_each(|_| world.change(&mut random));
            let (fails, how) = (
                random.below(25),
                random.choose(&[Fault::Fails, Fault::Lost, Fault::Stalls, Fault::StallsAfter]),
            );
            engine.set_faults(Some(Arc::new(move |number, _| {
                if number == fails { how } else { Fault::None }
            })));
            let context = CallContext::new();
            tokio::select! {
                // What it returns is looked at later.
                _ = indexer.follow(&mut following, &context) => {}
                () = engine.stalls() => {}
            }
            engine.set_faults(None);
            if random.chance(40) {
                // The process ends, and what was not noted is lost.
                let names = following.indexes().iter();
                let names: Vec<_> = names
                    .map(|index| (index.object.clone(), index.index.clone()))
                    .collect();
                indexer = begin();
                let names = names.iter().map(|(object, name)| (object.as_str(), name));
                following = followed(&indexer, names).await;
            } else if random.chance(30) {
                let noted = indexer
                    .note(&mut following, true, &CallContext::new())
                    .await;
                noted.expect("noted");
            }
        }
        level(&indexer, &mut following).await;
        assert_eq!(
            found(&engine),
            world.expected_with(mapping),
            "FOLLOW_SEED={seed}, case {case}"
        );
    }
}

#[tokio::test]
async fn changes_while_indexes_are_built_are_in_them_before_an_alias_moves() {
    let (world, engine) = (std::sync::Mutex::new(world()), Arc::new(Memory::default()));
    let (world, data) = {
        let data = world.lock().expect("no panic").data();
        (Arc::new(world), data)
    };
    let changing = Arc::clone(&world);
    engine.set_judge(move |bulk, _| {
        if bulk < 6 {
            let mut random = Random::new(bulk as u64);
            changing.lock().expect("no panic").change(&mut random);
        }
        None
    });
    let mut small = options();
    small.bulk_bytes = 100;
    let indexer = indexer(SCHEMA, data, engine.clone(), small);
    let report = indexer.run(&CallContext::new()).await.expect("built");
    let states = engine.indexes(&CallContext::new()).await.expect("states");
    let world = world.lock().expect("no panic");
    let expected = world.expected();
    assert_eq!(found(&engine), expected);
    for object in &report.objects {
        let Outcome::Built { documents, .. } = object.outcome else {
            panic!("it was built");
        };
        assert_eq!(
            documents,
            expected[&object.object].len() as u64,
            "{}",
            object.object
        );
    }
    let last = block_on(
        world
            .store
            .writer()
            .expect("written to")
            .last_sequence(&CallContext::new()),
    );
    let noted = |state: &IndexState| state.mark.as_ref()?.data().map(|data| data.sequence);
    assert!(
        states
            .iter()
            .all(|state| noted(state) == last.as_ref().ok().copied()),
        "{states:?}"
    );
}

/// Late writes of whoever was replaced do not bring back what is gone.
#[tokio::test]
async fn writes_of_before_that_arrive_late_change_nothing() {
    let (mut world, engine) = (world(), Arc::new(Memory::default()));
    let indexer = indexer(SCHEMA, world.data(), engine.clone(), options());
    let mut following = built(&indexer).await;
    let late = following.clone();
    let mut triples = world.triples.clone();
    triples.retain(|(s, _, o)| s != "p0" && o != "p0");
    world.set(triples);
    // Whoever was replaced reads what is there, and is stopped before it writes.
    engine.set_faults(Some(Arc::new(|_, name| match name {
        "bulk" => Fault::StallsAfter,
        _ => Fault::None,
    })));
    level_or_stalled(&indexer, &engine, &mut late.clone()).await;
    engine.set_faults(None);
    let mut triples = world.triples.clone();
    triples.insert(("p0".to_owned(), "type".to_owned(), "Planet".to_owned()));
    world.set(triples);
    level(&indexer, &mut following).await;
    let expected = world.expected();
    assert_eq!(found(&engine), expected);
    let state = engine.state().clone();
    let planets = state
        .indexes
        .values()
        .find(|index| index.aliases.contains("svc-planet"));
    let newest = planets.expect("planets").versions.values().max().copied();
    assert_eq!(
        newest,
        following.sequence(),
        "documents have the position as their version"
    );
}

async fn level_or_stalled(indexer: &Indexer, engine: &Memory, following: &mut Following) {
    let context = CallContext::new();
    tokio::select! {
        followed = indexer.follow(following, &context) => panic!("{followed:?}"),
        () = engine.stalls() => {}
    }
}

#[tokio::test]
async fn a_document_that_is_not_taken_is_named_until_its_object_changes() {
    let (mut world, engine) = (world(), Arc::new(Memory::default()));
    let indexer = indexer(SCHEMA, world.data(), engine.clone(), options());
    let mut following = built(&indexer).await;
    engine.set_judge(|_, document| {
        let source = String::from_utf8_lossy(&document.source).into_owned();
        source.contains("poison").then_some(400)
    });
    let set = |world: &mut World, title: &str| {
        let mut triples = world.triples.clone();
        triples.retain(|(s, p, _)| (s.as_str(), p.as_str()) != ("h0", "alias"));
        triples.insert(("h0".to_owned(), "alias".to_owned(), format!("\"{title}")));
        world.set(triples);
    };
    let persons = |following: &Following| -> Built {
        let all = following.indexes().iter();
        let mut persons = all.filter(|index| index.object == "Person");
        persons.next().expect("persons").built.clone()
    };
    set(&mut world, "poison");
    level(&indexer, &mut following).await;
    let expected = Refusal {
        iri: "http://e/h0".to_owned(),
        field: None,
        reason: "as the test wants it".to_owned(),
    };
    let refused = persons(&following);
    assert_eq!((refused.rejected, &refused.refusals), (1, &vec![expected]));
    assert_eq!(refused.documents, 0, "the one of before is gone");
    assert!(found(&engine)["Person"].is_empty());
    // It is known after a restart too.
    indexer
        .note(&mut following, true, &CallContext::new())
        .await
        .expect("noted");
    let names: Vec<_> = following
        .indexes()
        .iter()
        .map(|i| (i.object.clone(), i.index.clone()))
        .collect();
    let mut following = followed(&indexer, names.iter().map(|(o, n)| (o.as_str(), n))).await;
    assert_eq!(persons(&following).rejected, 1);
    set(&mut world, "well");
    level(&indexer, &mut following).await;
    let mended = persons(&following);
    assert_eq!(
        (mended.rejected, mended.refusals.len(), mended.documents),
        (0, 0, 1)
    );
    assert_eq!(found(&engine), world.expected());
}

#[tokio::test]
async fn other_data_and_forgotten_records_are_not_followed() {
    let (mut world, engine) = (world(), Arc::new(Memory::default()));
    let indexer = indexer(SCHEMA, world.data(), engine.clone(), options());
    let following = built(&indexer).await;
    world.change(&mut Random::new(1));
    world.change(&mut Random::new(2));
    let context = CallContext::new();
    let writer = world.store.writer().expect("written to");
    writer
        .forget_records(SystemTime::now() + Duration::from_secs(60), &context)
        .await
        .expect("forgotten");
    let query = RecordQuery::After {
        sequence: 0,
        limit: 10,
    };
    assert_eq!(writer.records(&query, &context).await.expect("records"), []);
    let standing = indexer.follow(&mut following.clone(), &context).await;
    assert_eq!(standing.expect("an answer"), Standing::Lost);
    // A run builds them again, and they follow from there.
    let report = indexer.run(&context).await.expect("built");
    assert!(
        report
            .objects
            .iter()
            .all(|object| matches!(object.outcome, Outcome::Built { .. }))
    );
    assert_eq!(found(&engine), world.expected());
    // So it is with a store that has other data.
    let other = self::indexer(SCHEMA, world_from(100).data(), engine.clone(), options());
    let standing = other.follow(&mut following.clone(), &context).await;
    assert_eq!(standing.expect("an answer"), Standing::Lost);
}

#[tokio::test]
async fn an_index_that_lacks_changes_stays_and_follows() {
    let (mut world, engine) = (world(), Arc::new(Memory::default()));
    let indexer = indexer(SCHEMA, world.data(), engine.clone(), options());
    built(&indexer).await;
    world.change(&mut Random::new(3));
    let report = indexer.run(&CallContext::new()).await.expect("a run");
    assert!(report.is_unchanged());
    let names = report.objects.iter().map(|o| (o.object.as_str(), &o.index));
    let mut following = followed(&indexer, names).await;
    level(&indexer, &mut following).await;
    assert_eq!(found(&engine), world.expected());
}

/// Returns the documents that searches of the embedded engine find.
async fn hits(
    engine: &EmbeddedEngine,
    following: &Following,
) -> BTreeMap<String, BTreeMap<String, Json>> {
    let schema = schema(SCHEMA);
    let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
    let mut all = BTreeMap::new();
    for index in following.indexes() {
        let definition = indexes.named(&index.object).expect("an index");
        let mut source: Vec<String> = definition.fields.fields.keys().cloned().collect();
        source.extend(["id", "type", "$shown"].map(str::to_owned));
        let search = Search {
            size: 100,
            sort: vec![Sort::field("id")],
            source,
            ..Search::default()
        };
        let binding = Binding {
            definition,
            name: &index.index,
        };
        let answer = engine
            .search(binding, &search, &CallContext::new())
            .await
            .expect("an answer");
        let hits = answer.hits.into_iter();
        let hits = hits.map(|hit| (hit.id, serde_json::from_slice(&hit.source).expect("JSON")));
        all.insert(index.object.clone(), hits.collect());
    }
    all
}

/// The embedded engine keeps the position in the commit of the documents: after a crash all that was found is there,
/// and what was not is followed again.
#[tokio::test]
async fn the_embedded_engine_keeps_positions_with_documents() {
    let mut world = world();
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Arc::new(EmbeddedEngine::open(folder.path()).expect("opened"));
    let mut engine = open();
    let data = world.data();
    let begin =
        |engine: &Arc<EmbeddedEngine>| indexer(SCHEMA, data.clone(), engine.clone(), options());
    let mut follower = begin(&engine);
    let mut following = built(&follower).await;
    let mut random = Random::new(random_tests::setting("FOLLOW_SEED", 1));
    for round in 0..12 {
        (0..random.between(1, 4)).for_each(|_| world.change(&mut random));
        level(&follower, &mut following).await;
        assert_eq!(
            hits(&engine, &following).await,
            world.expected(),
            "round {round}"
        );
        let positions = |following: &Following| -> Vec<Option<DataPosition>> {
            following
                .indexes()
                .iter()
                .map(|index| index.position().cloned())
                .collect()
        };
        let before = positions(&following);
        let names: Vec<_> = following
            .indexes()
            .iter()
            .map(|i| (i.object.clone(), i.index.clone()))
            .collect();
        if round % 3 == 2 {
            drop((follower, engine));
            engine = open();
            follower = begin(&engine);
            following = followed(&follower, names.iter().map(|(o, n)| (o.as_str(), n))).await;
            let after = positions(&following);
            // What has no document of its own in an index is not written to it, and is read again.
            let is_behind = |(before, after): (&Option<DataPosition>, &Option<DataPosition>)| {
                after.as_ref().expect("known").sequence <= before.as_ref().expect("known").sequence
            };
            assert!(
                before.iter().zip(&after).all(is_behind),
                "{before:?} {after:?}"
            );
            assert!(
                before
                    .iter()
                    .zip(&after)
                    .any(|(before, after)| before == after),
                "{after:?}"
            );
        }
    }
}
