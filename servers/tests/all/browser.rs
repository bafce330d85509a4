//! The page at `/`, used in a real browser through the WebDriver protocol.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::service::Service;

/// A headless Chromium with a profile of its own; it ends when this is dropped.
struct Browser {
    driver: Child,
    session: String,
    _profile: TempDir,
}

impl Browser {
    fn start() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed: see CONTRIBUTING.md");
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| {
                let rest = line.split_once("started successfully on port ")?.1;
                rest.trim_end_matches('.').parse::<u16>().ok()
            })
            .expect("chromedriver says its port");
        let profile = TempDir::new().unwrap();
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1400,900",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        } } });
        let base = format!("http://127.0.0.1:{port}/session");
        let created = call("POST", &base, &capabilities);
        let id = created["sessionId"].as_str().unwrap();
        let browser = Browser {
            driver,
            session: format!("{base}/{id}"),
            _profile: profile,
        };
        // What the browser's own first page asked for is no matter of ours.
        browser.open("about:blank");
        browser.requested();
        browser
    }

    fn open(&self, url: &str) {
        call(
            "POST",
            &format!("{}/url", self.session),
            &json!({ "url": url }),
        );
    }

    fn click(&self, selector: &str) {
        let by = json!({ "using": "css selector", "value": selector });
        let element = call("POST", &format!("{}/element", self.session), &by);
        let id = element
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_str()
            .unwrap();
        call(
            "POST",
            &format!("{}/element/{id}/click", self.session),
            &json!({}),
        );
    }

    /// Runs a script again and again until it returns something true.
    fn wait_for(&self, script: &str) -> Value {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let body = json!({ "script": script, "args": [] });
            let value = call("POST", &format!("{}/execute/sync", self.session), &body);
            if !matches!(value, Value::Null | Value::Bool(false)) {
                return value;
            }
            assert!(Instant::now() < until, "gave up waiting for: {script}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        let entries = call(
            "POST",
            &format!("{}/se/log", self.session),
            &json!({ "type": kind }),
        );
        entries.as_array().unwrap().clone()
    }

    /// Returns the addresses of all requests since the last call.
    fn requested(&self) -> Vec<String> {
        let messages = self.log("performance").into_iter().map(|entry| {
            let text = entry["message"].as_str().unwrap();
            serde_json::from_str::<Value>(text).unwrap()["message"].clone()
        });
        messages
            .filter(|message| message["method"] == "Network.requestWillBeSent")
            .map(|message| {
                message["params"]["request"]["url"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = ureq::delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn call(method: &str, url: &str, body: &Value) -> Value {
    let request = ureq::http::Request::builder()
        .method(method)
        .uri(url)
        .header("content-type", "application/json")
        .body(body.to_string())
        .unwrap();
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let text = agent
        .run(request)
        .unwrap()
        .body_mut()
        .read_to_string()
        .unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert!(
        answer["value"].get("error").is_none(),
        "{url}: {}",
        answer["value"]["message"]
    );
    answer["value"].clone()
}

const QUERY: &str = "return document.querySelector('.graphiql-query-editor .CodeMirror')\
    ?.CodeMirror?.getValue() || null";
const RESPONSE: &str = "return document.querySelector('.graphiql-response .CodeMirror')\
    ?.CodeMirror?.getValue() || null";
const DOCUMENTED: &str = "return document.querySelector('.graphiql-container') !== null \
    && document.querySelector('.graphiql-spinner') === null";

#[test]
#[ignore = "needs a browser: see CONTRIBUTING.md"]
fn the_first_query_runs_by_a_click_and_nothing_is_fetched_from_elsewhere() {
    let service = Service::demo();
    let browser = Browser::start();
    browser.open(&service.base);
    let query = browser.wait_for(QUERY);
    assert_eq!(query, servers::demo::STAR_WARS.query.trim_end());
    browser.wait_for(DOCUMENTED);
    browser.click(".graphiql-execute-button");
    let answer = browser.wait_for(RESPONSE);
    let answer: Value = serde_json::from_str(answer.as_str().unwrap()).unwrap();
    assert_eq!(answer["data"]["film"][0]["name"], "The Phantom Menace");
    assert!(answer.get("errors").is_none());

    let requested = browser.requested();
    assert!(
        requested.iter().any(|url| url.ends_with("/graphql")),
        "{requested:?}"
    );
    for url in &requested {
        let ours = url.starts_with(&format!("{}/", service.base));
        assert!(ours || url.starts_with("data:"), "{url} is not ours");
    }
    assert_eq!(browser.log("browser"), [] as [Value; 0]);
}

#[test]
#[ignore = "needs a browser: see CONTRIBUTING.md"]
fn a_later_visit_begins_with_the_query_of_the_schema_that_is_bound_then() {
    let service = Service::demo();
    let browser = Browser::start();
    browser.open(&service.base);
    let first = browser.wait_for(QUERY);

    let planets = include_str!("../data/soml/swapi-schema-planets.yaml");
    let yaml = [("content-type", "text/yaml")];
    assert_eq!(
        service
            .send("POST", "/soml", &yaml, planets.as_bytes())
            .status,
        201
    );
    assert_eq!(
        service
            .send("PUT", "/soml/swapi-planets/objects", &[], b"")
            .status,
        200
    );
    browser.open(&service.base);
    let second = browser.wait_for(QUERY);
    assert_ne!(first, second);
    assert!(second.as_str().unwrap().contains("planet"), "{second}");
    browser.wait_for(DOCUMENTED);
    browser.click(".graphiql-execute-button");
    let answer = browser.wait_for(RESPONSE);
    assert!(answer.as_str().unwrap().contains("Tatooine"), "{answer}");
    assert_eq!(browser.log("browser"), [] as [Value; 0]);
}
