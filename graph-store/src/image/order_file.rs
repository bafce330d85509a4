//! The file of a folder with orders of the objects of its image, which the next start need not make again.
//!
//! The data do not depend on it: where it is missing, damaged, or of another image or version of the program, orders are
//! made when they are asked for. `docs/image-format.md` describes it.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use crc32fast::Hasher;

use super::Image;
use super::build::synced_folder;
use super::files::{ORDERS, PARTIAL};
use crate::pattern::SavedOrder;
use crate::private_files;

/// What the file begins with, with the version of its format.
const MAGIC: &[u8; 8] = b"ORDERS\x00\x01";
/// What the texts of specifications and the order of values depend on.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 4;

/// Writes orders of the objects of an image to a folder, in place of those that there are.
pub(super) fn write(folder: &Path, image: &Image, orders: &[SavedOrder<u32>]) -> io::Result<()> {
    let (path, beside) = (
        folder.join(ORDERS),
        folder.join(format!("{ORDERS}{PARTIAL}")),
    );
    let written = write_to(&beside, image, orders).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.and_then(|()| synced_folder(&path))
}

fn write_to(path: &Path, image: &Image, orders: &[SavedOrder<u32>]) -> io::Result<()> {
    let mut out = Checked {
        out: BufWriter::new(private_files::create(path)?),
        hasher: Hasher::new(),
    };
    out.write_all(MAGIC)?;
    out.text(PROGRAM)?;
    out.text(&image.digest())?;
    out.number(orders.len())?;
    for order in orders {
        out.text(&order.spec)?;
        out.number(order.nodes.len())?;
        for node in &*order.nodes {
            out.write_all(&node.to_le_bytes())?;
        }
    }
    let checksum = out.hasher.finalize();
    let mut out = out.out;
    out.write_all(&checksum.to_le_bytes())?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()
}

/// Returns the orders of the objects of an image that a folder has; none where its file is of no use.
pub(super) fn read(folder: &Path, image: &Image) -> Vec<SavedOrder<u32>> {
    let path = folder.join(ORDERS);
    let reason = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => error.to_string(),
        Ok(bytes) => match orders(&bytes, image) {
            Ok(orders) => return orders,
            Err(reason) => reason.to_owned(),
        },
    };
    tracing::warn!(
        path = %path.display(),
        reason,
        "saved sort orders cannot be read and are computed again"
    );
    Vec::new()
}

/// Reads the content of a file.
fn orders(bytes: &[u8], image: &Image) -> Result<Vec<SavedOrder<u32>>, &'static str> {
    const DAMAGED: &str = "the file is damaged";
    let end = bytes.len().checked_sub(CHECKSUM).ok_or(DAMAGED)?;
    let (content, checksum) = bytes.split_at(end);
    if crc32fast::hash(content).to_le_bytes() != checksum {
        return Err(DAMAGED);
    }
    let content = content.strip_prefix(MAGIC);
    let mut content = Content(content.ok_or("the file has a different format")?);
    if content.text().ok_or(DAMAGED)? != PROGRAM {
        return Err("the file was written by a different version of the program");
    }
    if content.text().ok_or(DAMAGED)? != image.digest() {
        return Err("the file is of other data");
    }
    let orders = content.number().ok_or(DAMAGED)?;
    let orders = (0..orders).map(|_| content.order(image));
    let orders: Option<Vec<SavedOrder<u32>>> = orders.collect();
    orders.filter(|_| content.0.is_empty()).ok_or(DAMAGED)
}

/// Computes the checksum of what is written.
struct Checked<W> {
    out: W,
    hasher: Hasher,
}

impl<W: Write> Checked<W> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.out.write_all(bytes)
    }

    fn number(&mut self, number: usize) -> io::Result<()> {
        let number = u32::try_from(number).map_err(io::Error::other)?;
        self.write_all(&number.to_le_bytes())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len())?;
        self.write_all(text.as_bytes())
    }
}

/// Content that is still to be read.
struct Content<'b>(&'b [u8]);

impl<'b> Content<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        usize::try_from(u32::from_le_bytes(*number)).ok()
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = self.number()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn order(&mut self, image: &Image) -> Option<SavedOrder<u32>> {
        let spec = self.text()?.to_owned();
        let length = self.number()?.checked_mul(size_of::<u32>())?;
        let (nodes, _) = self.take(length)?.as_chunks();
        let nodes: Arc<[u32]> = nodes.iter().map(|node| u32::from_le_bytes(*node)).collect();
        nodes
            .iter()
            .all(|node| *node < image.terms.iris)
            .then_some(SavedOrder {
                spec,
                nodes,
                terms: image.terms.count,
            })
    }
}
