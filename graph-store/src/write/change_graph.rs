//! Change records as RDF, for stores that keep them among their quads.
//!
//! Records are in a named graph of their own, [`GRAPH`], which no selection, hydration or listing may
//! read. One node stands for each record: a triple for its sequence, its time, its request and, where
//! the client gave one, its key and its digest; and one triple per changed object, whose predicate
//! says what happened to it and of what type it is.
//!
//! ```text
//! <urn:graph-store:changes/request/7f3a>
//!     <urn:graph-store:changes#sequence> 17 ;
//!     <urn:graph-store:changes#time> "2026-03-01T12:00:00.25Z"^^xsd:dateTime ;
//!     <urn:graph-store:changes#request> "7f3a" ;
//!     <urn:graph-store:changes#idempotencyKey> "order 4711" ;
//!     <urn:graph-store:changes#digest> "9c1185a5" ;
//!     <urn:graph-store:changes/updated/Planet> <https://example.org/mars> .
//! ```
//!
//! The highest sequence whose record was forgotten is kept, so that the sequence goes on after all
//! records are gone.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

#[cfg(feature = "remote")]
use oxrdf::GraphName;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, Triple};
use oxsdatatypes::{DateTime, DayTimeDuration};

use super::record::{ChangeKind, ChangeRecord, ChangedObjects, NewRecord};

/// The graph that records are in.
pub const GRAPH: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("urn:graph-store:changes");

/// Returns whether a quad is one of change records.
#[cfg(feature = "image")]
pub(crate) fn is_record(quad: &Quad) -> bool {
    quad.graph_name.as_ref() == GRAPH.into()
}

/// What the names of graphs begin with in which writers of a server race to find out whether it keeps them apart.
/// Such a graph is removed at the end; one of a process that was killed is left.
#[cfg(feature = "remote")]
pub(crate) const PROBE: &str = "urn:graph-store:probe:";

/// Returns whether a quad is one that a store of this crate has written for itself, of whatever process.
#[cfg(feature = "remote")]
pub(crate) fn is_own(quad: &Quad) -> bool {
    match &quad.graph_name {
        GraphName::NamedNode(graph) => graph.as_ref() == GRAPH || graph.as_str().starts_with(PROBE),
        _ => false,
    }
}

/// Leads from the node of a record to its sequence, an `xsd:integer`.
pub const SEQUENCE: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("urn:graph-store:changes#sequence");

/// Leads from the node of a record to its time, an `xsd:dateTime` in UTC.
pub const TIME: NamedNodeRef<'static> = NamedNodeRef::new_unchecked("urn:graph-store:changes#time");

/// Leads from the node of a record to the identifier of the attempt, an `xsd:string`.
pub const REQUEST: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("urn:graph-store:changes#request");

/// Leads from the node of a record to the key by which the client repeats the request, an
/// `xsd:string`.
pub const IDEMPOTENCY_KEY: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("urn:graph-store:changes#idempotencyKey");

/// Leads from the node of a record to the digest of the request, an `xsd:string`; absent if empty.
pub const DIGEST: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("urn:graph-store:changes#digest");

/// Leads from [`GRAPH`] to the highest sequence whose record was forgotten, an `xsd:integer`.
pub const FORGOTTEN: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("urn:graph-store:changes#forgotten");

/// Leads from [`GRAPH`] to a word that is replaced whenever a process begins to write by transactions of
/// a server, an `xsd:string`.
pub const WRITER: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("urn:graph-store:changes#writer");

/// The start of the IRIs of nodes and of predicates that lead to objects.
const PATH: &str = "urn:graph-store:changes/";

/// Triples of the change graph that are not those of a complete record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the change graph contains no complete record at {node}")]
#[non_exhaustive]
pub struct InvalidRecord {
    /// The subject of the triples.
    pub node: String,
}

/// Returns the node of the record of a request.
#[must_use]
pub fn node(request: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{PATH}request/{}", encoded(request)))
}

/// Returns the predicate that leads to objects of a type to which something happened.
#[must_use]
pub fn predicate(kind: ChangeKind, object_type: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{PATH}{}/{}", kind.name(), encoded(object_type)))
}

/// Returns the literal of a sequence.
#[must_use]
pub fn sequence(sequence: u64) -> Literal {
    Literal::new_typed_literal(sequence.to_string(), xsd::INTEGER)
}

/// Returns the literal of a time, to the nanosecond.
#[must_use]
pub fn time(time: SystemTime) -> Literal {
    let span = |span: Duration| DayTimeDuration::try_from(span).ok();
    let shown = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => span(after).and_then(|after| epoch().checked_add_day_time_duration(after)),
        Err(error) => {
            span(error.duration()).and_then(|before| epoch().checked_sub_day_time_duration(before))
        }
    };
    let shown = shown.expect("the range of xsd:dateTime is larger than that of system times");
    Literal::new_typed_literal(shown.to_string(), xsd::DATE_TIME)
}

/// Returns the quads of a record.
#[must_use]
pub fn quads(record: &ChangeRecord) -> Vec<Quad> {
    let said = &record.said;
    let node = node(&said.request);
    let text = |text: &String| Some(Literal::new_simple_literal(text));
    let values = [
        (SEQUENCE, Some(sequence(record.sequence))),
        (TIME, Some(time(said.time))),
        (REQUEST, text(&said.request)),
        (
            IDEMPOTENCY_KEY,
            said.idempotency_key.as_ref().and_then(text),
        ),
        (
            DIGEST,
            Some(&said.digest)
                .filter(|digest| !digest.is_empty())
                .and_then(text),
        ),
    ];
    let values = values
        .into_iter()
        .filter_map(|(property, value)| Some(Quad::new(node.clone(), property, value?, GRAPH)));
    let objects = said.changes.iter().flat_map(|change| {
        let predicate = predicate(change.kind, &change.object_type);
        let objects = change.objects.iter().cloned();
        let node = &node;
        objects.map(move |object| Quad::new(node.clone(), predicate.clone(), object, GRAPH))
    });
    values.chain(objects).collect()
}

/// Returns the quad that keeps the highest sequence whose record was forgotten.
#[must_use]
pub fn forgotten(up_to: u64) -> Quad {
    Quad::new(GRAPH, FORGOTTEN, sequence(up_to), GRAPH)
}

/// Returns the sequence that a literal stands for.
#[must_use]
pub fn as_sequence(term: &Term) -> Option<u64> {
    match term {
        Term::Literal(literal) if literal.datatype() == xsd::INTEGER => {
            literal.value().parse().ok()
        }
        _ => None,
    }
}

/// Returns the time that a literal stands for.
#[must_use]
pub fn as_time(term: &Term) -> Option<SystemTime> {
    let Term::Literal(literal) = term else {
        return None;
    };
    let time = DateTime::from_str(literal.value()).ok()?;
    let (after, before) = (time.checked_sub(epoch())?, epoch().checked_sub(time)?);
    match Duration::try_from(after) {
        Ok(after) => SystemTime::UNIX_EPOCH.checked_add(after),
        Err(_) => SystemTime::UNIX_EPOCH.checked_sub(Duration::try_from(before).ok()?),
    }
}

/// Returns the records that triples of the change graph say, in ascending order of their sequence.
///
/// All triples of each record must be given, in any order. Those about [`GRAPH`] itself are skipped.
///
/// # Errors
/// When a record is not complete, or a term is not what it must be.
pub fn records(
    triples: impl IntoIterator<Item = Triple>,
) -> Result<Vec<ChangeRecord>, InvalidRecord> {
    let mut parts: BTreeMap<String, Parts> = BTreeMap::new();
    for triple in triples {
        let NamedOrBlankNode::NamedNode(node) = triple.subject else {
            let node = triple.subject.to_string();
            return Err(InvalidRecord { node });
        };
        if node == GRAPH {
            continue;
        }
        let node = node.into_string();
        if !parts.contains_key(&node) {
            parts.insert(node.clone(), Parts::default());
        }
        let known = parts.get_mut(&node);
        if known
            .and_then(|part| part.add(&triple.predicate, triple.object))
            .is_none()
        {
            return Err(InvalidRecord { node });
        }
    }
    let records = parts
        .into_iter()
        .map(|(node, part)| part.record().ok_or(InvalidRecord { node }));
    let mut records: Vec<ChangeRecord> = records.collect::<Result<_, _>>()?;
    records.sort_by_key(|record| record.sequence);
    Ok(records)
}

/// What has been read of a record.
#[derive(Default)]
struct Parts {
    sequence: Option<u64>,
    time: Option<SystemTime>,
    request: Option<String>,
    key: Option<String>,
    digest: Option<String>,
    changes: Vec<ChangedObjects>,
}

impl Parts {
    /// Adds a value; returns `None` if it is not what the predicate leads to.
    fn add(&mut self, predicate: &NamedNode, value: Term) -> Option<()> {
        let predicate = predicate.as_ref();
        if predicate == SEQUENCE {
            self.sequence = Some(as_sequence(&value)?);
        } else if predicate == TIME {
            self.time = Some(as_time(&value)?);
        } else if [REQUEST, IDEMPOTENCY_KEY, DIGEST].contains(&predicate) {
            let Term::Literal(text) = value else {
                return None;
            };
            let place = match predicate {
                REQUEST => &mut self.request,
                IDEMPOTENCY_KEY => &mut self.key,
                _ => &mut self.digest,
            };
            *place = Some(text.destruct().0);
        } else {
            let (kind, object_type) = predicate.as_str().strip_prefix(PATH)?.split_once('/')?;
            let Term::NamedNode(object) = value else {
                return None;
            };
            let kind = ChangeKind::ALL
                .into_iter()
                .find(|known| known.name() == kind)?;
            self.changes.push(ChangedObjects {
                kind,
                object_type: decoded(object_type)?,
                objects: vec![object],
            });
        }
        Some(())
    }

    fn record(self) -> Option<ChangeRecord> {
        let said = NewRecord {
            request: self.request?,
            idempotency_key: self.key,
            digest: self.digest.unwrap_or_default(),
            time: self.time?,
            changes: self.changes,
        };
        Some(ChangeRecord {
            sequence: self.sequence?,
            said: said.grouped(),
        })
    }
}

fn epoch() -> DateTime {
    DateTime::from_str("1970-01-01T00:00:00Z").expect("a time in its lexical form")
}

/// Percent-encodes all but letters, digits, `-`, `_` and `~`.
///
/// A dot is encoded too, since a segment of dots would be resolved as a path.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Reverts [`encoded`]; `None` for what it does not return.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        decoded.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use oxrdf::{NamedNode, Triple};
    use proptest::prelude::*;

    use super::*;

    fn objects() -> impl Strategy<Value = Vec<NamedNode>> {
        let object = (0u8..9).prop_map(|at| NamedNode::new_unchecked(format!("http://e/{at}")));
        prop::collection::vec(object, 0..5)
    }

    fn changes() -> impl Strategy<Value = Vec<ChangedObjects>> {
        let kind = prop::sample::select(&ChangeKind::ALL[..]);
        let change = (kind, "\\PC{0,6}", objects());
        let change = change.prop_map(|(kind, object_type, objects)| ChangedObjects {
            kind,
            object_type,
            objects,
        });
        prop::collection::vec(change, 0..5)
    }

    fn time_near_now() -> impl Strategy<Value = SystemTime> {
        (any::<bool>(), 0u64..1 << 36, 0u32..1_000_000_000).prop_map(|(later, seconds, nanos)| {
            let span = Duration::new(seconds, nanos);
            if later {
                SystemTime::UNIX_EPOCH + span
            } else {
                SystemTime::UNIX_EPOCH - span
            }
        })
    }

    fn record() -> impl Strategy<Value = ChangeRecord> {
        let said = (
            "\\PC{0,9}",
            prop::option::of("\\PC{0,9}"),
            "\\PC{0,9}",
            time_near_now(),
            changes(),
        );
        (any::<u64>(), said).prop_map(|(sequence, said)| {
            let (request, idempotency_key, digest, time, changes) = said;
            let said = NewRecord {
                request,
                idempotency_key,
                digest,
                time,
                changes,
            };
            ChangeRecord {
                sequence,
                said: said.grouped(),
            }
        })
    }

    fn triples(records: &[ChangeRecord]) -> Vec<Triple> {
        records.iter().flat_map(quads).map(Triple::from).collect()
    }

    proptest! {
        #[test]
        fn records_come_back_as_they_were(
            some in prop::collection::vec(record(), 0..4), seed in any::<prop::sample::Index>(),
        ) {
            let mut some = some;
            some.sort_by_key(|record| record.sequence);
            some.dedup_by(|a, b| a.sequence == b.sequence);
            let mut requests = std::collections::HashSet::new();
            some.retain(|record| requests.insert(record.said.request.clone()));
            let mut triples = triples(&some);
            triples.push(forgotten(7).into());
            let middle = seed.index(triples.len());
            triples.rotate_left(middle);
            prop_assert_eq!(records(triples), Ok(some));
        }

        #[test]
        fn each_quad_is_in_the_change_graph_and_can_be_written_down(one in record()) {
            for quad in quads(&one) {
                prop_assert_eq!(quad.graph_name.as_ref(), GRAPH.into());
                prop_assert!(NamedNode::new(quad.predicate.as_str()).is_ok(), "{}", quad);
                let NamedOrBlankNode::NamedNode(node) = &quad.subject else {
                    return Err(TestCaseError::fail("a blank node"));
                };
                prop_assert!(NamedNode::new(node.as_str()).is_ok(), "{}", quad);
                prop_assert!(!node.as_str().contains('.'), "{}", quad);
            }
        }
    }

    #[test]
    fn what_is_not_a_complete_record_is_an_error() {
        let said = NewRecord {
            request: "r/1".to_owned(),
            idempotency_key: None,
            digest: String::new(),
            time: SystemTime::UNIX_EPOCH,
            changes: Vec::new(),
        };
        let record = ChangeRecord { sequence: 1, said };
        let whole = triples(std::slice::from_ref(&record));
        assert_eq!(whole.len(), 3);
        assert_eq!(records(whole.clone()), Ok(vec![record]));
        for lacking in 0..whole.len() {
            let mut rest = whole.clone();
            rest.remove(lacking);
            let error = records(rest).expect_err("something is lacking");
            assert_eq!(error.node, "urn:graph-store:changes/request/r%2F1");
        }
        let node = node("r/1");
        for (predicate, object) in [
            (
                "urn:graph-store:changes/renamed/A",
                Term::from(node.clone()),
            ),
            ("urn:graph-store:changes/created/A", sequence(1).into()),
            (
                "urn:graph-store:changes/created/%F",
                Term::from(node.clone()),
            ),
            (
                "urn:graph-store:changes#sequence",
                Literal::from("one").into(),
            ),
            ("http://e/p", Term::from(node.clone())),
        ] {
            let predicate = NamedNode::new_unchecked(predicate);
            let mut more = whole.clone();
            more.push(Triple::new(node.clone(), predicate.clone(), object));
            assert!(records(more).is_err(), "{predicate}");
        }
    }

    #[test]
    fn times_are_of_the_form_that_filters_compare() {
        let at = |seconds, nanos| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos);
        let shown = |at| time(at).value().to_owned();
        assert_eq!(
            shown(at(1_772_366_400, 250_000_000)),
            "2026-03-01T12:00:00.25Z"
        );
        assert_eq!(shown(at(0, 1)), "1970-01-01T00:00:00.000000001Z");
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(shown(before), "1969-12-31T23:59:59Z");
    }
}
