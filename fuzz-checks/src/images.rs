//! Images: any bytes are refused, or what they hold can be read to the end and agrees with itself.

use std::collections::HashSet;
use std::sync::OnceLock;

use graph_store::image::{Image, ImageBuilder, ImageStore};
use graph_store::query::{
    Dataset, HydrationRequest, NodeCondition, Page, Selection, Slot, Step, TypeTest,
};
use graph_store::{CallContext, GraphStore};
use oxrdf::{NamedNode, Quad};
use oxrdfio::{RdfFormat, RdfParser};

/// What the image holds that inputs change.
const DATA: &str = r#"
<http://e/a> <http://v/type> <http://v/T> .
<http://e/a> <http://v/size> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/b> <http://v/size> "1.0"^^<http://www.w3.org/2001/XMLSchema#decimal> <http://g/1> .
<http://e/b> <http://v/type> <http://v/T> <http://g/1> .
<http://e/b> <http://v/type> <http://v/T> <http://g/2> .
<http://e/b> <http://v/next> <http://e/a> .
<http://e/b> <http://v/next> _:x .
<http://e/long/way/off/c> <http://v/next> <http://e/b> .
<http://e/long/way/off/c> <http://v/name> "c"@en .
<http://e/long/way/off/c> <http://v/name> "C" .
"#;

/// Bytes of the footer, and of an entry of the directory.
const FOOTER: usize = 40;
const ENTRY: usize = 32;

/// Reads the input as an image, and as changes of a right one whose checksums are made right again.
///
/// A change is three bytes: where, which is two, and what.
pub fn run(input: &[u8]) {
    check(input);
    let mut bytes = image();
    for change in input.chunks_exact(3).take(64) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] ^= change[2];
        // What lies behind is of more effect with the right beginning.
        repair(&mut bytes);
    }
    check(&bytes);
}

/// Returns the bytes of the image that is changed.
fn image() -> Vec<u8> {
    static IMAGE: OnceLock<Image> = OnceLock::new();
    let image = IMAGE.get_or_init(|| {
        let mut builder = ImageBuilder::new();
        for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(DATA.as_bytes()) {
            let quad = quad.expect("the data are N-Quads");
            builder.add(quad.as_ref()).expect("room for a few quads");
        }
        builder.build().expect("a small image")
    });
    let mut bytes = Vec::new();
    image.write_to(&mut bytes).expect("memory takes all");
    bytes
}

/// Makes all checksums right, as far as the directory can be found.
fn repair(bytes: &mut [u8]) {
    let number = |bytes: &[u8], at: usize| -> Option<u64> {
        let bytes = bytes.get(at..at + 8)?.try_into().ok()?;
        Some(u64::from_ne_bytes(bytes))
    };
    let size = |number: u64| usize::try_from(number).ok();
    let footer = bytes.len() - FOOTER;
    let Some(start) = number(bytes, footer + 8).and_then(size) else {
        return;
    };
    let entries = number(bytes, footer + 16).map_or(0, |entries| entries & 0xFFFF_FFFF);
    let Some(end) = size(entries)
        .and_then(|entries| entries.checked_mul(ENTRY))
        .and_then(|length| start.checked_add(length))
        .filter(|end| *end <= footer)
    else {
        return;
    };
    for entry in (start..end).step_by(ENTRY) {
        let offset = number(bytes, entry + 8).and_then(size);
        let length = number(bytes, entry + 16).and_then(size);
        let (Some(offset), Some(length)) = (offset, length) else {
            continue;
        };
        let end = offset.checked_add(length);
        let Some(content) = end.and_then(|end| bytes.get(offset..end)) else {
            continue;
        };
        let checksum = crc32fast::hash(content).to_ne_bytes();
        bytes[entry + 24..entry + 28].copy_from_slice(&checksum);
    }
    let checksum = crc32fast::hash(&bytes[start..end]).to_ne_bytes();
    bytes[footer + 20..footer + 24].copy_from_slice(&checksum);
    let checksum = crc32fast::hash(&bytes[footer..footer + 28]).to_ne_bytes();
    bytes[footer + 28..footer + 32].copy_from_slice(&checksum);
}

fn check(bytes: &[u8]) {
    let Ok(image) = Image::from_bytes(bytes) else {
        return;
    };
    let quads: Vec<Quad> = image.iter().collect();
    assert_eq!(quads.len() as u64, image.quads());
    let triples: HashSet<_> = quads
        .iter()
        .map(|quad| (&quad.subject, &quad.predicate, &quad.object))
        .collect();
    // Changed bytes may say one term twice.
    assert!(triples.len() as u64 <= image.triples());
    let store = ImageStore::new(image);
    futures::executor::block_on(ask(&store));
}

/// Asks for objects and their values; whatever there is, it ends.
async fn ask(store: &ImageStore) {
    let name = |name: &str| NamedNode::new_unchecked(format!("http://v/{name}"));
    let selection = Selection {
        condition: NodeCondition::Instance(TypeTest::new(name("type"), vec![name("T")])),
        order: Vec::new(),
        page: Page::default(),
        dataset: Dataset::default(),
    };
    let context = CallContext::new();
    let nodes = store.select(&selection, &context).await;
    let nodes = nodes.expect("nothing stands in the way");
    let slots = ["size", "next", "name"].map(|property| Slot::new(Step::forward(name(property))));
    let request = HydrationRequest {
        nodes: (&nodes).into(),
        slots: &slots,
        dataset: &selection.dataset,
    };
    let hydrated = store.hydrate(&request, &context).await;
    assert_eq!(hydrated.expect("values").columns.len(), 3);
}
