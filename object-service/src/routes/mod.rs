//! The routes of an object service.

mod backups;
mod change_records;
mod dump;
mod soml;
mod soml_rbac;

use std::sync::Arc;

use service_runtime::{
    Right, Route, Routes, ServiceRouter, Tokens, common_routes, endpoint, login,
};
use soml_core::rbac::Operation::{Delete, Read, Write};

use super::app::App;

/// Returns all routes of the service.
pub(crate) fn routes(app: Arc<App>) -> ServiceRouter {
    let endpoint = endpoint(&app);
    let tokens = Tokens::demanded(app.host.verifier.clone());
    table(app).serve(endpoint, tokens)
}

/// Returns the routes beside the endpoint.
pub(crate) fn table(app: Arc<App>) -> Routes<App> {
    let provider = app.provider.clone();
    let routes = match &provider {
        Some(provider) => login::add(common_routes(Arc::clone(&app)), provider, &app.host),
        None => common_routes(app),
    };
    let get = Route::get;
    let put = |path| Route::put(path).once_loaded();
    let post = |path| Route::post(path).once_loaded();
    let delete = |path| Route::delete(path).once_loaded();
    let routes = routes
        .managed(get("/changes"), Right::Everything, change_records::read)
        .managed(
            Route::put("/backups/{name}"),
            Right::Everything,
            backups::make,
        )
        .managed(get("/dump").once_loaded(), Right::Everything, dump::read)
        .managed(get("/soml"), Right::AnyDocument(Read), soml::list)
        .managed(post("/soml"), Right::AnyDocument(Write), soml::create)
        .managed(get("/soml/{id}"), Right::Document(Read), soml::read)
        .managed(put("/soml/{id}"), Right::Document(Write), soml::replace)
        .managed(delete("/soml/{id}"), Right::Document(Delete), soml::remove)
        // To check a document changes nothing, and is for those who write some.
        .managed(
            post("/soml/{id}"),
            Right::AnyDocument(Write),
            soml::validate,
        )
        .managed(get("/soml-rbac"), Right::Rights(Read), soml_rbac::read)
        .managed(put("/soml-rbac"), Right::Rights(Write), soml_rbac::replace);
    ["/soml/{id}/objects", "/soml/{id}/soaas"]
        .into_iter()
        .fold(routes, |routes, path| {
            routes
                .managed(put(path), Right::Binding(Write), soml::bind)
                .managed(delete(path), Right::Binding(Delete), soml::unbind)
        })
}
