//! Clients that write beside reading.

use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::json;
use tokio::task::JoinSet;

use super::{Good, Noticed, connect, send};
use crate::http::HttpError;
use crate::measure::Samples;

/// Clients one in ten of whose requests writes: each creates an object, deletes it with its next write, and
/// reads in between.
#[derive(Clone, Debug)]
pub struct Mixed {
    /// What is read, and how many clients there are.
    pub reads: Good,
}

/// What the clients have noticed.
#[derive(Clone, Copy, Debug)]
pub struct NoticedBoth {
    /// Of reading and writing together; `refused` are answers with another status or with errors.
    pub all: Noticed,
    /// Of writing alone.
    pub writes: Noticed,
}

#[derive(Default)]
struct Counted {
    all: Samples,
    writes: Samples,
    refused: [usize; 2],
}

impl Mixed {
    /// Keeps all clients busy for a while.
    ///
    /// # Errors
    /// When the service does not answer at all.
    pub async fn run(self, time: Duration) -> Result<NoticedBoth, HttpError> {
        let (started, end) = (Instant::now(), Instant::now() + time);
        let mut clients = JoinSet::new();
        for client in 0..self.reads.connections {
            clients.spawn(one(self.reads.clone(), client, end));
        }
        let mut counted = Counted::default();
        while let Some(done) = clients.join_next().await {
            let of = done.expect("a client does not panic")?;
            counted.all.merge(of.all);
            counted.writes.merge(of.writes);
            counted.refused[0] += of.refused[0];
            counted.refused[1] += of.refused[1];
        }
        let seconds = started.elapsed().as_secs_f64();
        let noticed = |samples: Samples, refused| {
            let times = samples.summary();
            Noticed {
                times,
                throughput: times.count as f64 / seconds,
                refused,
            }
        };
        Ok(NoticedBoth {
            all: noticed(counted.all, counted.refused[0]),
            writes: noticed(counted.writes, counted.refused[1]),
        })
    }
}

async fn one(reads: Good, client: usize, end: Instant) -> Result<Counted, HttpError> {
    let mut connection = connect(reads.address).await?;
    let mut counted = Counted::default();
    let (mut next, mut turn) = (client, 0);
    while Instant::now() < end {
        next += 1;
        let writes = next.is_multiple_of(10);
        let body = if writes {
            turn += 1;
            writing(client, turn)
        } else {
            reads.bodies[next % reads.bodies.len()].clone()
        };
        let started = Instant::now();
        let (status, body) = send(&mut connection, reads.address, body, "identity").await?;
        let took = started.elapsed();
        if status == StatusCode::OK && !has_errors(&body) {
            counted.all.add(took);
            if writes {
                counted.writes.add(took);
            }
        } else {
            counted.refused[0] += 1;
            counted.refused[1] += usize::from(writes);
        }
    }
    Ok(counted)
}

/// Returns the write of a client: every other one deletes what the one before it has created.
fn writing(client: usize, turn: usize) -> Bytes {
    let number = turn.div_ceil(2);
    let id = format!("http://university.example/soak/{client}/{number}");
    let query = if turn % 2 == 1 {
        "mutation ($id: ID!) { create_Publication(objects: [{id: $id, title: \"Written\", \
         abstract: \"Beside those who read\"}]) { affected_count { count } } }"
    } else {
        "mutation ($id: ID!) { delete_Publication(where: {ID: [$id]}) { affected_count { count } } }"
    };
    json!({"query": query, "variables": {"id": id}})
        .to_string()
        .into()
}

fn has_errors(body: &[u8]) -> bool {
    body.starts_with(b"{\"errors\"")
}
