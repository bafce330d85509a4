//! The subgraphs of a gateway, as the configuration names them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use federation::transport::http::SubscriptionSource;
use reqwest::Url;
use service_runtime::Host;

use super::local::{Hosted, LocalSubgraph};
use super::options::GatewayAppOptions;

/// A subgraph of a gateway.
#[derive(Clone)]
pub struct Subgraph {
    pub(crate) name: String,
    pub(crate) source: Source,
}

/// Where a subgraph is.
#[derive(Clone)]
pub(crate) enum Source {
    /// Behind HTTP.
    Remote(Box<Remote>),
    /// In this process.
    Local(Arc<dyn LocalSubgraph>),
}

/// A subgraph behind HTTP.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) address: Url,
    pub(crate) good_to_go: Option<Url>,
    pub(crate) health: Option<Url>,
    pub(crate) subscriptions: SubscriptionSource,
}

/// Why the configuration names no subgraphs that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubgraphsError {
    /// There is none.
    #[error(
        "no subgraph is configured: set GRAPHQL_SERVICE_0 to the GraphQL endpoint of the first one, \
         GRAPHQL_SERVICE_1 to that of the next one, and so on"
    )]
    None,
    /// Something is said of a subgraph that has no address.
    #[error(
        "`graphql.service.{0}` is not set, but other properties of this subgraph are: set \
         GRAPHQL_SERVICE_{0} to the address of its GraphQL endpoint"
    )]
    NoAddress(u32),
    /// Two subgraphs have one name.
    #[error(
        "the subgraphs {first} and {second} are both named `{name}` by `graphql.service.N.name`"
    )]
    SameName {
        /// The number of the first one.
        first: u32,
        /// The number of the second one.
        second: u32,
        /// The name.
        name: String,
    },
}

impl Subgraph {
    /// Names a service of this process.
    pub fn local(name: impl Into<String>, service: Arc<dyn LocalSubgraph>) -> Self {
        Subgraph {
            name: name.into(),
            source: Source::Local(service),
        }
    }

    /// Names a whole service of this process.
    pub fn hosted<H: Host>(name: impl Into<String>, service: Arc<H>) -> Self {
        Subgraph::local(name, Arc::new(Hosted(service)))
    }

    /// Returns the subgraphs that are configured, by their numbers. Those without a name are named after their
    /// numbers, and differ from each other and from those in `taken`.
    ///
    /// # Errors
    /// When a subgraph has no address, or two have one name.
    pub fn configured(
        options: &GatewayAppOptions,
        taken: &[&str],
    ) -> Result<Vec<Self>, SubgraphsError> {
        let given = options.given();
        let mut named: Vec<(u32, &str)> = Vec::new();
        for (number, subgraph) in given.clone() {
            if subgraph.address.is_none() {
                return Err(SubgraphsError::NoAddress(number));
            }
            let Some(name) = &subgraph.name else { continue };
            if let Some((first, name)) = named.iter().find(|(_, other)| other == name) {
                return Err(SubgraphsError::SameName {
                    first: *first,
                    second: number,
                    name: (*name).to_owned(),
                });
            }
            named.push((number, name));
        }
        let explicit = named.iter().map(|(_, name)| *name);
        let mut names: BTreeSet<String> = explicit
            .chain(taken.iter().copied())
            .map(str::to_owned)
            .collect();
        let mut subgraphs = Vec::new();
        for (number, subgraph) in given {
            let address = subgraph
                .address
                .clone()
                .ok_or(SubgraphsError::NoAddress(number))?;
            let name = match &subgraph.name {
                Some(name) => name.clone(),
                None => unique(number, &names),
            };
            names.insert(name.clone());
            let (good_to_go, health) = (subgraph.good_to_go.clone(), subgraph.health.clone());
            subgraphs.push(Subgraph {
                name,
                source: Source::Remote(Box::new(Remote {
                    address,
                    good_to_go,
                    health,
                    subscriptions: subgraph.subscriptions.clone(),
                })),
            });
        }
        Ok(subgraphs)
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it is, for people: without a query, which can have secrets in it.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.source {
            Source::Local(_) => "in this process".to_owned(),
            Source::Remote(remote) => masked(&remote.address),
        }
    }

    /// Returns the address that a supergraph has for it; empty if it is in this process.
    pub(crate) fn address(&self) -> &str {
        match &self.source {
            Source::Remote(remote) => remote.address.as_str(),
            Source::Local(_) => "",
        }
    }
}

impl fmt::Debug for Subgraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Subgraph");
        shown.field("name", &self.name);
        shown.field("address", &self.address()).finish()
    }
}

/// Returns an address without what may be secret in it.
fn masked(address: &Url) -> String {
    let mut shown = address.clone();
    if shown.query().is_some() {
        shown.set_query(Some("***"));
    }
    shown.to_string()
}

/// Returns the name of a subgraph that is given none. It says nothing of the address, since clients see it.
fn unique(number: u32, names: &BTreeSet<String>) -> String {
    let mut name = format!("service_{number}");
    while names.contains(&name) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::options::SubgraphOptions;
    use super::*;

    fn options(subgraphs: &[(u32, &str, Option<&str>)]) -> GatewayAppOptions {
        let subgraphs = subgraphs.iter().map(|(number, address, name)| {
            let subgraph = SubgraphOptions {
                address: Url::parse(address).ok(),
                name: name.map(str::to_owned),
                ..SubgraphOptions::default()
            };
            (*number, subgraph)
        });
        GatewayAppOptions {
            subgraphs: subgraphs.collect(),
            ..GatewayAppOptions::default()
        }
    }

    #[test]
    fn names_follow_from_numbers_say_nothing_of_addresses_and_differ() {
        let options = options(&[
            (7, "http://objects:8080/graphql", None),
            (0, "http://objects:8080/graphql?x=1", None),
            (3, "https://example.org/", None),
            (2, "http://example.org:443", Some("service_3")),
        ]);
        let subgraphs = Subgraph::configured(&options, &["search"]).unwrap();
        let names: Vec<_> = subgraphs.iter().map(Subgraph::name).collect();
        let expected = ["service_0", "service_3", "service_3_", "service_7"];
        assert_eq!(names, expected);
        assert_eq!(subgraphs[2].address(), "https://example.org/");
        // What is shown of an address has no query.
        assert_eq!(subgraphs[0].place(), "http://objects:8080/graphql?***");
        assert_eq!(subgraphs[3].place(), "http://objects:8080/graphql");
    }

    #[test]
    fn subgraphs_without_an_address_or_with_one_name_are_refused() {
        let nameless = options(&[(4, "", Some("a"))]);
        let refused = Subgraph::configured(&nameless, &[]).unwrap_err();
        assert_eq!(refused, SubgraphsError::NoAddress(4));
        assert!(refused.to_string().contains("GRAPHQL_SERVICE_4"));
        let same = options(&[(0, "http://a/", Some("a")), (2, "http://b/", Some("a"))]);
        let refused = Subgraph::configured(&same, &[]).unwrap_err();
        assert!(matches!(
            refused,
            SubgraphsError::SameName {
                first: 0,
                second: 2,
                ..
            }
        ));
        assert!(Subgraph::configured(&options(&[]), &[]).unwrap().is_empty());
    }
}
