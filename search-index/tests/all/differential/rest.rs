//! OpenSearch as it answers, without any code of the crate in between but the JSON form of searches, and
//! the detour that clauses about instants need.

use async_trait::async_trait;
use bytes::Bytes;
use search_index::document::Document;
use search_index::dsl::{Aggregation, AggregationKind, Search, Value};
use search_index::engine::{
    AggregationAnswer, AggregationContent, Answer, Binding, Bucket, EngineError, EngineHealth,
    EngineInfo, HealthLevel, Hit, IndexState, PhysicalName, Rejected, SearchEngine, Switch, Total,
};
use search_index::graph_store::CallContext;
use search_index::mapping::{Analyzers, Dialect, Owner};
use serde_json::{Value as Json, json};

use super::instants::unrounded;
use super::naive::fields::fields;

/// A server.
pub(crate) struct Rest {
    address: String,
    agent: ureq::Agent,
}

impl Rest {
    /// Talks to the server that `OPENSEARCH_URL` names.
    pub(crate) fn from_environment() -> Rest {
        let address = std::env::var("OPENSEARCH_URL").expect("OPENSEARCH_URL names the server");
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        Rest {
            address: address.trim_end_matches('/').to_owned(),
            agent: config.build().into(),
        }
    }

    fn send(&self, method: &str, path: &str, body: Vec<u8>) -> Result<Json, EngineError> {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}/{path}", self.address))
            .header("content-type", "application/json")
            .body(body)
            .expect("a request");
        let mut answer = self.agent.run(request).expect("an answer");
        let text = answer.body_mut().read_to_string().expect("text");
        match answer.status().is_success() {
            true => Ok(serde_json::from_str(&text).expect("JSON")),
            // OpenSearch 3.7 fails to score some hits of `term` on unsigned integers again, once it has sorted
            // them by something else.
            false if text.contains("Can't compute score on document") => {
                Err(EngineError::Unsupported(text))
            }
            false => Err(EngineError::Failed(text.into())),
        }
    }
}

#[async_trait]
impl SearchEngine for Rest {
    async fn info(&self, _context: &CallContext) -> Result<EngineInfo, EngineError> {
        let info = self.send("GET", "", Vec::new())?;
        let version = info["version"]["number"].as_str().unwrap_or_default();
        Ok(EngineInfo::new(
            "opensearch",
            version,
            Analyzers::distribution(),
        ))
    }

    async fn health(&self, _context: &CallContext) -> Result<EngineHealth, EngineError> {
        Ok(EngineHealth::new(HealthLevel::Good, 1))
    }

    async fn indexes(&self, _context: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        Err(EngineError::Unsupported("listing indexes".to_owned()))
    }

    async fn create(
        &self,
        index: Binding<'_>,
        owner: &Owner,
        context: &CallContext,
    ) -> Result<(), EngineError> {
        self.delete(index.name, context).await?;
        let body = index.definition.body(Dialect::OpenSearch3, owner);
        self.send("PUT", index.name.as_str(), body.to_string().into_bytes())?;
        Ok(())
    }

    async fn delete(&self, name: &PhysicalName, _context: &CallContext) -> Result<(), EngineError> {
        let path = format!("{name}?ignore_unavailable=true");
        self.send("DELETE", &path, Vec::new())?;
        Ok(())
    }

    async fn bulk(
        &self,
        index: Binding<'_>,
        documents: &[Document],
        _context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let mut body = Vec::new();
        for document in documents {
            body.extend(
                json!({"index": {"_id": document.id}})
                    .to_string()
                    .into_bytes(),
            );
            body.push(b'\n');
            body.extend(&document.source);
            body.push(b'\n');
        }
        let answer = self.send("POST", &format!("{}/_bulk", index.name), body)?;
        let items = answer["items"].as_array().expect("items");
        let rejected = items.iter().enumerate().filter_map(|(position, item)| {
            let error = item["index"].get("error")?;
            Some(Rejected {
                position,
                status: 400,
                reason: error.to_string(),
            })
        });
        Ok(rejected.collect())
    }

    async fn refresh(
        &self,
        name: &PhysicalName,
        _context: &CallContext,
    ) -> Result<(), EngineError> {
        self.send("POST", &format!("{name}/_refresh"), Vec::new())?;
        Ok(())
    }

    async fn switch(
        &self,
        _switches: &[Switch],
        _context: &CallContext,
    ) -> Result<(), EngineError> {
        Err(EngineError::Unsupported("aliases".to_owned()))
    }

    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        _context: &CallContext,
    ) -> Result<Answer, EngineError> {
        let path = format!("{}/_search", index.name);
        let search = &unrounded(search, &fields(index.definition));
        let answer = self.send("POST", &path, search.to_bytes())?;
        let hits = answer["hits"]["hits"].as_array().expect("hits");
        Ok(Answer {
            took: 0,
            total: answer["hits"].get("total").map(|total| Total {
                value: total["value"].as_u64().expect("a number"),
                is_lower_bound: total["relation"] != "eq",
            }),
            max_score: answer["hits"]["max_score"].as_f64(),
            hits: hits.iter().map(hit).collect(),
            aggregations: aggregations(&search.aggregations, &answer["aggregations"]),
        })
    }

    async fn count(
        &self,
        _name: &PhysicalName,
        _context: &CallContext,
    ) -> Result<u64, EngineError> {
        Err(EngineError::Unsupported("counting".to_owned()))
    }

    async fn ids(
        &self,
        _name: &PhysicalName,
        _after: Option<&str>,
        _size: usize,
        _context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        Err(EngineError::Unsupported("listing ids".to_owned()))
    }
}

fn hit(hit: &Json) -> Hit {
    let sort = hit["sort"].as_array().expect("sort values");
    Hit {
        id: hit["_id"].as_str().expect("an id").to_owned(),
        score: hit["_score"].as_f64(),
        sort: sort.iter().map(value).collect(),
        source: Bytes::from(hit["_source"].to_string()),
    }
}

fn value(json: &Json) -> Option<Value> {
    match json {
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Bool(value) => Some(Value::Boolean(*value)),
        Json::Number(number) => Some(match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Integer(number),
            (None, Some(number)) => Value::Unsigned(number),
            (None, None) => Value::Double(number.as_f64().expect("a number")),
        }),
        _ => None,
    }
}

fn aggregations(wanted: &[Aggregation], answers: &Json) -> Vec<AggregationAnswer> {
    let answer = |aggregation: &Aggregation| {
        let (answer, inner) = (&answers[&aggregation.name], &aggregation.aggregations);
        let number = |key: &str| answer[key].as_u64().expect("a number");
        let content = match &aggregation.kind {
            AggregationKind::Nested { .. } => AggregationContent::Nested {
                count: number("doc_count"),
                aggregations: aggregations(inner, answer),
            },
            _ => {
                let bucket = |bucket: &Json| Bucket {
                    key: value(&bucket["key"]).expect("a key"),
                    count: bucket["doc_count"].as_u64().expect("a number"),
                    aggregations: aggregations(inner, bucket),
                };
                let buckets = answer["buckets"].as_array().expect("buckets");
                AggregationContent::Buckets {
                    buckets: buckets.iter().map(bucket).collect(),
                    other: number("sum_other_doc_count"),
                    // -1 for fewest documents first, as other shards might have more; there is one.
                    error: answer["doc_count_error_upper_bound"].as_u64().unwrap_or(0),
                }
            }
        };
        AggregationAnswer {
            name: aggregation.name.clone(),
            content,
        }
    };
    wanted.iter().map(answer).collect()
}
