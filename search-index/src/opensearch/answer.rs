//! Answers to searches, read without a tree of the documents in them.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::fields::{Kind, SortKey, scalar};
use crate::dsl::{Aggregation, AggregationKind, Counted, ROOTS, Search, TermsAggregation};
use crate::engine::{AggregationAnswer, AggregationContent, Answer, Bucket, Hit, Total};
use crate::mapping::IndexDefinition;

/// How to read the answer to a search.
#[derive(Debug)]
pub(super) struct Form {
    sort: Vec<SortKey>,
    aggregations: Vec<AggregationForm>,
}

/// How to read the answer to an aggregation.
#[derive(Debug)]
struct AggregationForm {
    name: String,
    /// How to read the buckets; `None` if there are none.
    terms: Option<TermsForm>,
    aggregations: Vec<AggregationForm>,
}

/// How to read buckets.
#[derive(Debug)]
struct TermsForm {
    /// Of their keys.
    kind: Kind,
    counts: Counted,
    /// What is chosen among them here: the least count, and how many.
    choice: Option<(u64, usize)>,
}

impl TermsForm {
    fn new(index: &IndexDefinition, terms: &TermsAggregation) -> Self {
        let size = usize::try_from(terms.size).unwrap_or(usize::MAX);
        let choice = terms.is_chosen_after();
        TermsForm {
            kind: Kind::of(index, &terms.field),
            counts: terms.counts,
            choice: choice.then_some((terms.min_doc_count, size)),
        }
    }
}

#[derive(Deserialize)]
struct RawAnswer<'a> {
    took: u64,
    timed_out: bool,
    #[serde(rename = "_shards")]
    shards: Shards,
    #[serde(borrow)]
    hits: RawHits<'a>,
    #[serde(default)]
    aggregations: HashMap<String, Json>,
}

/// How many shards answered.
#[derive(Deserialize)]
pub(super) struct Shards {
    total: u32,
    failed: u32,
}

impl Shards {
    /// Checks that all of them did.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Shards { failed: 0, .. } => Ok(()),
            Shards { total, failed } => Err(format!("{failed} of {total} shards failed")),
        }
    }
}

#[derive(Deserialize)]
struct RawHits<'a> {
    total: Option<RawTotal>,
    max_score: Option<f64>,
    #[serde(borrow)]
    hits: Vec<RawHit<'a>>,
}

#[derive(Deserialize)]
struct RawTotal {
    value: u64,
    relation: String,
}

#[derive(Deserialize)]
struct RawHit<'a> {
    #[serde(borrow, rename = "_id")]
    id: Cow<'a, str>,
    #[serde(rename = "_score")]
    score: Option<f64>,
    #[serde(default)]
    sort: Vec<Json>,
    #[serde(borrow, rename = "_source")]
    source: Option<&'a RawValue>,
}

impl Form {
    pub(super) fn new(index: &IndexDefinition, search: &Search) -> Self {
        let sort = search.sort.iter().map(|sort| SortKey::new(index, sort));
        Form {
            sort: sort.collect(),
            aggregations: forms(index, &search.aggregations),
        }
    }

    /// Returns the values that are sent as `search_after` where a search has none.
    pub(super) fn sort(&self) -> &[SortKey] {
        &self.sort
    }

    /// Writes a search whose answer is read by this form.
    pub(super) fn body(&self, search: &Search) -> Vec<u8> {
        let mut body = search.to_json();
        let keys = body
            .get_mut("sort")
            .and_then(Json::as_array_mut)
            .into_iter()
            .flatten();
        for (written, _) in keys.zip(&self.sort).filter(|(_, key)| key.is_widened) {
            let by_field = written.as_object_mut().into_iter().flatten();
            for (_, options) in by_field {
                options["numeric_type"] = "long".into();
            }
        }
        body.to_string().into_bytes()
    }

    /// Reads an answer; the sources of its hits are parts of the body.
    pub(super) fn read(&self, body: &Bytes) -> Result<Answer, String> {
        let raw: RawAnswer<'_> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        raw.shards.check()?;
        if raw.timed_out {
            return Err("the search timed out".to_owned());
        }
        let hits = raw.hits.hits.into_iter().map(|hit| self.hit(hit, body));
        let mut aggregations = raw.aggregations;
        Ok(Answer {
            took: raw.took,
            total: raw.hits.total.map(|total| Total {
                value: total.value,
                is_lower_bound: total.relation != "eq",
            }),
            max_score: raw.hits.max_score,
            hits: hits.collect::<Result<_, _>>()?,
            aggregations: read_all(&self.aggregations, |name| aggregations.remove(name))?,
        })
    }

    fn hit(&self, hit: RawHit<'_>, body: &Bytes) -> Result<Hit, String> {
        if hit.sort.len() != self.sort.len() {
            let (found, expected) = (hit.sort.len(), self.sort.len());
            return Err(format!("a hit has {found} sort values and not {expected}"));
        }
        let sort = self.sort.iter().zip(hit.sort);
        Ok(Hit {
            id: hit.id.into_owned(),
            score: hit.score,
            sort: sort.map(|(key, value)| key.read(value)).collect(),
            source: match hit.source {
                Some(source) => body.slice_ref(source.get().as_bytes()),
                None => Bytes::from_static(b"{}"),
            },
        })
    }
}

fn forms(index: &IndexDefinition, aggregations: &[Aggregation]) -> Vec<AggregationForm> {
    let form = |aggregation: &Aggregation| AggregationForm {
        name: aggregation.name.clone(),
        terms: match &aggregation.kind {
            AggregationKind::Terms(terms) => Some(TermsForm::new(index, terms)),
            AggregationKind::Nested { .. } | AggregationKind::Filter(_) => None,
        },
        aggregations: forms(index, &aggregation.aggregations),
    };
    aggregations.iter().map(form).collect()
}

fn read_all(
    forms: &[AggregationForm],
    mut take: impl FnMut(&str) -> Option<Json>,
) -> Result<Vec<AggregationAnswer>, String> {
    let read = |form: &AggregationForm| {
        let name = &form.name;
        let Some(Json::Object(mut members)) = take(name) else {
            return Err(format!("the aggregation `{name}` is missing"));
        };
        let content = form.content(&mut members);
        Ok(AggregationAnswer {
            name: name.clone(),
            content: content.ok_or_else(|| format!("the aggregation `{name}` is incomplete"))??,
        })
    };
    forms.iter().map(read).collect()
}

type Members = serde_json::Map<String, Json>;

impl AggregationForm {
    /// Reads what was worked out; `None` if something of it is missing.
    fn content(&self, members: &mut Members) -> Option<Result<AggregationContent, String>> {
        let inner =
            |members: &mut Members| read_all(&self.aggregations, |name| members.remove(name));
        let number = |members: &Members, name: &str| members.get(name).and_then(Json::as_u64);
        let Some(terms) = &self.terms else {
            let count = number(members, "doc_count")?;
            return Some(
                inner(members).map(|aggregations| AggregationContent::Nested {
                    count,
                    aggregations,
                }),
            );
        };
        let Json::Array(found) = members.remove("buckets")? else {
            return None;
        };
        let mut buckets = Vec::with_capacity(found.len());
        let mut other = number(members, "sum_other_doc_count")?;
        for bucket in found {
            let Json::Object(mut bucket) = bucket else {
                return None;
            };
            let documents = number(&bucket, "doc_count")?;
            let count = match terms.counts {
                Counted::Documents => documents,
                Counted::Roots => bucket.remove(ROOTS)?["doc_count"].as_u64()?,
            };
            match terms.choice {
                Some((least, _)) if count < least => continue,
                Some((_, size)) if buckets.len() == size => {
                    other += documents;
                    continue;
                }
                _ => {}
            }
            let aggregations = match inner(&mut bucket) {
                Ok(aggregations) => aggregations,
                Err(error) => return Some(Err(error)),
            };
            buckets.push(Bucket {
                count,
                key: bucket_key(terms.kind, bucket.remove("key")?)?,
                aggregations,
            });
        }
        Some(Ok(AggregationContent::Buckets {
            buckets,
            other,
            // Where the least counts come first the engine knows no bound, and says -1.
            error: number(members, "doc_count_error_upper_bound").unwrap_or_default(),
        }))
    }
}

fn bucket_key(kind: Kind, key: Json) -> Option<crate::dsl::Value> {
    use crate::dsl::Value;
    match (kind, scalar(kind, key)?) {
        (Kind::Boolean, Value::Integer(number)) => Some(Value::Boolean(number != 0)),
        (_, key) => Some(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsl::{Missing, Sort, SortMode, Value};
    use crate::mapping::{Indexes, MappingOptions};

    const SCHEMA: &str = "
id: /soml/sky
objects:
  Planet:
    search: yes
    props: {title: {}, small: {range: int}, large: {range: long}, heat: {range: double}, huge: {range: unsignedLong},
      people: {range: Person, max: inf}}
  Person: {search: yes, props: {height: {range: double}}}
";

    fn definition() -> IndexDefinition {
        let loaded = soml_core::load(SCHEMA);
        let schema = loaded.schema.expect("the schema is valid");
        let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("searchable");
        indexes.named("Planet").expect("planets").clone()
    }

    fn by(field: &str, descending: bool, missing: Missing) -> Sort {
        let mut sort = Sort::field(field);
        if let Sort::Field(by) = &mut sort {
            (by.descending, by.missing) = (descending, missing);
        }
        sort
    }

    fn read(sort: Vec<Sort>, hits: &str) -> Result<Answer, String> {
        let search = Search {
            sort,
            ..Search::default()
        };
        let body = format!(
            r#"{{"took":3,"timed_out":false,"_shards":{{"total":1,"failed":0}},"hits":{{"total":{{"value":7,"relation":"eq"}},"max_score":null,"hits":{hits}}}}}"#
        );
        Form::new(&definition(), &search).read(&Bytes::from(body))
    }

    #[test]
    fn the_greatest_and_the_least_number_stand_for_a_missing_one() {
        let asc = |field| by(field, false, Missing::Last);
        let keys = vec![
            asc("small"),
            asc("large"),
            asc("heat"),
            asc("people.height"),
            asc("huge"),
            by("small", true, Missing::Last),
            by("large", false, Missing::First),
            by("heat", true, Missing::First),
            asc("title.keyword"),
            by("huge", true, Missing::Last),
        ];
        let missing = r#"[2147483647,9223372036854775807,"Infinity","Infinity",18446744073709551615,-2147483648,-9223372036854775808,"Infinity",null,0]"#;
        let there = r#"[-2147483648,-9223372036854775808,2,1.5,0,2147483647,9223372036854775807,0.5,"Infinity",1]"#;
        let hits = format!(
            r#"[{{"_id":"a","_score":null,"sort":{missing}}},{{"_id":"b","_score":null,"sort":{there}}}]"#
        );
        let answer = read(keys, &hits).expect("an answer");
        let mut expected = vec![None; 9];
        expected.push(Some(Value::Integer(0)));
        assert_eq!(answer.hits[0].sort, expected);
        let there = [
            Value::Integer(i32::MIN.into()),
            Value::Integer(i64::MIN),
            Value::Double(2.0),
            Value::Double(1.5),
            Value::Integer(0),
            Value::Integer(i32::MAX.into()),
            Value::Integer(i64::MAX),
            Value::Double(0.5),
            "Infinity".into(),
            Value::Integer(1),
        ];
        assert_eq!(answer.hits[1].sort, there.map(Some));
    }

    #[test]
    fn only_sums_of_small_integers_are_sorted_as_longs() {
        let sum = |field: &str| {
            let mut sort = Sort::field(field);
            if let Sort::Field(by) = &mut sort {
                by.mode = Some(SortMode::Sum);
            }
            sort
        };
        let body = |sort| -> Json {
            let search = Search {
                sort,
                ..Search::default()
            };
            let body = Form::new(&definition(), &search).body(&search);
            serde_json::from_slice(&body).expect("JSON")
        };
        assert_eq!(body(Vec::new()).get("sort"), None);
        let sorted = body(vec![sum("small"), sum("heat"), Sort::field("small")]);
        let keys = &sorted["sort"];
        assert_eq!(keys[0]["small"]["numeric_type"], "long");
        for (at, field) in [(1, "heat"), (2, "small")] {
            let key = &keys[at][field];
            assert!(key.is_object(), "{keys}");
            assert_eq!(key.get("numeric_type"), None, "{keys}");
        }
    }

    #[test]
    fn sources_are_parts_of_the_answer() {
        let hits = r#"[{"_id":"a\"b","_score":1.25,"_source":{"id":"x","n":[1, 2]}}]"#;
        let answer = read(Vec::new(), hits).expect("an answer");
        let hit = &answer.hits[0];
        assert_eq!((hit.id.as_str(), hit.score), ("a\"b", Some(1.25)));
        assert_eq!(hit.source, r#"{"id":"x","n":[1, 2]}"#);
        assert_eq!(answer.total.map(|total| total.value), Some(7));
    }

    #[test]
    fn what_is_incomplete_is_refused() {
        for body in [
            r#"{"took":3,"timed_out":true,"_shards":{"total":1,"failed":0},"hits":{"hits":[]}}"#,
            r#"{"took":3,"timed_out":false,"_shards":{"total":2,"failed":1},"hits":{"hits":[]}}"#,
            r#"{"took":3,"timed_out":false,"_shards":{"total":1,"failed":0},"hits":{"hits":["#,
            r#"{"error":{}}"#,
        ] {
            let form = Form::new(&definition(), &Search::default());
            assert!(form.read(&Bytes::from(body)).is_err(), "{body}");
        }
        assert!(read(vec![Sort::score()], r#"[{"_id":"a","_score":1}]"#).is_err());
    }
}
