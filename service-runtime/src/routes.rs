//! Routes that are put together: each is a row of the table and a handler.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, any, on};
use graphql_http::{GraphqlEndpoint, HttpError, Sender};
use service_auth::Refusal;
use service_auth::rights::Manager;

use super::code;
use super::middleware::{Middleware, OtherPaths, Rest, ServiceRouter};
use super::schemas::{ManagesSchemas, guard};
use super::service::Host;
use super::table::{Access, GRAPHQL, Right, Route, Table};
use super::tokens::Tokens;

/// The routes of a service, while they are put together.
pub struct Routes<H> {
    app: Arc<H>,
    rows: Vec<Route>,
    router: Router<Arc<H>>,
}

impl<H: Host> Routes<H> {
    /// Begins without any route; [`common_routes`](crate::common_routes) begins with those that every service has.
    #[must_use]
    pub fn new(app: Arc<H>) -> Self {
        Routes {
            app,
            rows: Vec::new(),
            router: Router::new(),
        }
    }

    /// Adds a route that asks for no right on schemas.
    ///
    /// # Panics
    ///
    /// Panics if the route asks for one, which [`Routes::managed`] does, if axum does not know its method, and as
    /// [`Router::route`] does.
    #[must_use]
    pub fn with<F, T>(self, route: Route, handler: F) -> Self
    where
        F: Handler<T, Arc<H>>,
        T: 'static,
    {
        assert!(
            !matches!(route.access, Access::Right(_)),
            "nobody would check the right"
        );
        let handler = taken(&route, handler);
        self.add(route, handler)
    }

    /// Adds a route for those with a token, also where the service answers other requests without one, as a gateway does that
    /// leaves tokens to its subgraphs.
    #[must_use]
    pub(crate) fn for_the_known<F, T>(self, route: Route, handler: F) -> Self
    where
        F: Handler<T, Arc<H>>,
        T: 'static,
    {
        let guard = middleware::from_fn_with_state(Arc::clone(&self.app), known::<H>);
        let handler = taken(&route, handler).route_layer(guard);
        self.add(route, handler)
    }

    /// Adds a route for those with a right on schemas. The handler finds what the sender may as
    /// [`Manager`](service_auth::rights::Manager) in the extensions of the request.
    ///
    /// # Panics
    ///
    /// Panics if axum does not know the method of the route, and as [`Router::route`] does.
    #[must_use]
    pub fn managed<F, T>(self, route: Route, right: Right, handler: F) -> Self
    where
        H: ManagesSchemas,
        F: Handler<T, Arc<H>>,
        T: 'static,
    {
        let guard = middleware::from_fn_with_state((Arc::clone(&self.app), right), guard::<H>);
        let handler = taken(&route, handler).route_layer(guard);
        self.add(route.with_right(right), handler)
    }

    /// Adds a route for those who administer the service: holders of [`HostOptions::admin_role`](crate::HostOptions) and
    /// super roles, whatever rights on schemas are stored.
    ///
    /// # Panics
    ///
    /// Panics if axum does not know the method of the route, and as [`Router::route`] does.
    #[must_use]
    pub fn administered<F, T>(self, route: Route, handler: F) -> Self
    where
        F: Handler<T, Arc<H>>,
        T: 'static,
    {
        let guard = middleware::from_fn_with_state(Arc::clone(&self.app), administers::<H>);
        let handler = taken(&route, handler).route_layer(guard);
        self.add(route.with_right(Right::Everything), handler)
    }

    /// Sets who may learn that a path does not exist: without a row, only callers with a token do.
    #[must_use]
    pub fn absent(mut self, route: Route) -> Self {
        self.rows.push(route);
        self
    }

    fn add(mut self, route: Route, handler: MethodRouter<Arc<H>>) -> Self {
        self.router = self.router.route(&route.path, handler);
        // A row may have been there before there was something at its path.
        if !self.rows.contains(&route) {
            self.rows.push(route);
        }
        self
    }

    /// Ends with the GraphQL endpoint, at `/graphql`, and adds what is around all routes.
    #[must_use]
    pub fn serve(self, endpoint: GraphqlEndpoint, tokens: Tokens) -> ServiceRouter {
        let graphql = Route::new(None, GRAPHQL).once_loaded();
        self.absent(graphql)
            .end(Rest::Graphql(Box::new(endpoint)), tokens)
    }

    /// Ends with what answers requests to all other paths, and adds what is around all routes.
    #[must_use]
    pub fn serve_others(self, others: Arc<dyn OtherPaths>, tokens: Tokens) -> ServiceRouter {
        self.end(Rest::OtherPaths(others), tokens)
    }

    fn end(self, rest: Rest, tokens: Tokens) -> ServiceRouter {
        let Routes { app, rows, router } = self;
        let router = router.with_state(Arc::clone(&app));
        let rows: Arc<[Route]> = rows.into();
        let table = Table::new(Arc::clone(&rows)).expect("paths of a router");
        let middleware = Middleware::new((router, table), rest, app.state(), tokens);
        ServiceRouter::new(middleware, rows)
    }
}

/// Refuses requests of those who do not administer the service.
async fn administers<H: Host>(
    State(app): State<Arc<H>>,
    Sender(sender): Sender,
    request: Request,
    next: Next,
) -> Response {
    let role = &app.state().options.admin_role;
    if app.state().verifier.is_some() && sender.is_none() {
        return HttpError::unauthenticated(Refusal::Missing).into_response();
    }
    // Where tokens are asked for and no one here can verify one, no one is known to administer anything.
    if !app.needs_tokens() && app.state().verifier.is_none()
        || Manager::new(sender.as_deref(), role, None).may_everything()
    {
        return next.run(request).await;
    }
    let message = "this needs the role that manages schemas, or a super role";
    HttpError::new(code::FORBIDDEN, message).into_response()
}

/// Refuses requests of those who are not known, where the service can verify who they are.
pub(crate) async fn known<H: Host>(
    State(app): State<Arc<H>>,
    Sender(sender): Sender,
    request: Request,
    next: Next,
) -> Response {
    if app.state().verifier.is_some() && sender.is_none() {
        return HttpError::unauthenticated(Refusal::Missing).into_response();
    }
    next.run(request).await
}

/// Has a handler take the method of a route.
fn taken<H, F, T>(route: &Route, handler: F) -> MethodRouter<Arc<H>>
where
    H: Host,
    F: Handler<T, Arc<H>>,
    T: 'static,
{
    match &route.method {
        None => any(handler),
        Some(method) => {
            let filter = MethodFilter::try_from(method.clone());
            on(filter.expect("a method that axum knows"), handler)
        }
    }
}
