//! As much of a browser as the pages of a log-in need: cookies, redirections and forms.

use std::collections::BTreeMap;

use regex::Regex;
use ureq::Agent;
use ureq::http::Response;

use crate::processes::PATIENCE;

pub(super) struct Browser {
    agent: Agent,
    cookies: BTreeMap<String, String>,
    /// Scheme, host and port of the pages, which paths belong to.
    origin: String,
}

impl Browser {
    pub(super) fn new() -> Browser {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(PATIENCE));
        Browser {
            agent: config.build().into(),
            cookies: BTreeMap::new(),
            origin: String::new(),
        }
    }

    /// Logs a user in at the page of a device code, and answers what the page asks.
    pub(super) fn confirm(mut self, page: &str, user: &str, password: &str, grants: bool) {
        let log_in = self.open(page);
        let consent = self.submit(&log_in, &[("username", user), ("password", password)]);
        let answer = if grants {
            ("accept", "Yes")
        } else {
            ("cancel", "No")
        };
        assert!(consent.contains(answer.0), "{consent}");
        self.submit(&consent, &[answer]);
    }

    fn open(&mut self, url: &str) -> String {
        let host = url.find("://").unwrap() + 3;
        let end = url[host..].find('/').unwrap() + host;
        self.origin = url[..end].to_owned();
        let answer = self.agent.get(url).header("cookie", self.cookie()).call();
        self.followed(answer.unwrap())
    }

    /// Sends the form of a page with its hidden fields and some others.
    fn submit(&mut self, page: &str, fields: &[(&str, &str)]) -> String {
        let action = Regex::new(r#"<form[^>]*action="([^"]*)""#).unwrap();
        let action = action.captures(page).unwrap_or_else(|| panic!("{page}"));
        let action = self.absolute(&action[1].replace("&amp;", "&"));
        let input = Regex::new(r#"<input[^>]*type="hidden"[^>]*>"#).unwrap();
        let attribute = |input: &str, name: &str| {
            let value = Regex::new(&format!(r#"\b{name}="([^"]*)""#)).unwrap();
            value.captures(input).map(|found| found[1].to_owned())
        };
        let hidden = input.find_iter(page).filter_map(|input| {
            let value = attribute(input.as_str(), "value").unwrap_or_default();
            Some((attribute(input.as_str(), "name")?, value))
        });
        let given = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let form: Vec<_> = hidden.chain(given).collect();
        let answer = self
            .agent
            .post(action)
            .header("cookie", self.cookie())
            .send_form(form);
        self.followed(answer.unwrap())
    }

    /// Goes where an answer sends it, and returns the page there.
    fn followed(&mut self, mut answer: Response<ureq::Body>) -> String {
        for _ in 0..10 {
            self.keep_cookies(&answer);
            if !answer.status().is_redirection() {
                return answer.body_mut().read_to_string().unwrap();
            }
            let to = self.absolute(answer.headers()["location"].to_str().unwrap());
            let next = self.agent.get(to).header("cookie", self.cookie()).call();
            answer = next.unwrap();
        }
        panic!("it is sent on and on");
    }

    fn absolute(&self, address: &str) -> String {
        if address.starts_with('/') {
            format!("{}{address}", self.origin)
        } else {
            address.to_owned()
        }
    }

    fn keep_cookies(&mut self, answer: &Response<ureq::Body>) {
        for cookie in answer.headers().get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
    }

    fn cookie(&self) -> String {
        let pairs = self.cookies.iter();
        let pairs: Vec<_> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }
}
