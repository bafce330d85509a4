//! The table of the routes of a service: of each its method, its path, who may use it, and whether it waits for data.
//!
//! Nothing else says any of this. The rows are what the router is made of, what tokens are demanded by, what the rights
//! on schemas are asked for, and what is refused while data are loaded.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use axum::extract::Query;
use axum::http::{Method, Uri};
use soml_core::rbac::Operation;

/// Where services answer GraphQL requests.
pub const GRAPHQL: &str = "/graphql";

/// Who may use a route, where a service demands tokens. Without tokens, everyone may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Everyone.
    Public,
    /// Everyone who takes what is in the cache. `cache=false` makes the service work for whoever asks, so that needs a
    /// token.
    PublicIfCached,
    /// Whoever has a valid token.
    Token,
    /// Whoever has a valid token, and this right on schemas.
    Right(Right),
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Access::Public => f.write_str("everybody"),
            Access::PublicIfCached => f.write_str("everybody; with `cache=false` a token"),
            Access::Token => f.write_str("a token"),
            Access::Right(right) => write!(f, "a token, and {right}"),
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |operation| match operation {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Delete => "delete",
        };
        match *self {
            Right::Document(operation) => {
                write!(f, "the right to {} the document", verb(operation))
            }
            Right::Binding(operation) => write!(f, "the right to {} the binding", verb(operation)),
            Right::Rights(operation) => write!(f, "the right to {} rights", verb(operation)),
            Right::AnyDocument(operation) => {
                write!(f, "the right to {} some document", verb(operation))
            }
            Right::Everything => f.write_str("the right to everything"),
            Right::Checked => f.write_str("a right on what is bound"),
        }
    }
}

/// A right on schemas, which the roles of a token give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Right {
    /// On the document of the schema that the path names as `{id}`.
    Document(Operation),
    /// On what is bound to the service: the schema that the path names as `{id}`.
    Binding(Operation),
    /// On the rights themselves.
    Rights(Operation),
    /// On the document of at least one schema; of which, is known only once the body is read, so that is for the handler to
    /// check.
    AnyDocument(Operation),
    /// On everything.
    Everything,
    /// None: the handler looks at what the sender may.
    Checked,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// The method; `None` where the handler takes several. `GET` stands for `HEAD`, too.
    pub method: Option<Method>,
    /// The path, in the syntax of axum.
    pub path: Cow<'static, str>,
    /// Who may use it.
    pub access: Access,
    /// Whether it is answered with 503 `DATA_LOADING` while data are loaded.
    pub needs_data: bool,
}

impl Route {
    pub(crate) const fn new(method: Option<Method>, path: &'static str) -> Self {
        Route {
            method,
            path: Cow::Borrowed(path),
            access: Access::Token,
            needs_data: false,
        }
    }

    /// A route for `GET` and `HEAD`, for callers with a token.
    #[must_use]
    pub const fn get(path: &'static str) -> Self {
        Route::new(Some(Method::GET), path)
    }

    /// A route for `POST`, for callers with a token.
    #[must_use]
    pub const fn post(path: &'static str) -> Self {
        Route::new(Some(Method::POST), path)
    }

    /// A route for `PUT`, for callers with a token.
    #[must_use]
    pub const fn put(path: &'static str) -> Self {
        Route::new(Some(Method::PUT), path)
    }

    /// A route for `DELETE`, for callers with a token.
    #[must_use]
    pub const fn delete(path: &'static str) -> Self {
        Route::new(Some(Method::DELETE), path)
    }

    /// A public route for a path that is known at run time only.
    ///
    /// Segments may be parameters as in `/docs/{page}`, and the last may be `{*rest}`.
    #[must_use]
    pub fn public_at(method: Option<Method>, path: String) -> Self {
        Route {
            method,
            path: Cow::Owned(path),
            access: Access::Public,
            needs_data: false,
        }
    }

    /// Sets who may use the route.
    #[must_use]
    pub fn for_callers(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Opens the route to everyone.
    #[must_use]
    pub fn public(self) -> Self {
        self.for_callers(Access::Public)
    }

    /// Asks for a right on schemas.
    #[must_use]
    pub(crate) fn with_right(self, right: Right) -> Self {
        self.for_callers(Access::Right(right))
    }

    /// Refuses requests while data are loaded.
    #[must_use]
    pub fn once_loaded(mut self) -> Self {
        self.needs_data = true;
        self
    }

    fn takes(&self, method: &Method) -> bool {
        let method = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        self.method.as_ref().is_none_or(|own| own == method)
    }
}

/// The rows that requests are looked up in.
#[derive(Default)]
pub struct Table {
    rows: Arc<[Route]>,
    /// Positions of rows, by path.
    paths: matchit::Router<Vec<usize>>,
}

impl Table {
    /// Makes the table of some rows.
    ///
    /// # Errors
    /// When a path is malformed, or two paths can be the same.
    pub fn new(rows: Arc<[Route]>) -> Result<Self, PathError> {
        let mut paths: Vec<(&str, Vec<usize>)> = Vec::new();
        for (position, row) in rows.iter().enumerate() {
            match paths.iter_mut().find(|(path, _)| *path == row.path) {
                Some((_, positions)) => positions.push(position),
                None => paths.push((&row.path, vec![position])),
            }
        }
        let mut router = matchit::Router::new();
        for (path, positions) in paths {
            let inserted = router.insert(path, positions);
            inserted.map_err(|error| PathError(format!("the path {path}: {error}")))?;
        }
        Ok(Table {
            rows,
            paths: router,
        })
    }

    /// Returns whether a path is one of the table, whatever the method.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.of_path(path).next().is_some()
    }

    /// Returns the rows of a path. The routes ignore a slash at the end, too.
    fn of_path(&self, path: &str) -> impl Iterator<Item = &Route> {
        let path = match path {
            "/" => "/",
            path => path.strip_suffix('/').unwrap_or(path),
        };
        let found = self.paths.at(path).ok();
        let positions = found.map(|found| found.value.as_slice());
        positions
            .unwrap_or_default()
            .iter()
            .map(|position| &self.rows[*position])
    }

    /// Returns whether a request to a path of the service needs no token, which is so only where a row says it. Of its
    /// whole address the query is looked at.
    #[must_use]
    pub fn is_public(&self, method: &Method, path: &str, uri: &Uri) -> bool {
        let is_public = |row: &Route| match row.access {
            Access::Public => true,
            Access::PublicIfCached => allows_cache(uri),
            Access::Token | Access::Right(_) => false,
        };
        match self.row(method, path) {
            Some(row) => is_public(row),
            // Which methods a public path has is no secret.
            None => {
                let mut rows = self.of_path(path).peekable();
                rows.peek().is_some() && rows.all(is_public)
            }
        }
    }

    /// Returns whether a request has to wait until data are loaded.
    pub(crate) fn needs_data(&self, method: &Method, path: &str) -> bool {
        // The routes ignore slashes at the beginning, too.
        let path = format!("/{}", path.trim_start_matches('/'));
        self.row(method, &path).is_some_and(|row| row.needs_data)
    }

    /// Returns the position of the first row of a path.
    pub(crate) fn position(&self, path: &str) -> Option<usize> {
        // The routes ignore further slashes at the beginning and one at the end, too.
        let slashes = path.len() - path.trim_start_matches('/').len();
        let path = path.get(slashes.saturating_sub(1)..).unwrap_or(path);
        let path = match path {
            "/" => "/",
            path => path.strip_suffix('/').unwrap_or(path),
        };
        let found = self.paths.at(path).ok()?;
        found.value.first().copied()
    }

    /// Returns the path of each row.
    pub(crate) fn row_paths(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| &*row.path)
    }

    /// Returns the path of the row that a request is for, as the routes have it.
    pub(crate) fn path_of(&self, method: &Method, path: &str) -> Option<&str> {
        self.row(method, path).map(|row| &*row.path)
    }

    fn row(&self, method: &Method, path: &str) -> Option<&Route> {
        self.of_path(path).find(|row| row.takes(method))
    }
}

/// Why a path cannot be one of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PathError(String);

/// Returns whether parameters leave it to the service whether it answers from its cache.
fn allows_cache(uri: &Uri) -> bool {
    let parameters = Query::<Vec<(String, String)>>::try_from_uri(uri);
    parameters.is_ok_and(|Query(parameters)| {
        let mut parameters = parameters.iter();
        parameters.all(|(name, value)| name != "cache" || value == "true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let state = |path| Route::get(path).for_callers(Access::PublicIfCached);
        let rows = [
            Route::get("/").public(),
            Route::get("/files/{version}/{name}").public(),
            Route::get("/docs").public(),
            Route::get("/docs/{page}").public(),
            state("/__health"),
            Route::post("/api/login").public(),
            Route::get("/schema.graphql"),
            Route::get("/items/{id}").with_right(Right::Document(Operation::Read)),
            Route::put("/items/{id}")
                .with_right(Right::Document(Operation::Write))
                .once_loaded(),
            Route::get("/both").public(),
            Route::put("/both"),
            Route::new(None, GRAPHQL).once_loaded(),
        ];
        Table::new(Arc::new(rows)).unwrap()
    }

    #[test]
    fn only_public_rows_need_no_token() {
        let table = table();
        let is_public = |method: &Method, target: &str| {
            let uri: Uri = target.parse().unwrap();
            table.is_public(method, uri.path(), &uri)
        };
        for target in [
            "/__health",
            "/__health?cache=true",
            "/__health?x",
            "/__health?x=1&cache=true",
            "/__health?cachE=false",
            "/__health?x=cache%3Dfalse",
            "/__health?",
            "/__health/",
            "/api/login?x=1",
            "/api/login",
            "/",
            "/files/0/page.js",
            "/?query=x",
            "/docs",
            "/docs/",
            "/docs/queries",
            "/docs/queries?x=1",
            "/both",
        ] {
            // A method that there is none of is no secret.
            for method in [Method::GET, Method::HEAD, Method::PATCH] {
                let is_mixed = method == Method::PATCH && target == "/both";
                assert_eq!(is_public(&method, target), !is_mixed, "{method} {target}");
            }
        }
        assert!(!is_public(&Method::PUT, "/both"));
        for target in [
            "/graphql",
            "/graphql/",
            "//graphql",
            "/schema.graphql",
            "/items/a",
            "/metrics",
            "/__health?cache=false",
            "/__health?c%61che=false",
            "/__health?x&cache=false",
            "/__health?x=1&cache=false",
            "/__health?cache=true&cache=false",
            "/__health?cache=perhaps",
            "/__health?cache",
            "/__health/?cache=false",
            "//__health",
            "/__health//",
            "/__healthz",
            "/__HEALTH",
            "/api/login/x",
            "/api",
            "/files",
            "/files/0",
            "/files/0/a/b",
            "/docsx",
            "/docs/a/b",
            "/unknown",
        ] {
            for method in [Method::GET, Method::POST, Method::OPTIONS] {
                assert!(!is_public(&method, target), "{method} {target}");
            }
        }
    }

    #[test]
    fn a_path_is_counted_by_its_row() {
        let table = table();
        let row = |path| {
            table
                .position(path)
                .and_then(|at| table.row_paths().nth(at))
        };
        for (path, expected) in [
            ("/graphql", "/graphql"),
            ("//graphql/", "/graphql"),
            ("/items/a", "/items/{id}"),
            ("/", "/"),
            ("//", "/"),
            ("/files/0/page.js", "/files/{version}/{name}"),
        ] {
            assert_eq!(row(path), Some(expected), "{path}");
        }
        for path in ["/unknown", "/items/a/b", "", "*"] {
            assert_eq!(row(path), None, "{path}");
        }
    }

    #[test]
    fn what_needs_data_is_said_by_method_and_path() {
        let table = table();
        for (method, path) in [
            (Method::POST, "/graphql"),
            (Method::GET, "/graphql/"),
            (Method::GET, "//graphql"),
            (Method::PUT, "/items/a"),
            (Method::PUT, "/items/a/"),
        ] {
            assert!(table.needs_data(&method, path), "{method} {path}");
        }
        for (method, path) in [
            (Method::GET, "/items/a"),
            (Method::HEAD, "/items/a"),
            (Method::DELETE, "/items/a"),
            (Method::GET, "/"),
            (Method::GET, "/unknown"),
        ] {
            assert!(!table.needs_data(&method, path), "{method} {path}");
        }
    }
}
