//! The embedded store on disk keeps what it has.

use graph_store::oxigraph::OxigraphStore;
use graph_store::{CallContext, GraphStore};
use oxigraph::io::RdfFormat;

#[tokio::test]
async fn data_are_there_when_the_store_is_opened_again() {
    let folder = std::env::temp_dir().join(format!("on-disk-{}", std::process::id()));
    let store = OxigraphStore::open(&folder).expect("a new store");
    let data = "<http://r/1> <http://r/p> 1 .";
    let loaded = store.inner().load_from_slice(RdfFormat::Turtle, data);
    loaded.expect("the data are well formed");
    assert!(OxigraphStore::open(&folder).is_err(), "one at a time");
    drop(store);
    let store = OxigraphStore::open(&folder).expect("the same store");
    assert_eq!(store.inner().len().expect("it is readable"), 1);
    let info = store.probe(&CallContext::new()).await;
    assert_eq!(info.expect("it answers").provider, "rocksdb");
    drop(store);
    std::fs::remove_dir_all(folder).expect("the folder is there");
}
