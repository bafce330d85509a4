//! Writing as `docs/writing.md` describes it, over a set of quads: slow and plain.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use serde_json::{Value, json};
use soml_core::schema::{Max, ObjectId, Path, Property, Range, Schema};

use super::request::{Entry, Field, Given, Member, Request, Verb, Where, root};
use super::terms::{Code, languages, same, tag, term, unchecked};
use crate::differential::reference::{Answer as Read, Graph, Model, Out, Ty, interpret};

pub(super) type State = HashSet<Quad>;

/// What a mutation leads to.
pub(super) enum Answer {
    /// It is not carried out at all, with one of these codes.
    Refused(Vec<&'static str>),
    /// Rights are missing, and nothing else is said.
    Denied(Denied),
    Wrong(Findings),
    Done(Done),
}

#[derive(Default, Debug)]
pub(super) struct Findings {
    /// About what is given, whatever the data.
    pub(super) input: BTreeSet<Finding>,
    /// About what the data are or would be. Nothing is said of values beside refused ones.
    pub(super) data: BTreeSet<Finding>,
}

/// Missing rights, each with the places that need it: response keys and `inputPath`s.
pub(super) type Denied = BTreeMap<String, BTreeSet<(String, String)>>;

/// A finding: its code, the response key, `inputPath` and the ids.
pub(super) type Finding = (Code, String, String, Vec<String>);

pub(super) struct Done {
    pub(super) state: State,
    pub(super) fields: Vec<FieldDone>,
    /// The change record: what happened, the type, the object.
    pub(super) changes: BTreeSet<(&'static str, String, String)>,
}

pub(super) struct FieldDone {
    pub(super) affected: BTreeSet<(String, String)>,
    /// What its objects are read from.
    pub(super) shown: State,
}

/// Carries out a mutation.
pub(super) fn carry_out(model: &Model<'_>, before: &State, request: &Request) -> Answer {
    let mut refused = Vec::new();
    let dry_runs: BTreeSet<bool> = request.fields.iter().map(|field| field.dry_run).collect();
    if dry_runs.len() > 1 {
        refused.push("DRY_RUN_MIXED");
    }
    for field in &request.fields {
        match &field.verb {
            Verb::Delete(selected, allow_all) if selected.is_all && !allow_all => {
                refused.push("WHERE_REQUIRED");
            }
            Verb::Update(_, Some(selected)) if selected.is_all => refused.push("WHERE_REQUIRED"),
            Verb::Delete(selected, _) | Verb::Update(_, Some(selected)) => {
                if let Err(codes) = select(model, before, field.object, selected) {
                    refused.extend(codes);
                }
            }
            _ => {}
        }
    }
    if !refused.is_empty() {
        return Answer::Refused(refused);
    }
    let mut writer = Writer {
        model,
        schema: model.schema,
        before,
        state: before.clone(),
        places: Vec::new(),
        created: BTreeMap::new(),
        named: BTreeMap::new(),
        deleted: BTreeMap::new(),
        touched: Vec::new(),
        references: Vec::new(),
        found: Findings::default(),
        denied: Denied::new(),
        not_found: HashSet::new(),
    };
    let prepared: Vec<Vec<Prepared>> = request.fields.iter().map(|f| writer.read(f)).collect();
    if !writer.denied.is_empty() {
        return Answer::Denied(writer.denied);
    }
    let mut fields = Vec::new();
    for (field, entries) in request.fields.iter().zip(&prepared) {
        fields.push(writer.field(field, entries));
    }
    writer.check(request);
    if !writer.denied.is_empty() {
        return Answer::Denied(writer.denied);
    }
    if !writer.found.input.is_empty() || !writer.found.data.is_empty() {
        return Answer::Wrong(writer.found);
    }
    let changes = writer.changes();
    let state = writer.state;
    let fields = fields.into_iter().map(|(affected, shown)| FieldDone {
        affected,
        shown: shown.unwrap_or_else(|| state.clone()),
    });
    Answer::Done(Done {
        fields: fields.collect(),
        changes,
        state: state.clone(),
    })
}

/// The objects that `where` selects.
fn select(
    model: &Model<'_>,
    state: &State,
    object: ObjectId,
    selected: &Where,
) -> Result<Vec<String>, Vec<&'static str>> {
    let root = root(model.schema, object);
    let quads: Vec<Quad> = state.iter().cloned().collect();
    let query = format!("{{ {root}(where: {}) {{ id }} }}", selected.text);
    match interpret(
        model,
        &Graph::new(&quads),
        &query,
        &serde_json::Map::new(),
        &[],
    ) {
        Read::Refused(codes) => Err(codes),
        Read::Data(Out::Object(mut roots), ..) => {
            // Nobody selects by what may not be read.
            let Some((_, Out::List { items, .. })) = roots.pop() else {
                return Err(vec!["ACCESS_DENIED"]);
            };
            let id = |item: &Out| match item {
                Out::Object(members) => match &members[0].1 {
                    Out::Leaf(Value::String(id)) => id.clone(),
                    other => panic!("no id: {other:?}"),
                },
                other => panic!("no object: {other:?}"),
            };
            Ok(items.iter().map(id).collect())
        }
        Read::Data(other, ..) => panic!("no data: {other:?}"),
    }
}

/// Where an entry stands.
struct Place {
    key: String,
    path: Vec<Value>,
    object: ObjectId,
    /// The object that it is about; `None` for those that `where` selects.
    id: Option<String>,
    /// The properties that something is given for.
    gives: Vec<String>,
}

/// An entry whose values are terms.
struct Prepared {
    place: usize,
    /// `None` when no object can have it.
    id: Option<String>,
    changes: Vec<(String, Change)>,
}

struct Change {
    /// All values are replaced but those that stay.
    sets: bool,
    /// This one is replaced; and where it stands.
    patch: Option<(Term, Vec<Value>)>,
    values: Vec<New>,
}

enum New {
    Term(Term),
    Reference(String, Vec<Value>),
    Object(Prepared),
}

/// An object and the property whose values changed, backwards for an `inverseAlias`.
#[derive(Clone, PartialEq)]
struct Step {
    object: String,
    iri: String,
    backwards: bool,
}

struct Touched {
    step: Step,
    place: usize,
    /// By what another property says.
    aside: bool,
    /// A value was added, whose ends the client has named.
    adds: bool,
}

/// How the values of a property change.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Create,
    Set,
    Add,
    Patch,
}

struct Writer<'a> {
    model: &'a Model<'a>,
    schema: &'a Schema,
    before: &'a State,
    state: State,
    places: Vec<Place>,
    created: BTreeMap<String, (ObjectId, usize)>,
    named: BTreeMap<String, ObjectId>,
    deleted: BTreeMap<String, ObjectId>,
    touched: Vec<Touched>,
    /// The place, the path of the property, the property, and what is referred to.
    references: Vec<(usize, Vec<Value>, &'a Property, String)>,
    found: Findings,
    denied: Denied,
    /// Places and properties of which nothing more is said, since something that they name is not there.
    not_found: HashSet<(usize, String)>,
}

type FieldResult = (BTreeSet<(String, String)>, Option<State>);

/// What is given, as far as no data are needed.
impl<'a> Writer<'a> {
    fn read(&mut self, field: &Field) -> Vec<Prepared> {
        let (entries, selects) = match &field.verb {
            Verb::Create(entries) => (entries, false),
            Verb::Update(entries, selected) => (entries, selected.is_some()),
            Verb::Delete(..) => {
                self.needs((field.object, "id", "delete"), &field.key, &[]);
                return Vec::new();
            }
        };
        let is_new = matches!(field.verb, Verb::Create(_));
        let mut all = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let path = vec![json!("objects"), json!(at)];
            if !is_new && entry.id.is_none() && !selects {
                self.input("ID_INVALID", &field.key, &path);
            }
            let mut possible = self
                .model
                .possible(self.model.range(field.object))
                .into_iter();
            if !is_new && !selects && !possible.any(|object| self.model.rights.reads(object, "id"))
            {
                let right = format!("read id of {}", self.name(field.object));
                self.deny(right, &field.key, &with(&path, &[json!("id")]));
            }
            let valid = |id: &String| NamedNode::new(id.as_str()).is_ok();
            if selects && entry.id.as_ref().is_some_and(valid) {
                self.input("INPUT_INVALID", &field.key, &with(&path, &[json!("id")]));
            }
            let prepared = self.entry(field.object, entry, is_new, (&field.key, path));
            if selects {
                self.places[prepared.place].id = None;
            }
            all.push(prepared);
        }
        if selects && entries.len() != 1 {
            self.input("INPUT_INVALID", &field.key, &[json!("objects")]);
        }
        all
    }

    fn entry(
        &mut self,
        object: ObjectId,
        entry: &Entry,
        is_new: bool,
        (key, path): (&str, Vec<Value>),
    ) -> Prepared {
        let place = self.places.len();
        let id_path = with(&path, &[json!("id")]);
        self.places.push(Place {
            key: key.to_owned(),
            path: path.clone(),
            object,
            id: None,
            gives: Vec::new(),
        });
        self.needs((object, "id", "write"), key, &id_path);
        let mut id = entry.id.clone();
        let valid = |id: &String| NamedNode::new(id.as_str()).is_ok();
        if id.as_ref().is_some_and(|id| !valid(id)) {
            self.input("ID_INVALID", key, &id_path);
            id = None;
        }
        let mut changes = Vec::new();
        for (name, member) in &entry.members {
            let property = self.property(object, name);
            let at = with(&path, &[json!(name)]);
            let manner = manner(property, member, is_new);
            self.needs_for((object, property, manner), key, &at);
            if !(is_new && matches!(member, Member::Null))
                && let Some(change) = self.member(property, member, is_new, (key, at))
            {
                changes.push((name.clone(), change));
            }
        }
        if is_new {
            id = self.new_id((object, place), id, &changes);
            if id.is_none() {
                self.input("ID_INVALID", key, &id_path);
                // What else is wrong with the object is found under any other id.
                id = Some(format!("urn:refused:{place}"));
            }
        }
        self.places[place].id.clone_from(&id);
        self.places[place].gives = changes.iter().map(|(name, _)| name.clone()).collect();
        Prepared { place, id, changes }
    }

    /// The id of a new object: given, or made of its values; `None` for one that it may not have.
    fn new_id(
        &self,
        (object, place): (ObjectId, usize),
        given: Option<String>,
        changes: &[(String, Change)],
    ) -> Option<String> {
        let of = &self.schema[object];
        let mut made = given.clone();
        if let Some(pattern) = &of.id_pattern {
            let (start, rest) = pattern.split_once("${").expect("a template");
            let (name, end) = rest.split_once('}').expect("a template");
            let change = changes.iter().find(|(changed, _)| changed == name);
            let [New::Term(Term::Literal(value))] = &change?.1.values[..] else {
                return None;
            };
            let escaped = value.value().replace('%', "%25").replace(' ', "%20");
            let start = of.id_prefix.clone().unwrap_or("http://e/".to_owned()) + start;
            made = Some(format!("{start}{escaped}{end}"));
        }
        let id = made.unwrap_or_else(|| format!("urn:made-up:{place}"));
        let matches = |regex: &String| regex::Regex::new(regex).expect("a pattern").is_match(&id);
        let fits = given.is_none_or(|given| given == id)
            && of
                .id_prefix
                .as_ref()
                .is_none_or(|prefix| id.starts_with(prefix.as_str()))
            && of.id_regex.as_ref().is_none_or(matches);
        fits.then_some(id)
    }

    fn member(
        &mut self,
        property: &Property,
        member: &Member,
        is_new: bool,
        (key, at): (&str, Vec<Value>),
    ) -> Option<Change> {
        let mut change = Change {
            sets: is_new || !property.max.is_multiple(),
            patch: None,
            values: Vec::new(),
        };
        match member {
            Member::Null => change.sets = true,
            Member::One(given) => self.given(property, given, &mut change, (key, &at)),
            Member::Many(all) => {
                for (index, given) in all.iter().enumerate() {
                    let at = with(&at, &[json!(index)]);
                    self.given(property, given, &mut change, (key, &at));
                }
            }
            Member::Change {
                value,
                patch,
                replace,
            } => {
                for (index, given) in value.iter().flatten().enumerate() {
                    let at = with(&at, &[json!("value"), json!(index)]);
                    self.given(property, given, &mut change, (key, &at));
                }
                change.sets = *replace;
                if let Some(patch) = patch {
                    if *replace {
                        self.input("INPUT_INVALID", key, &at);
                        return None;
                    } else {
                        // It need not be a value that could be given today.
                        match unchecked(self.schema, property, patch) {
                            Ok(term) => change.patch = Some((term, vec![json!("patch")])),
                            Err(code) => {
                                self.input(code, key, &with(&at, &[json!("patch")]));
                                return None;
                            }
                        }
                    }
                }
            }
            Member::References(items) => {
                let Range::Object(_) = property.range else {
                    panic!("no reference");
                };
                for (index, item) in items.iter().enumerate() {
                    let below = |name: &str| vec![json!(index), json!(name)];
                    for (place, id) in item.ids.iter().enumerate() {
                        let below = with(&below("ids"), &[json!(place)]);
                        match term(self.schema, property, &Given::Text(id.clone())) {
                            Ok(_) => change.values.push(New::Reference(id.clone(), below)),
                            Err(code) => self.input(code, key, &with(&at, &below)),
                        }
                    }
                    for (ty, entries) in &item.new {
                        let object = self.schema.object_named(ty).expect("a type");
                        for (place, entry) in entries.iter().enumerate() {
                            let path = with(&with(&at, &below(ty)), &[json!(place)]);
                            let entry = self.entry(object, entry, true, (key, path));
                            change.values.push(New::Object(entry));
                        }
                    }
                    change.sets |= item.replace;
                    if let Some(patch) = &item.patch {
                        let patched = NamedNode::new(patch.as_str()).map(Term::from);
                        match patched {
                            Ok(term) => change.patch = Some((term, below("patch"))),
                            Err(_) => {
                                self.input("VALUE_INVALID", key, &with(&at, &below("patch")));
                            }
                        }
                    }
                }
                if change.patch.is_some() && items.iter().any(|item| item.replace) {
                    self.input("INPUT_INVALID", key, &at);
                    return None;
                }
            }
        }
        Some(change)
    }

    fn given(
        &mut self,
        property: &Property,
        given: &Given,
        change: &mut Change,
        (key, at): (&str, &[Value]),
    ) {
        match term(self.schema, property, given) {
            Ok(term) => change.values.push(New::Term(term)),
            Err(code) => self.input(code, key, at),
        }
    }

    fn input(&mut self, code: Code, key: &str, path: &[Value]) {
        let finding = (code, key.to_owned(), json!(path).to_string(), Vec::new());
        self.found.input.insert(finding);
    }

    /// Notes what is wrong at an entry, or below it.
    fn data(&mut self, code: Code, place: usize, below: &[Value]) {
        let place = &self.places[place];
        let path = json!(with(&place.path, below)).to_string();
        let finding = (code, place.key.clone(), path, Vec::new());
        self.found.data.insert(finding);
    }

    fn may(&self, object: ObjectId, part: &str, operation: &str) -> bool {
        self.model.rights.may(object, part, operation)
    }

    fn deny(&mut self, right: String, key: &str, path: &[Value]) {
        let places = self.denied.entry(right).or_default();
        places.insert((key.to_owned(), json!(path).to_string()));
    }

    fn needs(
        &mut self,
        (object, part, operation): (ObjectId, &str, &str),
        key: &str,
        path: &[Value],
    ) {
        if !self.may(object, part, operation) {
            let right = format!("{operation} {part} of {}", self.name(object));
            self.deny(right, key, path);
        }
    }

    /// What is compared with stored values needs the right to read them.
    fn needs_for(
        &mut self,
        (object, property, manner): (ObjectId, &Property, Manner),
        key: &str,
        path: &[Value],
    ) {
        let name = &property.name.written;
        self.needs((object, name, "write"), key, path);
        if !self.may(object, name, "write") || manner == Manner::Create {
            return;
        }
        let reads = self.may(object, name, "read");
        let unique = || languages(self.schema, property).is_some_and(|rule| rule.unique);
        let what = match manner {
            Manner::Patch if !reads => "patch",
            _ if property.immutable && !(reads && self.shows_all(property)) => "immutable",
            Manner::Add if !reads && unique() => "unique",
            _ => return,
        };
        let right = format!("read {name} of {} for {what}", self.name(object));
        self.deny(right, key, path);
    }

    /// Returns whether all objects of a property's range are shown.
    fn shows_all(&self, property: &Property) -> bool {
        let Range::Object(range) = property.range else {
            return true;
        };
        let mut possible = self.model.possible(self.model.range(range)).into_iter();
        possible.all(|object| self.model.sees(object))
    }

    /// Returns whether the caller may name an object.
    fn finds(&self, id: &str, object: ObjectId) -> bool {
        let rights = &self.model.rights;
        self.created.contains_key(id) || self.model.sees(object) && rights.reads(object, "id")
    }

    fn is_shown(&self, value: &Term, range: ObjectId) -> bool {
        let quads: Vec<Quad> = self.state.iter().cloned().collect();
        let graph = Graph::new(&quads);
        !self
            .model
            .is_hidden(graph.union(), value, self.model.range(range))
    }

    /// Returns whether the caller may name a value.
    fn is_found(&self, property: &Property, value: &Term) -> bool {
        let (Range::Object(range), Term::NamedNode(node)) = (property.range, value) else {
            return true;
        };
        let quads: Vec<Quad> = self.state.iter().cloned().collect();
        let graph = Graph::new(&quads);
        let concrete = self
            .model
            .concrete(graph.union(), node.as_str(), self.model.range(range));
        let everything = self.model.rights.is_everything();
        everything || concrete.is_some_and(|object| self.finds(node.as_str(), object))
    }

    fn is_taken(&self, id: &str) -> bool {
        let is_about = |quad: &Quad| matches!(&quad.subject, NamedOrBlankNode::NamedNode(node) if node.as_str() == id);
        self.created.contains_key(id) && self.before.iter().any(is_about)
    }

    fn property(&self, object: ObjectId, name: &str) -> &'a Property {
        let mut props = self.schema[object].props.iter().map(|id| &self.schema[*id]);
        props
            .find(|property| property.name.graphql == name)
            .expect("a property")
    }
}

/// What is written.
impl<'a> Writer<'a> {
    fn field(&mut self, field: &Field, entries: &[Prepared]) -> FieldResult {
        let known: HashSet<String> = self.created.keys().cloned().collect();
        let mut affected = BTreeSet::new();
        let mut shown = None;
        let selected = match &field.verb {
            Verb::Create(_) => {
                entries
                    .iter()
                    .for_each(|entry| self.create(field.object, entry));
                Vec::new()
            }
            Verb::Update(_, None) => {
                let targets = entries
                    .iter()
                    .filter_map(|entry| Some((entry.id.clone()?, entry)));
                targets.collect()
            }
            Verb::Update(_, Some(_)) if entries.len() != 1 => Vec::new(),
            Verb::Update(_, Some(selected)) => {
                let ids = self.selected(field, selected);
                ids.into_iter().map(|id| (id, &entries[0])).collect()
            }
            Verb::Delete(selected, _) => {
                let ids = self.selected(field, selected);
                shown = Some(self.state.clone());
                for id in &ids {
                    self.delete(field, id, &mut affected);
                }
                Vec::new()
            }
        };
        let is_selected = matches!(&field.verb, Verb::Update(_, Some(_)));
        for (id, entry) in selected {
            match self.instance(&id, field.object) {
                Some(object) if entry.id.is_none() || is_selected || self.finds(&id, object) => {
                    self.update(entry, &id, object);
                    affected.insert((self.name(object), id));
                }
                _ => self.data("NOT_FOUND", entry.place, &[json!("id")]),
            }
        }
        for (id, (object, _)) in self.created.iter().filter(|(id, _)| !known.contains(*id)) {
            affected.insert((self.name(*object), id.clone()));
        }
        (affected, shown)
    }

    /// What `where` selects; what it lists must be there.
    fn selected(&mut self, field: &Field, selected: &Where) -> Vec<String> {
        for id in &selected.listed {
            let object = self.instance(id, field.object);
            if !object.is_some_and(|object| self.finds(id, object)) {
                let path = json!(["where", "ID"]).to_string();
                let finding = ("NOT_FOUND", field.key.clone(), path, Vec::new());
                self.found.data.insert(finding);
            }
        }
        if self.created.keys().any(|id| self.is_taken(id)) {
            return Vec::new();
        }
        select(self.model, &self.state, field.object, selected).unwrap_or_default()
    }

    fn create(&mut self, object: ObjectId, entry: &Prepared) {
        let Some(id) = &entry.id else { return };
        if let Some((_, first)) = self.created.get(id) {
            // An entry for several objects creates what is in it once, for all of them.
            if *first == entry.place {
                return;
            }
            return self.data("ID_NOT_AVAILABLE", entry.place, &[json!("id")]);
        }
        self.created.insert(id.clone(), (object, entry.place));
        for of in self.schema.lineage(object) {
            let of = &self.schema[of];
            for ty in &of.types {
                let ty = NamedNode::new_unchecked(ty);
                self.put(id, &of.type_prop, &ty.into());
            }
        }
        for (name, change) in &entry.changes {
            let property = self.property(object, name);
            self.add_values(entry.place, id, property, &change.values);
        }
    }

    fn update(&mut self, entry: &Prepared, id: &str, object: ObjectId) {
        self.named.insert(id.to_owned(), object);
        let place = &self.places[entry.place];
        let (key, path) = (place.key.clone(), place.path.clone());
        self.needs((object, "id", "write"), &key, &with(&path, &[json!("id")]));
        for (name, change) in &entry.changes {
            let property = self.property(object, name);
            let is_other = self.places[entry.place].object != object;
            if is_other {
                let manner = match change {
                    Change { patch: Some(_), .. } => Manner::Patch,
                    Change { sets: true, .. } => Manner::Set,
                    _ => Manner::Add,
                };
                let before = self.denied.len();
                let at = with(&path, &[json!(name)]);
                self.needs_for((object, property, manner), &key, &at);
                if self.denied.len() > before {
                    continue;
                }
            }
            let current = self.current(id, property);
            let removed: Vec<Term> = match (&change.patch, change.sets) {
                (Some((old, below)), _) => {
                    let is_old = |term: &&Term| same(property, term, old);
                    let is_old = |term: &&Term| is_old(term) && self.is_found(property, term);
                    let removed: Vec<Term> = current.iter().filter(is_old).cloned().collect();
                    if removed.is_empty() {
                        self.not_found.insert((entry.place, name.clone()));
                        let below = with(&[json!(name)], below);
                        self.data("VALUE_NOT_FOUND", entry.place, &below);
                    }
                    removed
                }
                (None, false) => Vec::new(),
                (None, true) => {
                    let new = terms(&change.values);
                    let stays = |term: &Term| stays(property, term, &new);
                    current.into_iter().filter(|term| !stays(term)).collect()
                }
            };
            for term in removed {
                self.change(entry.place, (id, property), &term, false);
            }
            self.add_values(entry.place, id, property, &change.values);
        }
    }

    fn add_values(&mut self, place: usize, id: &str, property: &'a Property, values: &[New]) {
        // All that is given for a new object is written, in both directions.
        let is_new = self.created.get(id).is_some_and(|(_, new)| *new == place);
        let mut known = if is_new {
            Vec::new()
        } else {
            self.current(id, property)
        };
        for value in values {
            match value {
                New::Term(_) => {}
                New::Reference(other, below) => {
                    let path = with(&[json!(property.name.graphql)], below);
                    self.references.push((place, path, property, other.clone()));
                }
                New::Object(entry) => self.create(self.places[entry.place].object, entry),
            }
        }
        for term in terms(values) {
            if !known.iter().any(|other| same(property, other, &term)) {
                self.change(place, (id, property), &term, true);
                known.push(term);
            }
        }
    }

    /// Adds or removes one value of a property, with all that follows from it.
    fn change(&mut self, place: usize, (id, property): (&str, &Property), term: &Term, adds: bool) {
        let node = Term::from(NamedNode::new_unchecked(id));
        let iri = property.path.iri();
        let backwards = matches!(property.path, Path::Inverse { .. });
        self.touch(place, (id, iri, backwards), (false, adds));
        let (subject, object) = if backwards {
            (term.clone(), node)
        } else {
            (node, term.clone())
        };
        let mut triples = vec![(subject.clone(), iri, object.clone(), backwards)];
        for partner in self.partners(iri) {
            triples.push((object.clone(), partner, subject.clone(), true));
        }
        for (subject, iri, object, aside) in triples {
            let Term::NamedNode(subject) = &subject else {
                continue;
            };
            if adds {
                self.put(subject.as_str(), iri, &object)
            } else {
                self.take(subject.as_str(), iri, &object)
            }
            self.touch(place, (subject.as_str(), iri, false), (aside, adds));
        }
    }

    fn touch(
        &mut self,
        place: usize,
        (object, iri, backwards): (&str, &str, bool),
        (aside, adds): (bool, bool),
    ) {
        let step = Step {
            object: object.to_owned(),
            iri: iri.to_owned(),
            backwards,
        };
        let is_own = |place: usize| {
            let place = &self.places[place];
            self.created.contains_key(object) && place.id.as_deref() == Some(object)
        };
        let own = is_own(place);
        let mut known = self.touched.iter().position(|touched| touched.step == step);
        // New objects are checked as a whole; what others write to them counts.
        known = known.filter(|known| own || !is_own(self.touched[*known].place));
        match known {
            Some(known) => self.touched[known].adds |= adds,
            None => {
                self.touched.retain(|touched| touched.step != step);
                self.touched.push(Touched {
                    step,
                    place,
                    aside,
                    adds,
                });
            }
        }
    }

    fn delete(&mut self, field: &Field, id: &str, affected: &mut BTreeSet<(String, String)>) {
        let Some(object) = self.instance(id, field.object) else {
            return;
        };
        self.needs((object, "id", "delete"), &field.key, &[]);
        self.deleted.insert(id.to_owned(), object);
        self.state.retain(|quad| !speaks_of(quad, id));
        affected.insert((self.name(object), id.to_owned()));
    }

    fn put(&mut self, subject: &str, iri: &str, object: &Term) {
        let graph = GraphName::DefaultGraph;
        let subject = NamedNode::new_unchecked(subject);
        let predicate = NamedNode::new_unchecked(iri);
        let quad = Quad::new(subject, predicate, object.clone(), graph);
        let is_same = |other: &Quad| {
            other.subject == quad.subject
                && other.predicate == quad.predicate
                && other.object == quad.object
        };
        if self.state.iter().any(is_same) {
            return;
        }
        // What the request has removed is there again where it was.
        let removed = self.before.iter().filter(|quad| is_same(quad)).cloned();
        let removed: Vec<Quad> = removed.collect();
        if removed.is_empty() {
            self.state.insert(quad);
        }
        self.state.extend(removed);
    }

    fn take(&mut self, subject: &str, iri: &str, object: &Term) {
        self.state
            .retain(|quad| !is_triple(quad, subject, iri, object));
    }

    /// The values of a property, each once.
    fn current(&self, id: &str, property: &Property) -> Vec<Term> {
        values(&self.state, id, property)
    }

    /// The predicates that hold in the opposite direction where one holds.
    fn partners(&self, iri: &str) -> Vec<&'a str> {
        let mut partners = Vec::new();
        for other in &self.schema.properties {
            let Path::Forward(own) = &other.path else {
                continue;
            };
            let inverse = other.inverse_of.map(|id| self.schema[id].path.iri());
            let symmetric = other.symmetric.then_some(own.as_str());
            for partner in inverse.into_iter().chain(symmetric) {
                if own == iri {
                    partners.push(partner);
                }
                if partner == iri {
                    partners.push(own.as_str());
                }
            }
        }
        partners
    }

    /// The concrete type of an instance of an object; a new one has the types that it is given.
    fn instance(&self, id: &str, object: ObjectId) -> Option<ObjectId> {
        let quads: Vec<Quad> = match self.created.get(id) {
            Some((created, _)) => {
                let node = NamedNode::new_unchecked(id);
                let lineage = self.schema.lineage(*created).map(|of| &self.schema[of]);
                let types = lineage.flat_map(|of| of.types.iter().map(move |ty| (of, ty)));
                let quads = types.map(|(of, ty)| {
                    let property = NamedNode::new_unchecked(of.type_prop.as_str());
                    let ty = NamedNode::new_unchecked(ty.as_str());
                    Quad::new(node.clone(), property, ty, GraphName::DefaultGraph)
                });
                quads.collect()
            }
            None => self.state.iter().cloned().collect(),
        };
        let graph = Graph::new(&quads);
        let ty = self.model.range(object);
        let is_instance = self.model.is_instance(graph.union(), id, ty);
        is_instance
            .then(|| self.model.concrete(graph.union(), id, ty))
            .flatten()
    }

    fn name(&self, object: ObjectId) -> String {
        self.schema[object].name.graphql.clone()
    }
}

/// What must hold at the end.
impl Writer<'_> {
    fn check(&mut self, request: &Request) {
        for (place, path, property, id) in std::mem::take(&mut self.references) {
            let Range::Object(range) = property.range else {
                continue;
            };
            if self.is_taken(&id) {
                continue;
            }
            let found = self.instance(&id, range);
            match found.filter(|object| self.finds(&id, *object)) {
                Some(object) => self.check_other_side(place, property, &id, object),
                None => {
                    self.data("REFERENCE_NOT_FOUND", place, &path);
                    self.not_found
                        .insert((place, property.name.graphql.clone()));
                }
            }
        }
        for (id, (object, place)) in self.created.clone() {
            if self.is_taken(&id) {
                self.data("ID_NOT_AVAILABLE", place, &[json!("id")]);
                continue;
            }
            if self.deleted.contains_key(&id) {
                continue;
            }
            for property in self.schema[object].props.clone() {
                self.check_values(&id, (object, &self.schema[property]), (place, true));
            }
        }
        for touched in std::mem::take(&mut self.touched) {
            self.check_touched(&touched);
            self.touched.push(touched);
        }
        self.check_deleted(request);
    }

    /// The right to the property of the other object, whether or not the triple is there already.
    fn check_other_side(&mut self, place: usize, property: &Property, id: &str, object: ObjectId) {
        if self.is_own(place, id) {
            return;
        }
        let predicates = match &property.path {
            Path::Inverse { iri, .. } => vec![iri.as_str()],
            Path::Forward(iri) => self.partners(iri),
        };
        let (key, path) = (
            self.places[place].key.clone(),
            self.places[place].path.clone(),
        );
        for property in self.schema[object].props.iter().map(|id| &self.schema[*id]) {
            let Path::Forward(iri) = &property.path else {
                continue;
            };
            let gives = |(_, own): &(ObjectId, usize)| {
                self.places[*own].gives.contains(&property.name.graphql)
            };
            let created = self.created.get(id);
            if predicates.contains(&iri.as_str()) && !created.is_some_and(gives) {
                let manner = match created {
                    Some(_) => Manner::Create,
                    None => Manner::Add,
                };
                self.needs_for((object, property, manner), &key, &path);
            }
        }
    }

    fn is_own(&self, place: usize, id: &str) -> bool {
        match &self.places[place].id {
            Some(own) => own == id,
            None => self.named.contains_key(id),
        }
    }

    fn check_touched(&mut self, touched: &Touched) {
        let Step {
            object: id,
            iri,
            backwards,
        } = &touched.step;
        let created = self.created.get(id).map(|(object, _)| *object);
        let Some(object) = created.or_else(|| self.type_of(id)) else {
            return;
        };
        if self.deleted.contains_key(id) || self.is_taken(id) {
            return;
        }
        let is_own = self.is_own(touched.place, id);
        for property in self.schema[object].props.clone() {
            let property = &self.schema[property];
            let inverse = matches!(property.path, Path::Inverse { .. });
            if property.path.iri() != iri || inverse != *backwards {
                continue;
            }
            let gives = |own: usize| self.places[own].gives.contains(&property.name.graphql);
            if self.created.get(id).is_some_and(|(_, own)| gives(*own)) {
                continue;
            }
            let name = &property.name.written;
            let reads = || self.model.sees(object) && self.may(object, name, "read");
            let is_known = if touched.adds {
                self.finds(id, object)
            } else {
                reads()
            };
            if !is_own && created.is_none() && !is_known {
                if !touched.adds {
                    self.check_unknown(id, (object, property), touched.place);
                }
                continue;
            }
            if created.is_none() {
                self.check_values(id, (object, property), (touched.place, is_own));
            }
            if touched.aside && !is_own {
                let manner = match (created, touched.adds) {
                    (Some(_), _) => Manner::Create,
                    (None, true) => Manner::Add,
                    (None, false) => Manner::Set,
                };
                let place = &self.places[touched.place];
                let (key, path) = (place.key.clone(), place.path.clone());
                self.needs_for((object, property, manner), &key, &path);
            }
        }
    }

    /// What an object needs that the caller is not shown: nothing is said but that there is one.
    fn check_unknown(&mut self, id: &str, (object, property): (ObjectId, &Property), place: usize) {
        let now = self.current(id, property);
        let is_final =
            property.immutable && !alike(property, &values(self.before, id, property), &now);
        let is_denied = !self.may(object, &property.name.written, "write");
        if is_denied || is_final || count(property, &now) < property.min as usize {
            self.data("REFERENCED", place, &[]);
        }
    }

    /// How many values a property has, and how many of them count for what it must have.
    fn amount(&self, id: &str, object: ObjectId, property: &Property) -> (usize, usize) {
        let now = self.current(id, property);
        let all = count(property, &now);
        let is_given = self.created.contains_key(id) && matches!(property.path, Path::Forward(_));
        let Range::Object(range) = property.range else {
            return (all, all);
        };
        if is_given || !self.may(object, &property.name.written, "read") {
            return (all, all);
        }
        let before = values(self.before, id, property);
        let shown = now
            .into_iter()
            .filter(|value| !before.contains(value) || self.is_shown(value, range));
        let shown: Vec<Term> = shown.collect();
        (all, count(property, &shown))
    }

    fn check_values(
        &mut self,
        id: &str,
        (object, property): (ObjectId, &Property),
        (place, is_own): (usize, bool),
    ) {
        let name = &property.name.graphql;
        if self.not_found.contains(&(place, name.clone())) {
            return;
        }
        let now = self.current(id, property);
        let (all, least) = self.amount(id, object, property);
        let mut codes = Vec::new();
        if least < property.min as usize {
            codes.push("MIN_VIOLATED");
        }
        if matches!(property.max, Max::Count(max) if all > max as usize) {
            codes.push("MAX_VIOLATED");
        }
        let is_new = self.created.contains_key(id);
        let reads = self.may(object, &property.name.written, "read");
        let mut tags = HashSet::new();
        if languages(self.schema, property).is_some_and(|rule| rule.unique)
            && (is_new || reads || property.max.is_multiple())
            && !now.iter().filter_map(tag).all(|tag| tags.insert(tag))
        {
            codes.push("LANG_NOT_UNIQUE");
        }
        let was = values(self.before, id, property);
        let is_final = property.immutable && reads && self.shows_all(property);
        if is_final && !is_new && !was.is_empty() && !alike(property, &was, &now) {
            codes.push("IMMUTABLE");
        }
        let mut props = self.schema[self.places[place].object].props.iter();
        let has_it = props.any(|id| self.schema[*id].name.graphql == *name);
        let below = (is_own && has_it).then(|| json!(name));
        let below: Vec<Value> = below.into_iter().collect();
        codes
            .into_iter()
            .for_each(|code| self.data(code, place, &below));
    }

    /// What leads to deleted objects must do without them.
    fn check_deleted(&mut self, request: &Request) {
        let mut fields = request.fields.iter();
        let Some(field) = fields.find(|field| matches!(field.verb, Verb::Delete(..))) else {
            return;
        };
        let (mut ids, mut is_needed) = (BTreeSet::new(), false);
        for (id, iri, _) in self.changed() {
            let step = Step {
                object: id.clone(),
                iri: iri.clone(),
                backwards: false,
            };
            let is_gone = self.deleted.contains_key(&id) || self.created.contains_key(&id);
            if is_gone || self.touched.iter().any(|touched| touched.step == step) {
                continue;
            }
            let Some(object) = self.type_of(&id) else {
                continue;
            };
            for property in self.schema[object].props.iter().map(|id| &self.schema[*id]) {
                let is_it = matches!(&property.path, Path::Forward(own) if *own == iri);
                let (_, least) = self.amount(&id, object, property);
                if is_it && least < property.min as usize {
                    is_needed = true;
                    if self.finds(&id, object) && self.may(object, &property.name.written, "read") {
                        ids.insert(id.clone());
                    }
                }
            }
        }
        if is_needed {
            let ids = ids.into_iter().collect();
            let finding = ("REFERENCED", field.key.clone(), "[]".to_owned(), ids);
            self.found.data.insert(finding);
        }
    }

    /// The triples that are there before or afterwards only.
    fn changed(&self) -> BTreeSet<(String, String, String)> {
        let triples = |state: &State| -> BTreeSet<(String, String, String)> {
            let named = state.iter().filter_map(|quad| match &quad.subject {
                NamedOrBlankNode::NamedNode(subject) => Some((subject, quad)),
                NamedOrBlankNode::BlankNode(_) => None,
            });
            let text = |object: &Term| match object {
                Term::NamedNode(node) => node.as_str().to_owned(),
                other => other.to_string(),
            };
            named
                .map(|(subject, quad)| {
                    let predicate = quad.predicate.as_str().to_owned();
                    (subject.as_str().to_owned(), predicate, text(&quad.object))
                })
                .collect()
        };
        let (before, after) = (triples(self.before), triples(&self.state));
        before.symmetric_difference(&after).cloned().collect()
    }

    /// The change record: also objects whose triples changed because of another object.
    fn changes(&self) -> BTreeSet<(&'static str, String, String)> {
        let mut changes = BTreeSet::new();
        for (id, (object, _)) in &self.created {
            if !self.deleted.contains_key(id) {
                changes.insert(("created", self.name(*object), id.clone()));
            }
        }
        for (id, object) in &self.deleted {
            if !self.created.contains_key(id) {
                changes.insert(("deleted", self.name(*object), id.clone()));
            }
        }
        for (subject, _, object) in self.changed() {
            let ends = [
                Some(&subject),
                self.named.contains_key(&object).then_some(&object),
            ];
            for id in ends.into_iter().flatten() {
                let is_other = self.created.contains_key(id) || self.deleted.contains_key(id);
                if let Some(object) = self.type_of(id).filter(|_| !is_other) {
                    changes.insert(("updated", self.name(object), id.clone()));
                }
            }
        }
        changes
    }

    fn type_of(&self, id: &str) -> Option<ObjectId> {
        let named = self.named.get(id).copied();
        named.or_else(|| {
            let quads: Vec<Quad> = self.state.iter().cloned().collect();
            self.model.concrete(Graph::new(&quads).union(), id, Ty::Any)
        })
    }
}

/// Returns whether two lists hold the same values.
fn alike(property: &Property, a: &[Term], b: &[Term]) -> bool {
    let within = |a: &[Term], b: &[Term]| a.iter().all(|a| b.iter().any(|b| same(property, a, b)));
    within(a, b) && within(b, a)
}

/// Tells how what is given for a property changes its values.
fn manner(property: &Property, member: &Member, is_new: bool) -> Manner {
    let (patches, replaces) = match member {
        Member::Change { patch, replace, .. } => (patch.is_some(), *replace),
        Member::References(items) => (
            items.iter().any(|item| item.patch.is_some()),
            items.iter().any(|item| item.replace),
        ),
        _ => (false, false),
    };
    match member {
        _ if is_new => Manner::Create,
        Member::Null => Manner::Set,
        _ if patches => Manner::Patch,
        _ if property.max.is_multiple() && !replaces => Manner::Add,
        _ => Manner::Set,
    }
}

fn with(path: &[Value], below: &[Value]) -> Vec<Value> {
    path.iter().chain(below).cloned().collect()
}

fn terms(values: &[New]) -> Vec<Term> {
    let node = |id: &String| Term::from(NamedNode::new_unchecked(id.clone()));
    let terms = values.iter().filter_map(|value| match value {
        New::Term(term) => Some(term.clone()),
        New::Reference(id, _) => Some(node(id)),
        New::Object(entry) => entry.id.as_ref().map(node),
    });
    terms.collect()
}

/// Returns whether a value is left when new ones take the place of all: those that are among the new
/// ones, and of a single-valued text those in other languages.
fn stays(property: &Property, old: &Term, new: &[Term]) -> bool {
    let language = |term: &Term| tag(term).filter(|tag| !tag.is_empty());
    let is_text = !property.max.is_multiple() && matches!(property.range, Range::Literal(_));
    let beside = |new: &Term| {
        language(old).is_some() && language(new).is_some() && language(old) != language(new)
    };
    new.iter().any(|new| same(property, old, new))
        || (is_text && !new.is_empty() && new.iter().all(beside))
}

/// How many values a property has: those that are shown alike count once, and so do the languages of a
/// single-valued text.
fn count(property: &Property, values: &[Term]) -> usize {
    let mut distinct: Vec<&Term> = Vec::new();
    for value in values {
        if !distinct.iter().any(|other| same(property, other, value)) {
            distinct.push(value);
        }
    }
    let language = |term: &&Term| tag(term).filter(|tag| !tag.is_empty());
    let mut languages: BTreeMap<String, usize> = BTreeMap::new();
    for value in &distinct {
        match language(value) {
            Some(tag) if property.max == Max::Count(1) => *languages.entry(tag).or_default() += 1,
            _ => return distinct.len(),
        }
    }
    languages.into_values().max().unwrap_or_default()
}

fn values(state: &State, id: &str, property: &Property) -> Vec<Term> {
    let node = Term::from(NamedNode::new_unchecked(id));
    let mut values: Vec<Term> = Vec::new();
    for quad in state
        .iter()
        .filter(|quad| quad.predicate.as_str() == property.path.iri())
    {
        let subject = Term::from(quad.subject.clone());
        let (from, value) = match property.path {
            Path::Forward(_) => (&subject, &quad.object),
            Path::Inverse { .. } => (&quad.object, &subject),
        };
        if *from == node && !value.is_blank_node() && !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

fn is_triple(quad: &Quad, subject: &str, iri: &str, object: &Term) -> bool {
    quad.predicate.as_str() == iri
        && quad.object == *object
        && matches!(&quad.subject, NamedOrBlankNode::NamedNode(node) if node.as_str() == subject)
}

fn speaks_of(quad: &Quad, id: &str) -> bool {
    let is_it = |node: &NamedNode| node.as_str() == id;
    matches!(&quad.subject, NamedOrBlankNode::NamedNode(node) if is_it(node))
        || matches!(&quad.object, Term::NamedNode(node) if is_it(node))
}
