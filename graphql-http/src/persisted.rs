//! Operations that clients name instead of sending their text: automatic persisted queries, which clients bring
//! themselves, and trusted documents, which a file lists.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use apollo_compiler::response::JsonValue;
use aws_lc_rs::digest::{SHA256, digest};
use graphql_service::{ErrorCode, GraphqlError, Request};
use moka::sync::Cache;
use serde::Deserialize;
use service_metrics::{CacheMetrics, Watch};

use crate::code;

/// Bytes that an entry takes beside its text.
const ENTRY: usize = 256;

/// Queries that clients bring once and name later.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PersistedOptions {
    /// Whether clients may do so.
    pub enabled: bool,
    /// Bytes of queries that are kept.
    pub cache_bytes: usize,
}

/// Operations that a file lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrustedOptions {
    /// The file.
    pub file: Option<String>,
    /// Whether nothing else is answered.
    pub required: bool,
}

impl Default for PersistedOptions {
    fn default() -> Self {
        PersistedOptions {
            enabled: true,
            cache_bytes: 8 << 20,
        }
    }
}

/// Name of the cache in metrics.
const CACHE: &str = "persisted_queries";

/// The operations that clients may name.
pub struct PersistedQueries {
    /// Texts that clients have brought, by their hash; `None` where that is switched off.
    brought: Option<Cache<String, Arc<str>>>,
    trusted: Option<Trusted>,
    /// Nothing else than trusted documents is answered.
    is_closed: bool,
    metrics: CacheMetrics,
    _watch: Option<Watch>,
}

/// The documents of a file.
struct Trusted {
    by_id: HashMap<String, Arc<str>>,
    hashes: HashSet<String>,
}

/// Why trusted documents cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustedError {
    /// The file cannot be read.
    #[error("failed to read `gateway.trustedDocuments.file` {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The file is no list of documents.
    #[error(
        "`gateway.trustedDocuments.file` {path} is neither an object of documents by their names nor a \
         persisted query manifest: {source}"
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// Nothing would be answered.
    #[error(
        "`gateway.trustedDocuments.required` is on, but `gateway.trustedDocuments.file` names no \
         file"
    )]
    NoFile,
}

/// The forms of a file of documents.
#[derive(Deserialize)]
#[serde(untagged)]
enum Listed {
    Manifest { operations: Vec<Operation> },
    ByName(HashMap<String, String>),
}

/// An operation of a manifest.
#[derive(Deserialize)]
struct Operation {
    id: String,
    body: String,
}

impl PersistedQueries {
    /// Reads what the settings name.
    ///
    /// # Errors
    /// When there is no file of trusted documents where one is needed, or it cannot be used.
    pub fn of(
        persisted: &PersistedOptions,
        trusted: &TrustedOptions,
    ) -> Result<Self, TrustedError> {
        let weight = |key: &String, text: &Arc<str>| {
            u32::try_from(key.len() + text.len() + ENTRY).unwrap_or(u32::MAX)
        };
        let is_open = persisted.enabled && !trusted.required;
        let brought = is_open.then(|| {
            let cache = Cache::builder().weigher(weight);
            cache.max_capacity(persisted.cache_bytes as u64).build()
        });
        let listed = trusted
            .file
            .as_ref()
            .map(|file| Trusted::read(PathBuf::from(file)));
        if trusted.required && listed.is_none() {
            return Err(TrustedError::NoFile);
        }
        let watch = brought.as_ref().map(|brought| {
            let brought = brought.clone();
            CacheMetrics::watch_entries(CACHE, move || brought.entry_count())
        });
        Ok(PersistedQueries {
            metrics: CacheMetrics::new(CACHE),
            _watch: watch,
            brought,
            trusted: listed.transpose()?,
            is_closed: trusted.required,
        })
    }

    /// Puts the text into a request that names it, remembers a text that comes with its name, and refuses what
    /// is not trusted.
    ///
    /// # Errors
    /// When the name is not known, does not fit the text, or the text is not trusted.
    pub(crate) fn resolve(&self, mut request: Request) -> Result<Request, GraphqlError> {
        let name = named(&request).map(str::to_owned);
        match name {
            None => {}
            Some(name) if request.query.is_empty() => {
                let trusted = self
                    .trusted
                    .as_ref()
                    .and_then(|it| it.by_id.get(&name).cloned());
                let brought = || {
                    let brought = self.brought.as_ref()?;
                    self.metrics.found(brought.get(&name.to_ascii_lowercase()))
                };
                let text = trusted.or_else(brought).ok_or_else(|| self.unknown())?;
                request.query = text.to_string();
                // What a file lists is trusted, and what is brought is not kept where that counts.
                return Ok(request);
            }
            Some(name) => {
                let hash = hash(&request.query);
                if !name.eq_ignore_ascii_case(&hash) {
                    let message =
                        "the hash in `extensions.persistedQuery` is not that of the query";
                    return Err(GraphqlError::new(code::PERSISTED_QUERY_MISMATCH, message));
                }
                if let Some(brought) = &self.brought {
                    brought.insert(hash, request.query.as_str().into());
                }
            }
        }
        if self.is_closed {
            let trusted = self.trusted.as_ref();
            if !trusted.is_some_and(|it| it.hashes.contains(&hash(&request.query))) {
                let message = "the operation is not one of the trusted operations of the gateway";
                return Err(GraphqlError::new(code::OPERATION_NOT_TRUSTED, message));
            }
        }
        Ok(request)
    }

    /// The messages are what clients of the protocol look for.
    fn unknown(&self) -> GraphqlError {
        match self.brought {
            Some(_) => error(code::PERSISTED_QUERY_NOT_FOUND, "PersistedQueryNotFound"),
            None => not_supported(),
        }
    }
}

/// Returns the answer of a service without persisted queries to a request that names one.
pub(crate) fn not_supported() -> GraphqlError {
    error(
        code::PERSISTED_QUERY_NOT_SUPPORTED,
        "PersistedQueryNotSupported",
    )
}

fn error(code: ErrorCode, message: &str) -> GraphqlError {
    GraphqlError::new(code, message)
}

impl Trusted {
    fn read(path: PathBuf) -> Result<Self, TrustedError> {
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(source) => return Err(TrustedError::Read { path, source }),
        };
        let listed = match serde_json::from_slice(&text) {
            Ok(listed) => listed,
            Err(source) => return Err(TrustedError::Malformed { path, source }),
        };
        let documents: Vec<(String, String)> = match listed {
            Listed::Manifest { operations } => {
                let operations = operations.into_iter();
                operations.map(|it| (it.id, it.body)).collect()
            }
            Listed::ByName(documents) => documents.into_iter().collect(),
        };
        let hashes = documents.iter().map(|(_, text)| hash(text)).collect();
        let by_id = documents.into_iter().map(|(id, text)| (id, text.into()));
        Ok(Trusted {
            by_id: by_id.collect(),
            hashes,
        })
    }
}

/// Returns the name of the operation that a request asks for.
pub(crate) fn named(request: &Request) -> Option<&str> {
    let persisted = request.extensions.as_ref()?.get("persistedQuery")?;
    persisted
        .as_object()?
        .get("sha256Hash")
        .and_then(JsonValue::as_str)
}

/// Returns the SHA-256 hash of a text in hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    let digest = digest(&SHA256, text.as_bytes());
    let digits = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named_by(query: &str, name: &str) -> Request {
        let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": name } });
        Request::new(query).with_extensions(extensions.as_object().unwrap().clone())
    }

    fn resolved(queries: &PersistedQueries, request: Request) -> Result<String, &'static str> {
        let resolved = queries.resolve(request);
        resolved
            .map(|it| it.query)
            .map_err(|error| error.code.as_str())
    }

    fn of(is_open: bool, bytes: usize, trusted: TrustedOptions) -> PersistedQueries {
        let settings = PersistedOptions {
            enabled: is_open,
            cache_bytes: bytes,
        };
        PersistedQueries::of(&settings, &trusted).unwrap()
    }

    #[test]
    fn a_text_that_came_with_its_hash_is_found_by_it() {
        let queries = of(true, 1 << 20, TrustedOptions::default());
        let hash = hash("{ a }");
        assert_eq!(hash.len(), 64);
        assert_eq!(
            resolved(&queries, named_by("", &hash)),
            Err("PERSISTED_QUERY_NOT_FOUND")
        );
        assert_eq!(
            resolved(&queries, named_by("{ b }", &hash)),
            Err("PERSISTED_QUERY_MISMATCH")
        );
        assert_eq!(
            resolved(&queries, named_by("{ a }", &hash)).unwrap(),
            "{ a }"
        );
        assert_eq!(resolved(&queries, named_by("", &hash)).unwrap(), "{ a }");
        assert_eq!(resolved(&queries, Request::new("{ c }")).unwrap(), "{ c }");
        let off = of(false, 0, TrustedOptions::default());
        assert_eq!(
            resolved(&off, named_by("", &hash)),
            Err("PERSISTED_QUERY_NOT_SUPPORTED")
        );
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let queries = of(true, 10_000, TrustedOptions::default());
        for number in 0..1_000 {
            let text = format!("{{ a{number} }}");
            let name = hash(&text);
            resolved(&queries, named_by(&text, &name)).unwrap();
        }
        let kept = queries.brought.as_ref().unwrap();
        kept.run_pending_tasks();
        assert!(kept.weighted_size() <= 10_000, "{}", kept.weighted_size());
    }

    #[test]
    fn trusted_documents_are_found_by_name_and_can_be_the_only_ones() {
        let folder = tempfile::tempdir().unwrap();
        let by_name = json!({"planets": "{ planets }"}).to_string();
        let manifest = json!({"format": "apollo-persisted-query-manifest", "version": 1,
            "operations": [{"id": "planets", "name": "P", "type": "query", "body": "{ planets }"}]});
        for text in [by_name, manifest.to_string()] {
            let file = folder.path().join("documents.json");
            std::fs::write(&file, text).unwrap();
            let trusted = |required| TrustedOptions {
                file: Some(file.display().to_string()),
                required,
            };
            let open = of(true, 1 << 20, trusted(false));
            assert_eq!(
                resolved(&open, named_by("", "planets")).unwrap(),
                "{ planets }"
            );
            assert_eq!(
                resolved(&open, Request::new("{ other }")).unwrap(),
                "{ other }"
            );
            let closed = of(true, 1 << 20, trusted(true));
            assert_eq!(
                resolved(&closed, named_by("", "planets")).unwrap(),
                "{ planets }"
            );
            assert_eq!(
                resolved(&closed, Request::new("{ planets }")).unwrap(),
                "{ planets }"
            );
            let other = hash("{ other }");
            for request in [Request::new("{ other }"), named_by("{ other }", &other)] {
                assert_eq!(resolved(&closed, request), Err("OPERATION_NOT_TRUSTED"));
            }
        }
        let none = TrustedOptions {
            file: None,
            required: true,
        };
        assert!(PersistedQueries::of(&PersistedOptions::default(), &none).is_err());
        let wrong = TrustedOptions {
            file: Some(folder.path().join("nothing").display().to_string()),
            required: false,
        };
        assert!(PersistedQueries::of(&PersistedOptions::default(), &wrong).is_err());
    }
}
