//! Stores over images, as they are built and as they are opened.

use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::image::{FolderOptions, Image, ImageBuilder, ImageStore};
use oxrdf::Quad;

use crate::images::builder;

mod built {
    use super::*;

    graph_store::contract_tests!(store);

    fn store(quads: &[Quad]) -> Arc<dyn GraphStore> {
        Arc::new(ImageStore::new(builder(quads).build().expect("an image")))
    }
}

mod opened {
    use super::*;

    graph_store::contract_tests!(store);

    fn store(quads: &[Quad]) -> Arc<dyn GraphStore> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("image");
        builder(quads).write(&path).expect("a written image");
        Arc::new(ImageStore::new(Image::open(&path).expect("the image")))
    }
}

mod reopened {
    use super::*;
    use crate::back_end::written;

    graph_store::contract_tests!(store);

    fn store(quads: &[Quad]) -> Arc<dyn GraphStore> {
        let folder = tempfile::tempdir().expect("a folder");
        let options = FolderOptions::default();
        let store = ImageStore::create(&folder, ImageBuilder::new(), &options);
        let store = store.expect("a store in a folder");
        let put = |quads: &[Quad]| store.replace_data(builder(quads)).expect("an image");
        written::load(&store, quads, put, || store.merge().expect("an image"));
        drop(store);
        // All that is read of it is in memory once it is open.
        Arc::new(ImageStore::open(&folder, &options).expect("the folder is opened again"))
    }
}
