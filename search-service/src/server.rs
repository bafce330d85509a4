//! The table of the routes of a search service.

use std::sync::Arc;

use service_runtime::{Right, Route, Routes, ServiceRouter, Tokens, common_routes, endpoint};
use soml_core::rbac::Operation::{Delete, Write};

use super::app::SearchApp;
use super::routes;

/// Returns all routes of a search service.
pub(crate) fn serve(app: Arc<SearchApp>) -> ServiceRouter {
    let endpoint = endpoint(&app);
    let tokens = Tokens::demanded(app.host.verifier.clone());
    table(app).serve(endpoint, tokens)
}

/// Returns the routes beside the endpoint.
fn table(app: Arc<SearchApp>) -> Routes<SearchApp> {
    let bind = Route::put("/soml/{id}/search").once_loaded();
    let unbind = Route::delete("/soml/{id}/search").once_loaded();
    let refresh = Route::post("/soml/{id}/search/refresh").once_loaded();
    let validate = Route::post("/soml/validate").once_loaded();
    common_routes(app)
        .managed(validate, Right::AnyDocument(Write), routes::validate)
        // What is said there is about what is bound, and so is the right.
        .managed(Route::get("/soml/info"), Right::Checked, routes::info)
        .managed(bind, Right::Binding(Write), routes::bind)
        .managed(unbind, Right::Binding(Delete), routes::unbind)
        .managed(refresh, Right::Binding(Write), routes::refresh)
}
