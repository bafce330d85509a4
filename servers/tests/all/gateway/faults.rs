//! The fault table of `docs/federation.md`, held by the gateway as a process.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::fault_rows::{LIMIT, QUERY, Row, When, accounts, check, products, rows};

use super::process::Gateway;
use super::sockets::{Behaviour, Server, answer};
use super::subgraph::{Asked, Said, Subgraph};

const ACCOUNTS: &str =
    "type Query { me: User } type User @key(fields: \"id\") { id: ID! name: String }";
const PRODUCTS: &str = "type Query { topProducts: [Product] }
    type Product @key(fields: \"upc\") { upc: String! name: String }";
const INVENTORY: &str = "extend type Product @key(fields: \"upc\") {
    upc: String! @external inStock: Boolean }";

/// Bytes that an endless answer may send before the gateway is gone. Those between the limit and this are in the
/// buffers of the sockets.
const BUFFERED: usize = 32 << 20;

/// The subgraphs around the one that fails.
struct World {
    accounts: Subgraph,
    products: Subgraph,
}

impl World {
    fn new() -> World {
        World {
            accounts: Subgraph::start(ACCOUNTS, |_| accounts().into()),
            products: Subgraph::start(PRODUCTS, |_| products().into()),
        }
    }

    /// Starts a gateway over the subgraphs, with `inventory` at an address.
    fn gateway(&self, inventory: &str, times: &[(&str, String)]) -> Gateway {
        let urls = [
            self.accounts.url("/graphql"),
            self.products.url("/graphql"),
            inventory.to_owned(),
        ];
        let limit = LIMIT.to_string();
        let own = [
            ("GRAPHQL_SERVICE_2_NAME", "inventory"),
            ("GATEWAY_LIMITS_SUBGRAPHBYTES", limit.as_str()),
            // Nothing but the requests of this test reaches the subgraphs.
            ("SERVICE_DWELL", "3600000"),
        ];
        let times = times.iter().map(|(name, time)| (*name, time.as_str()));
        let variables: Vec<_> = own.into_iter().chain(times).collect();
        Gateway::over(&[&urls[0], &urls[1], &urls[2]], &variables)
    }
}

/// The time-outs of a gateway, in milliseconds.
const TIMES: [&str; 4] = [
    "GATEWAY_SUBGRAPH_CONNECTTIMEOUT",
    "GATEWAY_SUBGRAPH_IDLETIMEOUT",
    "GATEWAY_SUBGRAPH_REQUESTTIMEOUT",
    "GRAPHQL_REQUESTTIMEOUT",
];

/// A time-out that is longer than anybody waits for an answer.
const LONG: Duration = Duration::from_secs(600);

/// Returns the time-outs under which a row takes so long, all others being long ones.
fn times(when: When, wait: Duration) -> [(&'static str, String); 4] {
    let time = |name: &str| match (when, name) {
        (When::Idle, "GATEWAY_SUBGRAPH_IDLETIMEOUT") => wait,
        (When::Exchange, "GATEWAY_SUBGRAPH_REQUESTTIMEOUT") => wait,
        (When::Deadline, "GRAPHQL_REQUESTTIMEOUT") => wait,
        _ => LONG,
    };
    TIMES.map(|name| (name, time(name).as_millis().to_string()))
}

fn schema() -> Behaviour {
    let body = json!({"data": {"_service": {"sdl": INVENTORY}}}).to_string();
    Behaviour::Answers(answer("200 OK", "application/json", body))
}

fn stock() -> Value {
    json!({"data": {"_entities": [{"inStock": true}, {"inStock": false}]}})
}

/// Asks for what needs the subgraph that fails, and checks the answer against the row.
fn hold(gateway: &Gateway, row: &Row, wait: Duration) {
    let begun = Instant::now();
    let reply = gateway.post(QUERY, &[]);
    let took = begun.elapsed();
    assert_eq!(reply.status, 200, "{}: {}", row.fault, reply.text);
    check(row, &reply.json());
    assert!(took >= wait, "{}: {took:?}", row.fault);
    let rest = gateway.query("{ me { name } topProducts { name } }");
    assert!(rest.get("errors").is_none(), "{}: {rest}", row.fault);
    assert_eq!(rest["data"]["me"]["name"], "Ada", "{}", row.fault);
}

/// Checks that the subgraph is asked again, and that its answers count.
fn is_whole_again(gateway: &Gateway, row: &Row) {
    let answer = gateway.query(QUERY);
    assert!(answer.get("errors").is_none(), "{}: {answer}", row.fault);
    assert_eq!(answer["data"]["items"][0]["there"], true, "{}", row.fault);
    assert_eq!(answer["data"]["items"][2]["there"], false, "{}", row.fault);
}

#[test]
fn the_gateway_holds_each_row_of_the_fault_table_and_goes_on_answering() {
    let world = World::new();
    let mut count = 0;
    for when in [When::AtOnce, When::Idle, When::Exchange, When::Deadline] {
        let of_this_time = |row: &Row| row.when == when && !row.is_about_nobody();
        let rows: Vec<_> = rows().into_iter().filter(of_this_time).collect();
        count += rows.len();
        match when {
            When::AtOnce => hold_all(&world, &rows, Duration::ZERO),
            _ => hold_in_time(&world, &rows),
        }
    }
    // The row that is left is the one below.
    assert_eq!(count + 1, rows().len());
}

/// Holds rows that take a time. On a busy machine what is to come within it may be late as well: then they are held
/// with more of it.
fn hold_in_time(world: &World, rows: &[Row]) {
    let mut wait = Duration::from_millis(600);
    loop {
        let held = catch_unwind(AssertUnwindSafe(|| hold_all(world, rows, wait)));
        match held {
            Ok(()) => return,
            Err(_) if wait < Duration::from_secs(30) => wait *= 4,
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Holds rows of one kind, each of which takes a time.
fn hold_all(world: &World, rows: &[Row], wait: Duration) {
    let server = Server::start(schema());
    let gateway = world.gateway(&server.url(), &times(rows[0].when, wait));
    for row in rows {
        server.change(row.behaviour.clone());
        hold(&gateway, row, wait);
        let asked = server.seen.requests.lock().unwrap().len();
        assert_eq!(asked, 1, "{}: each request is sent once", row.fault);
        if let Behaviour::Endless(..) | Behaviour::Drips(..) | Behaviour::Silent = row.behaviour {
            assert!(server.is_abandoned(), "{}: the exchange goes on", row.fault);
            let sent = server.seen.sent.load(Ordering::SeqCst);
            assert!(sent < BUFFERED, "{}: {sent} bytes", row.fault);
        }
        let good = answer("200 OK", "application/json", stock().to_string());
        server.change(Behaviour::Answers(good));
        is_whole_again(&gateway, row);
    }
}

#[test]
fn the_gateway_holds_the_row_of_a_subgraph_that_nobody_listens_for() {
    let world = World::new();
    let stocked = |_: &Asked| Said::from(stock());
    let mut inventory = Subgraph::start(INVENTORY, stocked);
    let times = times(When::AtOnce, Duration::ZERO);
    let gateway = world.gateway(&inventory.url("/graphql"), &times);
    inventory.pause();
    let row = rows().into_iter().find(Row::is_about_nobody).unwrap();
    hold(&gateway, &row, Duration::ZERO);
    inventory.resume();
    is_whole_again(&gateway, &row);
}
