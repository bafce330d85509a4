//! What filters by value read: what they find, and not what else there is.

use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use call_context::{CallContext, LookUp, Meter, Trace};
use futures::executor::block_on;
use graph_store::GraphStore;
use graph_store::image::{FolderOptions, ImageBuilder, ImageStore};
use graph_store::query::{
    Comparison, Constant, Dataset, Domain, NodeCondition, Operator, Page, Quantifier, Regex,
    Selection, Step, TermCondition, TypeTest, ValueCondition, ValueTest,
};
use graph_store::write::{NewRecord, QuadChange};
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};

const OBJECTS: u32 = 3_000;
/// Objects in a group of those that refer to the same one.
const GROUP: u32 = 10;

fn v(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://v/{name}"))
}

fn object(number: u32) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{number:05}"))
}

fn day(number: u32) -> Literal {
    let text = format!("{:04}-01-01T00:00:00Z", 1_000 + number);
    Literal::new_typed_literal(text, xsd::DATE_TIME)
}

/// Returns what is said of an object; every other one is of another type.
fn about(number: u32) -> Vec<Quad> {
    let quad = |property: NamedNode, value: Term| {
        Quad::new(object(number), property, value, GraphName::DefaultGraph)
    };
    let ty = v(if number.is_multiple_of(2) {
        "Even"
    } else {
        "Odd"
    });
    let mail = format!("s{number:05}@example.org");
    vec![
        quad(rdf::TYPE.into_owned(), ty.into()),
        quad(v("mail"), Literal::from(mail).into()),
        quad(v("size"), Literal::from(number).into()),
        quad(v("since"), day(number).into()),
        quad(v("partOf"), object(number / GROUP).into()),
    ]
}

fn image(numbers: impl Iterator<Item = u32>) -> ImageBuilder {
    let mut builder = ImageBuilder::new();
    for quad in numbers.flat_map(about) {
        builder.add(quad.as_ref()).expect("a quad");
    }
    builder
}

fn add(store: &ImageStore, numbers: impl Iterator<Item = u32>) {
    let context = CallContext::new();
    let writer = store.writer().expect("a store that can be written to");
    let mut transaction = block_on(writer.begin(&context)).expect("a transaction");
    let change = QuadChange {
        removed: Vec::new(),
        added: numbers.flat_map(about).collect(),
    };
    block_on(transaction.apply(change, &context)).expect("a change");
    let record = NewRecord {
        request: "a".to_owned(),
        idempotency_key: None,
        digest: String::new(),
        time: SystemTime::UNIX_EPOCH,
        changes: Vec::new(),
    };
    block_on(transaction.commit(record, &context)).expect("a commit");
}

/// Stores with the same data: as an image, as changes over an image, and after these were merged.
static STORES: LazyLock<Vec<(&str, Arc<ImageStore>)>> = LazyLock::new(|| {
    let (early, late) = (0..OBJECTS / 2, OBJECTS / 2..OBJECTS);
    let whole = ImageStore::new(image(0..OBJECTS).build().expect("an image"));
    let changed = ImageStore::new(image(early.clone()).build().expect("an image"));
    add(&changed, late.clone());
    let empty = ImageStore::new(image(0..0).build().expect("an image"));
    for number in 0..OBJECTS / GROUP {
        add(&empty, number * GROUP..(number + 1) * GROUP);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data");
    let merged =
        ImageStore::create(&path, image(early), &FolderOptions::default()).expect("a store");
    add(&merged, late);
    merged.merge().expect("a merge");
    let named = [
        ("image", whole),
        ("changes", changed),
        ("only changes", empty),
        ("merged", merged),
    ];
    named.map(|(name, store)| (name, Arc::new(store))).into()
});

fn instance(types: &[&str]) -> NodeCondition {
    let types = types.iter().map(|ty| v(ty)).collect();
    NodeCondition::Instance(TypeTest::new(rdf::TYPE.into_owned(), types))
}

fn some(property: &str, condition: ValueCondition) -> NodeCondition {
    NodeCondition::Values {
        step: Step::forward(v(property)),
        quantifier: Quantifier::Some,
        condition: Box::new(condition),
    }
}

fn having(property: &str, domain: Domain, operator: Operator) -> NodeCondition {
    let test = TermCondition::Value(ValueTest { domain, operator });
    some(property, ValueCondition::Term(test))
}

fn mail(operator: Operator) -> NodeCondition {
    having("mail", Domain::Text, operator)
}

fn text(text: &str) -> Constant {
    Constant::Literal(Literal::new_simple_literal(text))
}

fn equal(constant: Constant) -> Operator {
    Operator::Compare(Comparison::Equal, constant)
}

/// What a look-up found, and what it read.
struct Found {
    objects: Vec<NamedNode>,
    way: LookUp,
    spent: u64,
}

fn find(store: &ImageStore, condition: NodeCondition, limit: Option<u64>) -> Found {
    let (trace, meter) = (Arc::new(Trace::default()), Arc::new(Meter::new(u64::MAX)));
    let context = CallContext::new().with_trace(Arc::clone(&trace));
    let context = context.with_meter(Arc::clone(&meter));
    let selection = Selection {
        condition,
        order: Vec::new(),
        page: Page {
            offset: None,
            limit,
        },
        dataset: Dataset::default(),
    };
    let objects = block_on(store.select(&selection, &context)).expect("objects");
    let mut objects: Vec<NamedNode> = objects
        .into_refs()
        .iter()
        .map(|o| o.node().clone())
        .collect();
    objects.sort_unstable();
    let steps = trace.steps();
    let way = steps.iter().find_map(|step| step.look_up.clone());
    Found {
        objects,
        way: way.expect("a look-up"),
        spent: meter.spent(),
    }
}

/// Checks that a condition finds some objects by looking at about as many.
#[track_caller]
fn check(condition: NodeCondition, limit: Option<u64>, by: &str, wanted: &[u32]) {
    for (name, store) in STORES.iter() {
        let found = find(store, condition.clone(), limit);
        let objects: Vec<NamedNode> = wanted.iter().map(|number| object(*number)).collect();
        assert_eq!(found.objects, objects, "{name}");
        assert_eq!(found.way.by, by, "{name}");
        let most = 8 * wanted.len() + 64;
        // Terms of the last changes are in no order yet.
        let most = most + if name.contains("changes") { 700 } else { 0 };
        assert!(found.way.candidates <= most, "{name}: {:?}", found.way);
        assert!(found.spent <= most as u64, "{name}: {}", found.spent);
    }
}

#[test]
fn equal_values_are_looked_up() {
    let both = || instance(&["Even", "Odd"]);
    let one = || mail(equal(text("s02001@example.org")));
    check(
        NodeCondition::all([instance(&["Odd"]), one()]),
        None,
        "values",
        &[2_001],
    );
    check(
        NodeCondition::all([both(), one()]),
        Some(1),
        "values",
        &[2_001],
    );
    check(
        NodeCondition::all([instance(&["Even"]), one()]),
        None,
        "values",
        &[],
    );
    let none = mail(equal(text("nobody@example.org")));
    check(NodeCondition::all([both(), none]), None, "values", &[]);
    let several = ["s00007@example.org", "s02999@example.org", "nobody"];
    let several = mail(Operator::In(several.map(text).to_vec()));
    check(
        NodeCondition::all([both(), several]),
        None,
        "values",
        &[7, 2_999],
    );
}

#[test]
fn ranges_and_beginnings_are_looked_up() {
    let both = || instance(&["Even", "Odd"]);
    let above = Operator::Compare(Comparison::Greater, Constant::Literal(Literal::from(2_996)));
    let above = having("size", Domain::Number, above);
    check(
        NodeCondition::all([both(), above]),
        None,
        "values",
        &[2_997, 2_998, 2_999],
    );
    let number = Literal::new_typed_literal("02.0E1", xsd::DOUBLE);
    let number = having("size", Domain::Number, equal(Constant::Literal(number)));
    check(NodeCondition::all([both(), number]), None, "values", &[20]);
    let before = Operator::Compare(Comparison::LessOrEqual, Constant::Literal(day(2)));
    let before = having(
        "since",
        Domain::Typed(soml_core::datatype::Scalar::DateTime),
        before,
    );
    check(
        NodeCondition::all([both(), before]),
        None,
        "values",
        &[0, 1, 2],
    );
    let begins = Operator::Matches(Regex::new("^s0277", false, 100).expect("a pattern"), false);
    let wanted: Vec<u32> = (2_770..2_780).collect();
    check(
        NodeCondition::all([both(), mail(begins)]),
        None,
        "values",
        &wanted,
    );
}

#[test]
fn references_and_alternatives_are_looked_up() {
    let both = || instance(&["Even", "Odd"]);
    let whole = mail(equal(text("s00250@example.org")));
    let part = some("partOf", ValueCondition::Node(whole));
    let wanted: Vec<u32> = (2_500..2_510).collect();
    check(NodeCondition::all([both(), part]), None, "values", &wanted);
    let small = having(
        "size",
        Domain::Number,
        equal(Constant::Literal(Literal::from(3))),
    );
    let either = NodeCondition::Any(vec![mail(equal(text("s02222@example.org"))), small]);
    check(
        NodeCondition::all([both(), either]),
        None,
        "alternatives",
        &[3, 2_222],
    );
}

#[test]
fn a_page_in_the_order_of_ids_ends_early() {
    let frequent = Operator::Compare(
        Comparison::GreaterOrEqual,
        Constant::Literal(Literal::from(2)),
    );
    let frequent = having("size", Domain::Number, frequent);
    let condition = NodeCondition::all([instance(&["Even"]), frequent]);
    for (name, store) in STORES.iter() {
        let found = find(store, condition.clone(), Some(3));
        let wanted = [2, 4, 6].map(object);
        assert_eq!(found.objects, wanted, "{name}");
        if matches!(*name, "image" | "merged") {
            assert_eq!(found.way.by, "instances in order", "{name}");
            assert_eq!(found.way.candidates, 4, "{name}");
        }
    }
}

#[test]
fn what_changes_bring_and_take_is_found_as_what_was_there() {
    let store = ImageStore::new(image(0..100).build().expect("an image"));
    // One by one, so that the order of new terms is made from orders before it.
    for number in 100..1_500 {
        add(&store, number..number + 1);
        if number.is_multiple_of(100) {
            let above = Constant::Literal(Literal::from(number - 2));
            let above = Operator::Compare(Comparison::Greater, above);
            let above = having("size", Domain::Number, above);
            let found = find(
                &store,
                NodeCondition::all([instance(&["Even", "Odd"]), above]),
                None,
            );
            assert_eq!(found.objects, [number - 1, number].map(object));
        }
    }
    add(&store, 1_500..1_501);
    let one = mail(equal(text("s01500@example.org")));
    let found = find(&store, NodeCondition::all([instance(&["Even"]), one]), None);
    assert_eq!(found.objects, [object(1_500)]);
}
