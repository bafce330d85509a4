//! Stores over images, as they are built and as they are opened.

use std::sync::Arc;

use graph_store::GraphStore;
use graph_store::image::{Image, ImageBuilder, ImageStore};
use oxrdf::Quad;

fn builder(quads: &[Quad]) -> ImageBuilder {
    let mut builder = ImageBuilder::new();
    for quad in quads {
        builder.add(quad.as_ref()).expect("room for a few quads");
    }
    builder
}

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
