//! The fault table of `docs/federation.md`, held by the gateway as a process.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::process::Gateway;
use super::sockets::{self, Behaviour, Server, answer};
use super::subgraph::{Asked, Said, Subgraph};

#[allow(dead_code, reason = "shared with the tests of the transport")]
#[path = "../../../../federation/tests/all/fault_table/rows.rs"]
mod rows;

use rows::{LIMIT, QUERY, Row, When, rows};

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
            accounts: Subgraph::start(ACCOUNTS, |_| rows::accounts().into()),
            products: Subgraph::start(PRODUCTS, |_| rows::products().into()),
        }
    }

    /// Starts a gateway over the subgraphs, with `inventory` at an address.
    fn gateway(&self, inventory: &str, times: &[(&str, &str)]) -> Gateway {
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
        let variables: Vec<_> = own.iter().chain(times).copied().collect();
        Gateway::over(&[&urls[0], &urls[1], &urls[2]], &variables)
    }
}

/// What makes the wait of a row short, and how long it is.
fn times(when: When) -> (Vec<(&'static str, &'static str)>, Duration) {
    match when {
        When::AtOnce => (Vec::new(), Duration::ZERO),
        // The wait for an answer includes that for the connection.
        When::Idle => (
            vec![
                ("GATEWAY_SUBGRAPH_IDLETIMEOUT", "300"),
                ("GATEWAY_SUBGRAPH_CONNECTTIMEOUT", "300"),
            ],
            Duration::from_millis(600),
        ),
        When::Exchange => (
            vec![("GATEWAY_SUBGRAPH_REQUESTTIMEOUT", "900")],
            Duration::from_millis(900),
        ),
        When::Deadline => (
            vec![("GRAPHQL_REQUESTTIMEOUT", "1500")],
            Duration::from_millis(1_500),
        ),
    }
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
    rows::check(row, &reply.json());
    let late = wait + Duration::from_secs(20);
    assert!(took >= wait && took < late, "{}: {took:?}", row.fault);
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
        let server = Server::start(schema());
        let (variables, wait) = times(when);
        let gateway = world.gateway(&server.url(), &variables);
        let of_this_time = |row: &Row| row.when == when && !row.is_about_nobody();
        for row in rows().into_iter().filter(of_this_time) {
            server.change(row.behaviour.clone());
            hold(&gateway, &row, wait);
            let asked = server.seen.requests.lock().unwrap().len();
            assert_eq!(asked, 1, "{}: each request is sent once", row.fault);
            if let Behaviour::Endless(..) | Behaviour::Drips(..) | Behaviour::Silent = row.behaviour
            {
                assert!(server.is_abandoned(), "{}: the exchange goes on", row.fault);
                let sent = server.seen.sent.load(Ordering::SeqCst);
                assert!(sent < BUFFERED, "{}: {sent} bytes", row.fault);
            }
            let good = answer("200 OK", "application/json", stock().to_string());
            server.change(Behaviour::Answers(good));
            is_whole_again(&gateway, &row);
            count += 1;
        }
    }
    // The row that is left is the one below.
    assert_eq!(count + 1, rows().len());
}

#[test]
fn the_gateway_holds_the_row_of_a_subgraph_that_nobody_listens_for() {
    let world = World::new();
    let stocked = |_: &Asked| Said::from(stock());
    let mut inventory = Subgraph::start(INVENTORY, stocked);
    let gateway = world.gateway(&inventory.url("/graphql"), &[]);
    inventory.pause();
    let row = rows().into_iter().find(Row::is_about_nobody).unwrap();
    hold(&gateway, &row, Duration::ZERO);
    inventory.resume();
    is_whole_again(&gateway, &row);
}
