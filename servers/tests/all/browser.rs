//! The page at `/`, used in a real browser through the WebDriver protocol.

use std::iter;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use servers::config::Settings;

use crate::gateway::clock::Clock;
use crate::gateway::process::Gateway;
use crate::gateway::subgraph::Subgraph;
use crate::processes::{PATIENCE, Running};
use crate::service::Service;

/// A headless Chromium with a profile of its own; it ends when this is dropped.
struct Browser {
    session: String,
    _driver: Running,
    _profile: TempDir,
}

impl Browser {
    fn start() -> Browser {
        let mut driver = Command::new("chromedriver");
        let driver = Running::start(driver.arg("--port=0").stderr(Stdio::null()));
        let port = iter::from_fn(|| driver.line())
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
            session: format!("{base}/{id}"),
            _driver: driver,
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

    /// Returns the address of an element in the protocol.
    fn element(&self, selector: &str) -> String {
        let by = json!({ "using": "css selector", "value": selector });
        let element = call("POST", &format!("{}/element", self.session), &by);
        let id = element.as_object().unwrap().values().next().unwrap();
        format!("{}/element/{}", self.session, id.as_str().unwrap())
    }

    fn click(&self, selector: &str) {
        let element = self.element(selector);
        call("POST", &format!("{element}/click"), &json!({}));
    }

    /// Presses keys where the focus is.
    fn press(&self, keys: &str) {
        let pressed: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|of| json!({ "type": of, "value": key })))
            .collect();
        let actions = json!([{ "type": "key", "id": "keyboard", "actions": pressed }]);
        let body = json!({ "actions": actions });
        call("POST", &format!("{}/actions", self.session), &body);
    }

    /// Makes the window a screen of this size.
    fn resize(&self, width: u32, height: u32) {
        let screen =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": true });
        let body = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": screen });
        call("POST", &format!("{}/goog/cdp/execute", self.session), &body);
    }

    fn run(&self, script: &str) -> Value {
        let body = json!({ "script": script, "args": [] });
        call("POST", &format!("{}/execute/sync", self.session), &body)
    }

    /// Runs a script again and again until it returns something true.
    fn wait_for(&self, script: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let value = self.run(script);
            if !matches!(value, Value::Null | Value::Bool(false)) {
                return value;
            }
            assert!(Instant::now() < until, "gave up waiting for: {script}");
            thread::sleep(Duration::from_millis(100));
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
        // This ends the browser; the driver is killed with its fields.
        let request = ureq::delete(&self.session).config();
        let _ = request.timeout_global(Some(PATIENCE)).build().call();
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
        .timeout_global(Some(PATIENCE))
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

const TAB: &str = "\u{E004}";
const DOWN: &str = "\u{E015}";

/// Returns a description of what has the focus.
const FOCUS: &str = "const at = document.activeElement; return at.id || at.textContent";

fn explaining() -> Service {
    Service::demo_with(Settings {
        explain: true,
        ..Settings::default()
    })
}

#[test]
#[ignore = "needs a browser: see CONTRIBUTING.md"]
fn examples_explain_and_links_are_reached_by_keyboard() {
    let service = explaining();
    let browser = Browser::start();
    browser.open(&service.base);
    let first = browser.wait_for(QUERY);
    browser.wait_for(DOCUMENTED);
    browser.run("document.activeElement.blur()");
    let mut reached = Vec::new();
    for _ in 0..4 {
        browser.press(TAB);
        reached.push(browser.run(FOCUS));
    }
    let expected = ["examples", "explain", "Schema (SDL)", "Documentation"];
    assert_eq!(reached, expected.map(Value::from));

    browser.run("document.getElementById('examples').focus()");
    browser.press(DOWN);
    let changed = format!("const text = (() => {{ {QUERY} }})(); return text && text !== {first}");
    browser.wait_for(&changed);
    // GraphiQL takes a moment to notice that the operation has another name.
    let until = Instant::now() + PATIENCE;
    loop {
        browser.click(".graphiql-execute-button");
        let answer = browser.wait_for(RESPONSE);
        let answer: Value = serde_json::from_str(answer.as_str().unwrap()).unwrap_or_default();
        if answer.get("errors").is_none() && !answer["data"].is_null() {
            break;
        }
        assert!(Instant::now() < until, "the example is not answered");
        thread::sleep(Duration::from_millis(250));
    }
    assert_eq!(browser.log("browser"), [] as [Value; 0]);
}

#[test]
#[ignore = "needs a browser: see CONTRIBUTING.md"]
fn an_example_does_not_replace_what_was_written() {
    let service = Service::demo();
    let browser = Browser::start();
    browser.open(&service.base);
    browser.wait_for(QUERY);
    browser.wait_for(DOCUMENTED);
    let editor = "document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror";
    let chosen = "return document.getElementById('examples').selectedOptions[0].textContent";
    // GraphiQL notes what was written 100 ms later. The example is chosen right then: both timers
    // have run out when the page is free again, and its next drawing comes after both.
    browser.run(&format!(
        "{editor}.setValue('{{ film {{ id }} }}'); \
         const select = document.getElementById('examples'); \
         window.before = select.selectedOptions[0].textContent; \
         setTimeout(() => {{ \
             select.value = '1'; select.dispatchEvent(new Event('change')) \
         }}, 100); \
         const until = performance.now() + 200; while (performance.now() < until) {{}}"
    ));
    assert_eq!(browser.run("return window.before"), "Your query");
    browser.wait_for("return document.querySelectorAll('.graphiql-tab').length === 2");
    browser.wait_for(&format!("return {editor}.getValue().includes('limit: 10')"));
    assert_eq!(browser.run(chosen), "First objects");
    browser.click(".graphiql-tab:first-child .graphiql-tab-button");
    browser.wait_for(&format!(
        "return {editor}.getValue() === '{{ film {{ id }} }}'"
    ));
    assert_eq!(browser.run(chosen), "Your query");
}

#[test]
#[ignore = "needs a browser: see CONTRIBUTING.md"]
fn the_switch_asks_for_the_plan() {
    let service = explaining();
    let browser = Browser::start();
    browser.open(&service.base);
    browser.wait_for(QUERY);
    browser.wait_for(DOCUMENTED);
    let explained = |expected: bool| {
        browser.click(".graphiql-execute-button");
        let part = "includes('\"explain\"')";
        let shown = format!("const text = (() => {{ {RESPONSE} }})(); return text?.{part}");
        browser.wait_for(&format!("{shown} === {expected}"));
    };
    explained(false);
    browser.click("#explain");
    explained(true);
    browser.click("#explain");
    explained(false);
    assert_eq!(browser.log("browser"), [] as [Value; 0]);
}

/// Returns whether all of an element is on the screen, and its size.
fn visible(browser: &Browser, selector: &str) -> (bool, u64, u64) {
    let place = browser.run(&format!(
        "const box = document.querySelector('{selector}').getBoundingClientRect(); \
         const fits = box.left >= 0 && box.top >= 0 && box.right <= innerWidth \
             && box.bottom <= innerHeight; \
         return [fits, Math.floor(box.width), Math.floor(box.height)]"
    ));
    let size = |at: usize| place[at].as_u64().unwrap();
    (place[0].as_bool().unwrap(), size(1), size(2))
}

#[test]
#[ignore = "needs a browser: see CONTRIBUTING.md"]
fn a_narrow_screen_shows_query_and_answer_in_full_width() {
    let service = explaining();
    let browser = Browser::start();
    browser.resize(390, 844);
    browser.open(&service.base);
    browser.wait_for(QUERY);
    browser.wait_for(DOCUMENTED);
    browser.click(".graphiql-execute-button");
    browser.wait_for(RESPONSE);
    for control in [
        "#examples",
        "#explain",
        "nav a:first-child",
        "nav a:last-child",
        ".graphiql-execute-button",
    ] {
        let (fits, width, height) = visible(&browser, control);
        assert!(fits && width > 0 && height > 0, "{control}");
    }
    for pane in [".graphiql-query-editor", ".graphiql-response"] {
        let (fits, width, height) = visible(&browser, pane);
        assert!(
            fits && width >= 300 && height >= 180,
            "{pane}: {width} x {height}"
        );
    }
    let scrolls = "return document.documentElement.scrollWidth > innerWidth";
    assert_eq!(browser.run(scrolls), false);

    browser.open(&format!("{}/docs/queries", service.base));
    browser.wait_for("return document.querySelector('h1') !== null");
    assert_eq!(browser.run(scrolls), false);
    assert_eq!(browser.log("browser"), [] as [Value; 0]);
}

#[test]
#[ignore = "needs a browser: see CONTRIBUTING.md"]
fn a_token_in_its_field_opens_the_schema_and_is_kept_nowhere() {
    let secret = "0123456789abcdef0123456789ABCDEF";
    let pair = format!("security.secret={secret}");
    let service = Service::demo_with(crate::callers::settings(&[
        &pair,
        "security.superRoles=root",
    ]));
    let browser = Browser::start();
    browser.open(&service.base);
    browser.wait_for("return document.querySelector('.graphiql-container') !== null");
    let asked = || {
        let requested = browser.requested();
        requested
            .iter()
            .filter(|url| url.ends_with("/graphql"))
            .count()
    };
    browser.wait_for(DOCUMENTED);
    assert_eq!(asked(), 0);

    let output = Command::new(env!("CARGO_BIN_EXE_soml"))
        .args(["token", "--role", "root"])
        .env("SECURITY_SECRET", secret)
        .output()
        .unwrap();
    let token = String::from_utf8(output.stdout).unwrap();
    let token = token.trim();
    browser.run(&format!(
        "const field = document.getElementById('token'); field.value = '{token}'; \
         field.dispatchEvent(new Event('change'))"
    ));
    let editor = "document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror";
    // The schema is there when the editor completes and checks fields by it.
    browser.wait_for(&format!("return {editor}.options.lint.schema != null"));
    assert!(asked() > 0);
    // The name and the sample queries come with the token too.
    let first = Value::from(servers::demo::STAR_WARS.query.trim_end());
    browser.wait_for(&format!("return {editor}.getValue() === {first}"));
    let chosen = "return document.getElementById('examples').selectedOptions[0].textContent";
    assert_eq!(browser.run(chosen), "Start");
    let title = browser.run("return document.querySelector('h1').textContent");
    assert!(title.as_str().unwrap().contains("Star Wars"), "{title}");
    browser.click(".graphiql-execute-button");
    let shown =
        format!("const text = (() => {{ {RESPONSE} }})(); return text?.includes('\"name\"')");
    browser.wait_for(&shown);
    let kept = "return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])";
    let kept = browser.run(kept);
    assert!(!kept.as_str().unwrap().contains(token), "{kept}");
    browser.open(&service.base);
    browser.wait_for(DOCUMENTED);
    assert_eq!(
        browser.run("return document.getElementById('token').value"),
        ""
    );
    assert_eq!(browser.log("browser"), [] as [Value; 0]);
}

#[test]
#[ignore = "needs a browser: see CONTRIBUTING.md"]
fn events_of_a_subscription_appear_until_it_is_stopped() {
    let (clock, planets) = (Clock::start(), Subgraph::planets());
    let gateway = Gateway::over(&[&clock.url(), &planets.url("/graphql")], &[]);
    let browser = Browser::start();
    browser.open(&gateway.base);
    browser.wait_for(QUERY);
    browser.wait_for(DOCUMENTED);
    let editor = "document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror";
    let subscription = "subscription { ticked { at } }";
    browser.run(&format!("{editor}.setValue('{subscription}')"));
    browser.click(".graphiql-execute-button");
    clock.wait_for(1);
    for at in [41, 42] {
        clock.ticks(at, "1");
        let shown = format!("const text = (() => {{ {RESPONSE} }})()");
        browser.wait_for(&format!("{shown}; return text?.includes('\"at\": {at}')"));
    }
    // The button stops what it has begun.
    browser.click(".graphiql-execute-button");
    clock.wait_for(0);
    let last = browser.run(RESPONSE);
    assert!(last.as_str().unwrap().contains("42"), "{last}");
    assert_eq!(browser.log("browser"), [] as [Value; 0]);
}
