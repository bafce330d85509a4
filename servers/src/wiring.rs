//! What the properties say to the libraries: options of each, from the settings.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gateway_service::GatewayAppOptions;
use graph_store::GraphStore;
use graph_store::image::Sync;
use graph_store::remote::http::ConnectionOptions;
use graphql_gen::typesystem::{ApiOptions, FederationMode};
use graphql_http::{Resources, SubscriptionOptions};
use object_engine::ServiceOptions;
use object_service::folder::DataFolderOptions;
use object_service::{App, AppOptions, Mutations};
use schema_registry::SchemaStore;
use search_service::{EngineOptions, RetryOptions, SearchOptions, Storage};
use service_auth::Verifier;
use service_log::LogOptions;
use service_runtime::{
    CallerOptions, HostOptions, HostState, ListenerOptions, Metrics, ResourceOptions, resources,
};

use crate::config::{Graph, SearchRoles, Settings, StorageProvider, Switch, SyncWhen};
use crate::{log_levels, metrics};

/// Creates an object service without any schema.
///
/// Where the settings ask for tokens, they are verified by the keys of the settings. Keys that
/// cannot be used are an error in the log, and no token is accepted; [`Verifier::of`] says so
/// before.
#[must_use]
pub fn object_service(
    settings: &Settings,
    store: Arc<dyn GraphStore>,
    schemas: Arc<dyn SchemaStore>,
) -> App {
    let host = settings
        .host()
        .with_verifier(verifier(settings).map(Arc::new));
    App::new(host, settings.object_options(), store, schemas)
}

/// Returns what verifies the tokens that the settings ask for.
fn verifier(settings: &Settings) -> Option<Verifier> {
    let security = &settings.security;
    security.is_on().then(|| {
        let options = security.verifier_options();
        Verifier::of(&options).unwrap_or_else(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::error!(%error, cause, "no token is accepted");
            Verifier::without_keys(&options)
        })
    })
}

impl Settings {
    /// Returns what every service is told.
    #[must_use]
    pub fn host_options(&self) -> HostOptions {
        HostOptions {
            name: self.name.clone(),
            address: SocketAddr::new(self.host, self.port),
            network_address: self.network_address(),
            limits: self.limits.clone(),
            request_timeout: self.request_timeout,
            max_body_bytes: self.max_body_bytes,
            max_schema_bytes: self.max_schema_bytes,
            graphiql: self.graphiql,
            explain: self.explain,
            admin_role: self.security.schema_admin_role.clone(),
            health_cache: self.health_cache,
            listener: ListenerOptions {
                max_connections: self.max_connections,
                header_timeout: self.header_timeout,
                send_timeout: self.send_timeout,
                shutdown_timeout: self.shutdown_timeout,
                tls: None,
            },
            callers: CallerOptions {
                hosts: self.allowed_hosts.clone(),
                origins: self.cors_origins.clone(),
                preflight_age: self.cors_max_age,
                proxies: self.trusted_proxies.clone(),
            },
        }
    }

    /// Returns the address at which others reach the service, where it is known before it listens.
    #[must_use]
    pub fn network_address(&self) -> Option<String> {
        self.application.network_address(self.host, self.port)
    }

    /// Returns what all requests of a process share.
    #[must_use]
    pub fn resources(&self) -> Resources {
        resources(&ResourceOptions {
            memory: self.memory_budget.0,
            slots: self.slots.0,
            queue: self.queue,
        })
    }

    /// Begins a service that shares nothing with another, and demands no token.
    #[must_use]
    pub fn host(&self) -> HostState {
        self.host_sharing(self.resources())
    }

    /// Begins a service that shares memory and slots with another, and demands no token.
    #[must_use]
    pub fn host_sharing(&self, resources: Resources) -> HostState {
        self.observed(HostState::new(self.host_options(), resources))
    }

    /// Has a service record metrics and slow operations, and lets administrators change the levels of its log.
    pub(crate) fn observed(&self, host: HostState) -> HostState {
        let metrics = if self.metrics {
            metrics::of_process()
        } else {
            Metrics::Off
        };
        host.with_metrics(metrics)
            .with_slow_operations(self.slow_operations)
            .with_loggers(Some(log_levels::loggers()))
    }

    /// Returns what is logged, and how.
    #[must_use]
    pub fn log_options(&self, coloured: bool) -> LogOptions {
        LogOptions {
            level: self.loggers.after(&self.log_level),
            format: self.log_format,
            coloured,
        }
    }

    /// Returns how the folder of the data is used.
    #[must_use]
    pub fn folder_options(&self) -> DataFolderOptions {
        DataFolderOptions {
            sync: match self.store.sync {
                SyncWhen::Commit => Sync::Commit,
                SyncWhen::Interval => Sync::Interval(self.store.sync_interval),
            },
            order_memory: self.store.order_memory,
        }
    }

    /// Returns the options of the object service.
    #[must_use]
    pub fn object_options(&self) -> AppOptions {
        AppOptions {
            service: self.served(),
            mutations: self.mutations(),
            retention: self.mutation.retention,
            max_schemas: self.max_stored_schemas,
            max_schema_bytes: self.max_stored_bytes,
            store_check_time: check_time(&self.sparql),
            schemas_check_time: self.schemas_check_time(),
            follow_interval: self.storage.follow_interval,
        }
    }

    /// Returns how long the store of schemas has for a health check.
    fn schemas_check_time(&self) -> Duration {
        match self.schema_provider() {
            StorageProvider::Rdf4j => check_time(&self.storage.rdf4j.connection),
            StorageProvider::MongoDb => self.storage.mongodb.read_timeout,
            _ => Duration::ZERO,
        }
    }

    fn mutations(&self) -> Mutations {
        match (self.mutation.enabled, &self.store.data_dir) {
            (false, _) => Mutations::Never,
            // A folder that cannot be written to now has the same API.
            (true, Some(_)) => Mutations::Always,
            (true, None) => Mutations::IfWritable,
        }
    }

    /// Returns how a schema is served, but for mutations.
    fn served(&self) -> ServiceOptions {
        let federation = if self.federation == Switch::On {
            FederationMode::V1
        } else {
            FederationMode::Off
        };
        let api = ApiOptions::default()
            .with_federation(federation)
            .with_prune(self.prune)
            .with_argument_descriptions(self.describe_arguments)
            .with_roles_exposed(self.security.expose_in_graphql);
        let options = ServiceOptions::default()
            .with_limits(self.limits.clone())
            .with_engine_limits(self.engine_limits.clone())
            .with_numbers(self.numbers)
            .with_null_arrays(self.null_arrays)
            .with_explain(self.explain)
            .with_conflict_retries(self.mutation.conflict_retries)
            .with_api(api);
        match &self.mutation.graph {
            Some(Graph(graph)) => options.with_mutation_graph(graph.clone()),
            None => options,
        }
    }

    /// Returns the options of the library for one request over a store.
    pub(crate) fn service_options(&self, store: &dyn GraphStore) -> ServiceOptions {
        let options = self.served();
        let mutations = self.mutations().are_served(store);
        let api = options.api.clone().with_mutations(mutations);
        options.with_api(api)
    }

    /// Returns the options of the search service.
    #[must_use]
    pub fn search_options(&self) -> SearchOptions {
        let search = &self.search;
        SearchOptions {
            limits: search.limits.clone(),
            max_nesting_level: search.max_nesting_level.0,
            index_settings: search.create_settings.settings(),
            federation: search.federation,
            severities: search.severities.clone(),
            ignore_malformed: search.ignore_malformed,
            remove_previous: search.remove_previous,
            drop_delay: search.drop_delay,
            refresh_interval: search.refresh_interval,
            reconcile_interval: search.reconcile_interval,
            retry: RetryOptions {
                max_retries: search.retry.max_retries,
                initial_delay: search.retry.initial_delay.0,
                delay: search.retry.delay.0,
            },
            health_check_time: search.health_check_time(),
            schemas_check_time: self.schemas_check_time(),
            super_roles: self.security.super_roles.0.clone(),
            allows_hidden: search.enabled == Switch::On,
            obeys_roles: !matches!(
                search.roles,
                SearchRoles::Said(Switch::Off) | SearchRoles::Ignored
            ),
            knows_hidden: search.roles == SearchRoles::Said(Switch::Off),
            shares_indexes: !search.is_embedded(),
            reads_schemas_elsewhere: search.object_service.is_some(),
            follow_interval: self.storage.follow_interval,
            lease_time: self.storage.lease_time,
            instance: self.network_address().unwrap_or_else(|| self.name.clone()),
        }
    }

    /// Returns where the search engines are.
    #[must_use]
    pub fn engine_options(&self) -> EngineOptions {
        let search = &self.search;
        EngineOptions {
            application: self.name.clone(),
            searched: search.searched_nodes().clone(),
            written: search.written_nodes().clone(),
            username: search.username.clone(),
            password: search.credentials.clone(),
            authorities: search.authorities.as_ref().map(PathBuf::from),
            access_timeout: search.access_timeout.0,
            health_check_timeout: search.health_check_time(),
        }
    }

    /// Returns the folder in which a search service keeps what it needs over a restart.
    #[must_use]
    pub fn search_storage(&self) -> Storage {
        Storage::of(Path::new(&self.search.location), &self.name)
    }

    /// Returns the options of the gateway.
    #[must_use]
    pub fn gateway_options(&self) -> GatewayAppOptions {
        let gateway = &self.gateway;
        let subscriptions = &gateway.subscriptions;
        GatewayAppOptions {
            subgraphs: gateway.subgraphs.clone(),
            supergraph_file: gateway.supergraph_file.as_ref().map(PathBuf::from),
            forward_headers: gateway.forward_headers.0.clone(),
            cache_max_age: gateway.cache_max_age.0,
            dwell: gateway.dwell_time(),
            poll_interval: gateway.poll_interval.0,
            follow_bindings: gateway.follows_bindings,
            mutations: gateway.mutations,
            prune: gateway.prune,
            limits: gateway.limits.clone(),
            exchange: gateway.exchange.clone(),
            share_subgraph_requests: gateway.share_subgraph_requests,
            share_client_requests: gateway.share_client_requests,
            entity_memo: gateway.entity_memo,
            entity_memo_except: gateway.entity_memo_except.0.clone(),
            persisted: gateway.persisted.clone(),
            trusted: gateway.trusted.clone(),
            batch: gateway.batch,
            subscriptions: SubscriptionOptions {
                keep_alive: subscriptions.keep_alive,
                init_timeout: subscriptions.init_timeout,
                max_connections: subscriptions
                    .max_connections
                    .0
                    .and_then(|most| usize::try_from(most).ok()),
                max_operations: subscriptions.max_operations,
                max_message_bytes: subscriptions.max_message_bytes,
            },
            leeway: self.security.leeway,
            expects_tokens: self.security.is_on(),
        }
    }
}

/// Returns how long servers have for a health check: to the end, where others answer while one of them does not.
fn check_time(connection: &ConnectionOptions) -> Duration {
    let time = connection.health_check_timeout;
    if connection.fails_over() {
        // All are asked at once, and then one is written to.
        3 * time
    } else {
        time
    }
}
