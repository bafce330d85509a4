//! A random schema with roles and data, and who asks what of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use graphql_gen::typesystem::FederationMode;
use object_engine::ServiceOptions;
use oxrdf::Quad;
use soml_core::schema::{Property, Range, Schema};

use super::recorder::{Record, Recorder};
use super::roles;
use super::rows::Rows;
use crate::back_end::Kind;
use crate::differential::case::{Sender, Subject};
use crate::differential::generate::{self, Generator, Steering};
use crate::differential::operation::Operation;
use crate::differential::random::Random;
use crate::differential::reference::{Answer, Graph, Model};

/// A schema with data; and for each case in turn a caller and an operation.
pub(crate) struct Case {
    seed: u64,
    number: u64,
    pub(crate) random: Random,
    pub(crate) subject: Subject,
    pub(crate) quads: Vec<Quad>,
    pub(crate) sender: Sender,
    record: Arc<Mutex<Record>>,
    steering: Steering,
    /// Which objects roles see, where they see some alone.
    pub(crate) rows: Option<Rows>,
}

impl Case {
    /// Makes a schema, whose roles see some of the objects alone if that is asked for.
    pub(crate) fn new(seed: u64, kind: Kind, has_rows: bool) -> Self {
        let mut random = Random::new(seed);
        let soml = generate::schema(&mut random, seed);
        let bare = soml_core::load(&soml).schema.expect("a valid schema");
        let rows = has_rows.then(|| Rows::new(&mut random));
        let soml = soml + &roles::section(&mut random, &bare, rows.as_ref());
        let record = Arc::<Mutex<Record>>::default();
        let mut options = ServiceOptions::default().with_roles_enforced(true);
        options.api = options.api.with_federation(FederationMode::V1);
        let subject = Subject::over(soml, kind, options, |inner| {
            let record = Arc::clone(&record);
            Arc::new(Recorder { inner, record })
        });
        let mut quads = generate::data(&mut random, &subject.schema, subject.is_embedded());
        add_links(&mut random, &subject.schema, &mut quads);
        Case {
            seed,
            number: 0,
            random,
            subject,
            quads,
            sender: Sender::default(),
            record,
            steering: Steering::new(seed),
            rows,
        }
    }

    /// Goes on to the case of a number, which is the same whatever ran before.
    pub(crate) fn next(&mut self, number: u64) {
        self.number = number;
        self.random = Random::new(self.seed.wrapping_mul(1_000_003).wrapping_add(number));
        let languages = ["de", "en-GB", "fr", "*", "en"];
        let accepted = languages.iter().filter(|_| self.random.chance(40));
        self.sender = Sender {
            accepted: accepted.map(|tag| (*tag).to_owned()).collect(),
            roles: None,
            claims: serde_json::Map::new(),
        };
        self.sender.roles = Some(roles::claimed(&mut self.random));
        if let Some(rows) = &self.rows {
            self.sender.claims = rows.claims(&mut self.random, &self.quads);
        }
        let denied = denied(&self.model());
        let mut record = self.record();
        *record = Record {
            denied,
            ..Record::default()
        };
    }

    pub(crate) fn name(&self) -> String {
        format!("ACCESS_SEED={}, operation {}", self.seed, self.number)
    }

    pub(crate) fn model(&self) -> Model<'_> {
        self.subject.model(&self.sender)
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("no test panics here")
    }

    /// Returns a random operation, and how it must be answered. Most of those that must be refused are
    /// thrown away, since nothing else can be seen of them.
    pub(crate) fn operation(&mut self, groups: bool) -> (Operation, Answer) {
        // Operands are taken from all of the data, so that conditions on what is hidden hold.
        let everything = Model::new(&self.subject.schema);
        let graph = Graph::new(&self.quads);
        loop {
            let random = Random::new(self.random.number());
            let mut generator = Generator::new(&everything, &graph, random, &mut self.steering);
            let mut operation = generate::operation(&mut generator);
            generate::add_beside(&mut generator, &mut operation, groups);
            let expected = self.subject.expected(&operation, &graph, &self.sender);
            if !matches!(expected, Answer::Refused(_)) || self.random.chance(12) {
                return (operation, expected);
            }
        }
    }
}

/// Lets properties lead to more objects, of whatever types, so that some are shown and some are not.
fn add_links(random: &mut Random, schema: &Schema, quads: &mut Vec<Quad>) {
    let leads = |property: &Property| matches!(property.range, Range::Object(_));
    let leading = schema.properties.iter().filter(|property| leads(property));
    let leading: BTreeSet<&str> = leading.map(|property| property.path.iri()).collect();
    for at in 0..quads.len() {
        let mut link = quads[at].clone();
        let iri = link.predicate.as_str();
        let finds_types = schema.objects.iter().any(|object| object.type_prop == iri);
        if leading.contains(iri) && !finds_types && random.chance(40) {
            link.object = random.pick(quads).subject.clone().into();
            quads.extend((!quads.contains(&link)).then_some(link));
        }
    }
}

/// The IRIs of the properties by which nothing may be read, except those that types are found by.
fn denied(model: &Model<'_>) -> BTreeSet<String> {
    let (mut all, mut read) = (BTreeSet::new(), BTreeSet::new());
    for (id, object) in model.schema.objects() {
        for property in &object.props {
            let property = &model.schema[*property];
            let iri = property.path.iri().to_owned();
            if model.rights.reads(id, &property.name.written) {
                read.insert(iri.clone());
            }
            all.insert(iri);
        }
        read.insert(object.type_prop.clone());
    }
    all.difference(&read).cloned().collect()
}
