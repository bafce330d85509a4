//! The warning of `soml serve` that the data are not those of the schema.

use std::sync::Arc;

use graph_store::CallContext;
use object_service::App;
use service_runtime::Host;
use soml_data::classes::{ClassCounts, classes_instead};
use tokio::runtime::Handle;

use crate::store::DataStore;

/// Maximum number of classes that the warning names.
const MAX_NAMED: usize = 10;

/// Warns if the data have no object of any type of the schema that is bound. No one waits for it.
pub(super) fn warn_in_background(app: &Arc<App>, store: &DataStore) {
    let (app, store) = (Arc::clone(app), store.clone());
    // The embedded store works on the thread that calls it.
    drop(tokio::task::spawn_blocking(move || {
        Handle::current().block_on(warn(&app, &store));
    }));
}

async fn warn(app: &App, store: &DataStore) {
    let Some((id, service)) = app.bound_schema() else {
        return;
    };
    let context = CallContext::new().with_timeout(app.state().options.request_timeout);
    let schema = service.api().soml();
    let graph_store = store.graph_store();
    let data = store.plain_data();
    let looked = classes_instead(
        schema,
        graph_store.as_ref(),
        data.view(),
        MAX_NAMED,
        &context,
    )
    .await;
    match looked {
        Ok(None) => {}
        Ok(Some(classes)) => tracing::warn!(
            schema = id,
            "the data have no object of any type of the schema; {}",
            described(&classes)
        ),
        Err(error) => {
            tracing::warn!(%error, "failed to look for objects of the types of the schema");
        }
    }
}

fn described(classes: &ClassCounts) -> String {
    if classes.largest.is_empty() {
        return "they have no classes at all".to_owned();
    }
    let named = classes.largest.iter();
    let named: Vec<String> = named
        .map(|(class, count)| format!("{class} ({count})"))
        .collect();
    let more = match classes.number - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("their classes are {}{more}", named.join(", "))
}
