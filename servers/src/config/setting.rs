//! The types that properties can have: how each is read, written and called.

use graph_store::remote::http::{ResultFormat, ServerType};
use graph_store::value::Numbers;
use outbound::{Addresses, HttpCodes, Secret};
use service_config::Setting;
use service_log::LogFormat;
use service_runtime::{HostNames, Origins, TrustedProxies};

/// The programs of this crate, whose properties these are.
#[derive(Clone, Copy, Debug)]
pub struct Programs;

/// A number that is chosen after the machine when it is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Automatic(pub Option<u64>);

impl Setting<Programs> for Automatic {
    const TYPE: &'static str = "number or `auto`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "auto" => Ok(Automatic(None)),
            _ => match text.parse() {
                Ok(number @ 1..) => Ok(Automatic(Some(number))),
                _ => Err("a positive integer or `auto`"),
            },
        }
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| "auto".to_owned(), |n| n.to_string())
    }
}

impl Setting<Programs> for Option<Secret> {
    const TYPE: &'static str = "string or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        Ok((!matches!(text, "" | "none")).then(|| Secret::new(text)))
    }

    fn show(&self) -> String {
        let shown = if self.is_some() { "***" } else { "none" };
        shown.to_owned()
    }
}

impl Setting<Programs> for Addresses {
    const TYPE: &'static str = "addresses or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "none" => Ok(Addresses::default()),
            _ => text.parse(),
        }
    }

    fn show(&self) -> String {
        if self.is_empty() {
            "none".to_owned()
        } else {
            self.to_string()
        }
    }
}

impl Setting<Programs> for HttpCodes {
    const TYPE: &'static str = "status codes or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "none" => Ok(HttpCodes::default()),
            _ => text.parse(),
        }
    }

    fn show(&self) -> String {
        let text = self.to_string();
        if text.is_empty() {
            "none".to_owned()
        } else {
            text
        }
    }
}

impl Setting<Programs> for HostNames {
    const TYPE: &'static str = "host names or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting<Programs> for Origins {
    const TYPE: &'static str = "origins, `*` or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting<Programs> for TrustedProxies {
    const TYPE: &'static str = "addresses, networks or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting<Programs> for ServerType {
    const TYPE: &'static str = "`auto`, `rdf4j`, `graphdb`, `fuseki` or `sparql11`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }

    fn show(&self) -> String {
        self.as_str().to_owned()
    }
}

impl Setting<Programs> for ResultFormat {
    const TYPE: &'static str = "`json` or `tsv`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }

    fn show(&self) -> String {
        self.as_str().to_owned()
    }
}

impl Setting<Programs> for Numbers {
    const TYPE: &'static str = "`exact` or `number`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "exact" => Ok(Numbers::Exact),
            "number" => Ok(Numbers::Number),
            _ => Err("`exact` or `number`"),
        }
    }

    fn show(&self) -> String {
        match self {
            Numbers::Exact => "exact".to_owned(),
            Numbers::Number => "number".to_owned(),
        }
    }
}

impl Setting<Programs> for LogFormat {
    const TYPE: &'static str = "`text` or `json`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err("`text` or `json`"),
        }
    }

    fn show(&self) -> String {
        match self {
            LogFormat::Text => "text".to_owned(),
            LogFormat::Json => "json".to_owned(),
        }
    }
}
