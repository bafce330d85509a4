//! What can be wrong with an image.

use std::io;
use std::path::{Path, PathBuf};

/// An error of building, writing or opening an image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The file cannot be read or written.
    #[error("failed to access the image {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The bytes are no whole image of this version.
    #[error("the image {}: {fault}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        fault: Fault,
    },
    /// The data are too many for one image.
    #[error("an image holds at most {limit} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many of them fit.
        limit: u64,
    },
}

/// Why bytes are not an image that can be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes do not begin and end as an image does.
    #[error("it is not an image, or its end is missing")]
    NotAnImage,
    /// The image was written by another version of the format.
    #[error(
        "its format has version {found}, and this program reads version {known}: build it again"
    )]
    Version {
        /// The version of the file.
        found: u32,
        /// The version that is read here.
        known: u32,
    },
    /// The image is from a machine with the other order of bytes.
    #[error("its bytes are in the order of another kind of machine: build it again")]
    ByteOrder,
    /// A checksum differs from the content, or parts contradict each other.
    #[error("its section {section} is damaged: restore or build it again")]
    Damaged {
        /// The part that is damaged.
        section: &'static str,
    },
}

impl ImageError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| ImageError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

pub(super) fn damaged(section: &'static str) -> Fault {
    Fault::Damaged { section }
}
