//! Where a load puts the statements that it reads.

use graph_store::image::{ImageBuilder, ImageError, ImageStore, QuadBatch};
use oxrdf::Quad;

use crate::report::LoadError;

/// A store that files can be loaded into.
pub trait LoadTarget {
    /// Begins a load.
    ///
    /// # Errors
    ///
    /// Fails when the store cannot be read.
    fn sink(&self) -> Result<Box<dyn Sink + '_>, LoadError>;
}

/// What takes the statements of one load. Dropped, it leaves the store as it was.
pub trait Sink {
    /// Takes statements.
    ///
    /// # Errors
    ///
    /// Fails when the store does, or has no room.
    fn add(&mut self, quads: Vec<Quad>) -> Result<(), LoadError>;

    /// Takes statements that share their terms.
    ///
    /// # Errors
    ///
    /// As [`Sink::add`].
    fn add_batch(&mut self, batch: QuadBatch) -> Result<(), LoadError>;

    /// Makes all statements visible at once; returns how many of them the store did not have before.
    ///
    /// # Errors
    ///
    /// Fails when the store does; it is unchanged then.
    fn commit(self: Box<Self>) -> Result<u64, LoadError>;
}

/// Builds an image of what is loaded.
pub struct ImageSink<F> {
    builder: ImageBuilder,
    put: F,
}

impl<F> ImageSink<F>
where
    F: FnOnce(ImageBuilder) -> Result<u64, ImageError>,
{
    /// Creates a sink that adds to `builder`.
    ///
    /// At the end of the load, `put` builds the image where it belongs, and returns how many statements are new.
    pub fn new(builder: ImageBuilder, put: F) -> Self {
        ImageSink { builder, put }
    }
}

impl<F> Sink for ImageSink<F>
where
    F: FnOnce(ImageBuilder) -> Result<u64, ImageError>,
{
    fn add(&mut self, quads: Vec<Quad>) -> Result<(), LoadError> {
        let mut quads = quads.iter();
        quads
            .try_for_each(|quad| self.builder.add(quad.as_ref()))
            .map_err(LoadError::Image)
    }

    fn add_batch(&mut self, batch: QuadBatch) -> Result<(), LoadError> {
        self.builder.add_batch(&batch).map_err(LoadError::Image)
    }

    fn commit(self: Box<Self>) -> Result<u64, LoadError> {
        (self.put)(self.builder).map_err(LoadError::Image)
    }
}

impl LoadTarget for ImageStore {
    fn sink(&self) -> Result<Box<dyn Sink + '_>, LoadError> {
        let mut builder = ImageBuilder::new();
        self.add_to(&mut builder).map_err(LoadError::Image)?;
        let before = self.quads();
        Ok(Box::new(ImageSink::new(builder, move |builder| {
            self.replace_data(builder)?;
            Ok(self.quads() - before)
        })))
    }
}
