//! Tags of RDF/XML as the parser is given them.
//!
//! The parser reads an unknown `rdf:parseType` as nothing at all, refuses XML literals without content, knows
//! no RDF 1.2, ends the document at a malformed IRI or language tag, and takes bases as they are written. So the values of such
//! attributes are written in another form here; everything else stays as it is, byte for byte.
//! Inside of XML literals nothing changes.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::rc::Rc;

use oxilangtag::LanguageTag;
use oxiri::IriRef;

use crate::base::Base;
use crate::refusal::Refused;
use crate::report::thousands;
use crate::stand_ins::{STAND_IN_BYTES, StandIns};
use crate::xml_attributes::{Entities, OpeningTag, escaped, unescaped};

/// How many attributes a tag may have; the parser compares each with all others (RUSTSEC-2026-0194).
pub(crate) const ATTRIBUTES: usize = 1_024;

/// How many bytes the bases of the elements that are open may have in all; a relative one takes over the
/// base around it.
const BASE_BYTES: usize = 16 << 20;

/// Bytes that may be written in place of values, whatever the size of the document: a few bytes may be
/// resolved against a long base.
const WRITTEN_BYTES: u64 = 64 << 20;

/// Bytes that may be written in place of values, for each byte of tags.
const WRITTEN_FACTOR: u64 = 50;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const ITS: &str = "http://www.w3.org/2005/11/its";

/// Versions of RDF that a document may announce; constructs of 1.2 are refused where they stand.
const VERSIONS: [&str; 3] = ["1.1", "1.2", "1.2-basic"];

/// What the elements in an element are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Node elements, such as `rdf:Description`.
    Nodes,
    /// Property elements.
    Properties,
    /// Parts of an XML literal.
    Literal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Namespace {
    Rdf,
    Its,
    Other,
}

/// An element that is open.
#[derive(Clone, Copy, Debug)]
struct Element {
    content: Content,
    /// Namespaces and bases that were in force around it.
    prefixes: usize,
    bases: usize,
    base_bytes: usize,
}

/// Reads tags, and writes them in another form where they need it.
#[derive(Debug)]
pub(crate) struct XmlTags {
    stand_ins: Rc<StandIns>,
    elements: Vec<Element>,
    /// Prefixes of the namespaces that matter here, and prefixes that no longer are of one.
    prefixes: Vec<(Vec<u8>, Namespace)>,
    bases: Vec<Base>,
    /// Bytes of these bases.
    base_bytes: usize,
    /// Bytes of tags so far, and those that were written in place of their values.
    read: u64,
    written: u64,
}

/// What is written in place of parts of a tag, in their order.
type Edits = Vec<(Range<usize>, String)>;

impl XmlTags {
    pub(crate) fn new(base: Option<Base>, stand_ins: Rc<StandIns>) -> Self {
        XmlTags {
            stand_ins,
            elements: Vec::new(),
            prefixes: Vec::new(),
            bases: base.into_iter().collect(),
            base_bytes: 0,
            read: 0,
            written: 0,
        }
    }

    /// Returns whether the content of the element that is open is a literal.
    fn in_literal(&self) -> bool {
        let open = self.elements.last();
        open.is_some_and(|element| element.content == Content::Literal)
    }

    /// Reads a tag that opens an element, from `<` to `>`, and appends what the parser is given. Where it
    /// begins an XML literal, returns instead what the parser is given if the literal turns out to be
    /// empty, and if not.
    pub(crate) fn open(
        &mut self,
        tag: &OpeningTag<'_>,
        entities: &Entities,
        out: &mut Vec<u8>,
    ) -> io::Result<Option<LiteralTag>> {
        let element = Element {
            content: Content::Literal,
            prefixes: self.prefixes.len(),
            bases: self.bases.len(),
            base_bytes: self.base_bytes,
        };
        self.read += tag.text.len() as u64;
        let (content, literal) = if self.in_literal() {
            out.extend_from_slice(tag.text);
            (Content::Literal, None)
        } else {
            self.rewrite(tag, entities, out)?
        };
        self.elements.push(Element { content, ..element });
        if tag.is_empty {
            self.close();
        }
        Ok(literal)
    }

    /// Ends the element that is open.
    pub(crate) fn close(&mut self) {
        if let Some(element) = self.elements.pop() {
            self.prefixes.truncate(element.prefixes);
            self.bases.truncate(element.bases);
            self.base_bytes = element.base_bytes;
        }
    }

    fn rewrite(
        &mut self,
        tag: &OpeningTag<'_>,
        entities: &Entities,
        out: &mut Vec<u8>,
    ) -> io::Result<(Content, Option<LiteralTag>)> {
        let text = |range: &Range<usize>| tag.part(range);
        let attributes = &tag.attributes;
        for (key, value) in attributes {
            self.declare(text(key), text(value), entities);
        }
        let production = self.production(text(&tag.name));
        let mut tag_edits = Edits::new();
        let mut parse_type = None;
        let mut content = production.content;
        if production.is_property {
            self.check_parse_type(&mut attributes.iter().map(|(key, _)| text(key)))?;
        }
        // The base of an element is in force for its own attributes, wherever it stands.
        let (bases, others): (Vec<_>, Vec<_>) = attributes
            .iter()
            .cloned()
            .partition(|(key, _)| text(key) == b"xml:base");
        for (key, value) in bases.into_iter().chain(others) {
            let attribute = AttributeOf {
                key: text(&key),
                is_property: production.is_property,
            };
            let Some(known) = self.known(&attribute) else {
                continue;
            };
            let Some(written) = unescaped(text(&value), entities) else {
                continue;
            };
            match self.edit(known, &written, &attribute)? {
                Edit::None => {}
                Edit::Value(other) => {
                    self.count_written(&other)?;
                    tag_edits.push((value, escaped(&other)));
                }
                // With its closing quote.
                Edit::Remove => tag_edits.push((key.start..value.end + 1, String::new())),
                Edit::Content(inner, other) => {
                    content = inner;
                    let (prefix, _) = split(text(&key));
                    let prefix = String::from_utf8_lossy(prefix);
                    let datatype = format!("{prefix}:datatype=\"{RDF}XMLLiteral\"");
                    parse_type = Some((key.start..value.end + 1, datatype));
                    let other = other.map(|other| (value, other.to_owned()));
                    tag_edits.extend(other);
                }
            }
        }
        let Some((whole, datatype)) = parse_type.filter(|_| content == Content::Literal) else {
            write_edited(tag.text, &mut tag_edits, out);
            return Ok((content, None));
        };
        let mut literal = LiteralTag::default();
        write_edited(tag.text, &mut tag_edits, &mut literal.with_content);
        tag_edits.retain(|(range, _)| !whole.contains(&range.start));
        tag_edits.push((whole, datatype));
        write_edited(tag.text, &mut tag_edits, &mut literal.if_empty);
        Ok((content, Some(literal)))
    }

    /// Refuses attributes that the parser ignores where there is an `rdf:parseType`, as the
    /// [grammar](https://www.w3.org/TR/rdf-syntax-grammar/#parseTypeLiteralPropertyElt) has only an
    /// `rdf:ID` there.
    fn check_parse_type(&self, keys: &mut dyn Iterator<Item = &[u8]>) -> io::Result<()> {
        let (mut has_parse_type, mut other) = (false, None);
        for key in keys {
            let (prefix, local) = split(key);
            match (self.namespace(prefix), local) {
                _ if key.starts_with(b"xml") => {}
                (Namespace::Rdf, b"parseType") => has_parse_type = true,
                (Namespace::Rdf, b"ID" | b"version" | b"annotation" | b"annotationNodeID") => {}
                (Namespace::Its, b"version" | b"dir") => {}
                _ => other = other.or(Some(key)),
            }
        }
        match other.filter(|_| has_parse_type) {
            None => Ok(()),
            Some(key) => {
                let name = String::from_utf8_lossy(key);
                let message =
                    format!("{name} is not allowed where an element has an rdf:parseType");
                Err(Refused(message).into())
            }
        }
    }

    /// Takes in the declaration of a namespace.
    fn declare(&mut self, key: &[u8], value: &[u8], entities: &Entities) {
        let prefix = match key.strip_prefix(b"xmlns") {
            Some(b"") => &[],
            Some([b':', prefix @ ..]) => prefix,
            _ => return,
        };
        let namespace = match unescaped(value, entities).as_deref() {
            Some(RDF) => Namespace::Rdf,
            Some(ITS) => Namespace::Its,
            _ => Namespace::Other,
        };
        if namespace != self.namespace(prefix) {
            self.prefixes.push((prefix.to_vec(), namespace));
        }
    }

    fn namespace(&self, prefix: &[u8]) -> Namespace {
        let mut known = self.prefixes.iter().rev();
        let found = known.find(|(known, _)| known == prefix);
        found.map_or(Namespace::Other, |(_, namespace)| *namespace)
    }

    /// Returns what an element is, by its name and where it stands.
    fn production(&self, name: &[u8]) -> Production {
        let (prefix, local) = split(name);
        let is_rdf = local == b"RDF" && self.namespace(prefix) == Namespace::Rdf;
        let parent = self.elements.last().map(|element| element.content);
        match parent {
            None if is_rdf => Production {
                is_property: false,
                content: Content::Nodes,
            },
            None | Some(Content::Nodes) => Production {
                is_property: false,
                content: Content::Properties,
            },
            Some(_) => Production {
                is_property: true,
                content: Content::Nodes,
            },
        }
    }

    fn known(&self, attribute: &AttributeOf<'_>) -> Option<Known> {
        match attribute.key {
            b"xml:lang" => return Some(Known::Language),
            b"xml:base" => return Some(Known::Base),
            _ => {}
        }
        let (prefix, local) = split(attribute.key);
        if prefix.is_empty() {
            // The default namespace is not that of attributes.
            return None;
        }
        Some(match (self.namespace(prefix), local) {
            (Namespace::Rdf, b"about" | b"resource" | b"datatype" | b"type") => Known::Iri,
            (Namespace::Rdf, b"parseType") => Known::ParseType,
            (Namespace::Rdf, b"version") => Known::Version,
            (Namespace::Rdf, b"annotation" | b"annotationNodeID") | (Namespace::Its, b"dir") => {
                Known::Rdf12
            }
            (Namespace::Its, b"version") => Known::ItsVersion,
            _ => return None,
        })
    }

    fn edit(&mut self, known: Known, value: &str, attribute: &AttributeOf<'_>) -> io::Result<Edit> {
        if !attribute.is_property && !attribute.is_allowed_on_nodes(known) {
            let message = format!("{} is not allowed on a node element", attribute.name());
            return Err(Refused(message).into());
        }
        Ok(match known {
            Known::Language => self.language(value),
            Known::Base => self.base(value)?,
            Known::Iri => self.iri(value),
            Known::ParseType => match value {
                "Resource" => Edit::Content(Content::Properties, None),
                "Collection" => Edit::Content(Content::Nodes, None),
                "Literal" => Edit::Content(Content::Literal, None),
                "Triple" => return Err(rdf_12(&attribute.name(), "=\"Triple\"")),
                // https://www.w3.org/TR/rdf-syntax-grammar/#parseTypeOtherPropertyElt
                _ => Edit::Content(Content::Literal, Some("Literal")),
            },
            Known::Version if VERSIONS.contains(&value) => Edit::Remove,
            Known::Version => {
                let known = VERSIONS.join("`, `");
                let message = format!("unknown version `{value}` of RDF; known are `{known}`");
                return Err(Refused(message).into());
            }
            Known::ItsVersion => Edit::Remove,
            Known::Rdf12 => return Err(rdf_12(&attribute.name(), "")),
        })
    }

    fn language(&self, tag: &str) -> Edit {
        match LanguageTag::parse(tag) {
            Ok(_) => Edit::None,
            // The parser says what is wrong with it.
            Err(_) if tag.len() > STAND_IN_BYTES => Edit::None,
            Err(_) => Edit::Value(self.stand_ins.tag(tag)),
        }
    }

    fn base(&mut self, reference: &str) -> io::Result<Edit> {
        let base = match self.bases.last() {
            Some(base) => base.join(reference),
            None => Base::new(reference),
        };
        let Ok(base) = base else {
            // So it is malformed for the parser too.
            return Ok(Edit::None);
        };
        self.base_bytes += base.size();
        if self.base_bytes > BASE_BYTES {
            let most = thousands(BASE_BYTES as u64);
            let message =
                format!("the bases (xml:base) of nested elements have more than {most} bytes");
            return Err(Refused(message).into());
        }
        let is_absolute = IriRef::parse(reference).is_ok_and(|iri| iri.is_absolute());
        let edit = if is_absolute {
            Edit::None
        } else {
            Edit::Value(base.as_str().to_owned())
        };
        self.bases.push(base);
        Ok(edit)
    }

    /// Refuses a document that becomes far larger by what is written in place of its values.
    fn count_written(&mut self, other: &str) -> io::Result<()> {
        self.written += other.len() as u64;
        if self.written > WRITTEN_BYTES + WRITTEN_FACTOR * self.read {
            let message = "relative IRIs expand to too much text for the size of the document: the \
                           base (xml:base) is too long";
            return Err(Refused(message.to_owned()).into());
        }
        Ok(())
    }

    fn iri(&self, reference: &str) -> Edit {
        let other = match (IriRef::parse(reference), self.bases.last()) {
            (Ok(iri), _) if iri.is_absolute() => None,
            (Ok(_), Some(base)) => base.in_place_of(reference),
            _ if reference.len() > STAND_IN_BYTES => None,
            _ => Some(self.stand_ins.iri(reference)),
        };
        other.map_or(Edit::None, Edit::Value)
    }
}

/// A tag that begins an XML literal.
#[derive(Debug, Default)]
pub(crate) struct LiteralTag {
    pub(crate) with_content: Vec<u8>,
    /// The same with a datatype in place of `rdf:parseType`, since the parser refuses it without content.
    pub(crate) if_empty: Vec<u8>,
}

/// What an element is.
struct Production {
    is_property: bool,
    /// What its content is without an `rdf:parseType`.
    content: Content,
}

/// An attribute of an element.
struct AttributeOf<'t> {
    key: &'t [u8],
    is_property: bool,
}

impl AttributeOf<'_> {
    fn name(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.key)
    }

    /// Returns whether the [grammar](https://www.w3.org/TR/rdf-syntax-grammar/#nodeElement) has it for
    /// node elements; the parser ignores it there otherwise.
    fn is_allowed_on_nodes(&self, known: Known) -> bool {
        let (_, local) = split(self.key);
        match known {
            Known::ParseType => false,
            Known::Iri => !matches!(local, b"resource" | b"datatype"),
            _ => true,
        }
    }
}

/// Attributes that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Language,
    Base,
    Iri,
    ParseType,
    Version,
    ItsVersion,
    Rdf12,
}

/// What becomes of an attribute.
enum Edit {
    None,
    Value(String),
    Remove,
    /// Its element has this content, and perhaps another value.
    Content(Content, Option<&'static str>),
}

fn rdf_12(name: &str, value: &str) -> io::Error {
    let message = format!(
        "{name}{value} belongs to RDF/XML 1.2, which is not supported; \
         write the data in RDF 1.1"
    );
    Refused(message).into()
}

/// Returns the error for a tag with too many attributes.
pub(crate) fn too_many_attributes() -> io::Error {
    let most = thousands(ATTRIBUTES as u64);
    Refused(format!("a tag has more than {most} attributes")).into()
}

/// Splits a name into its prefix and what is behind it.
fn split(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().position(|byte| *byte == b':') {
        Some(at) => (
            name.get(..at).unwrap_or_default(),
            name.get(at + 1..).unwrap_or_default(),
        ),
        None => (&[], name),
    }
}

fn write_edited(tag: &[u8], edits: &mut Edits, out: &mut Vec<u8>) {
    edits.sort_by_key(|(range, _)| range.start);
    let mut from = 0;
    for (range, other) in edits {
        out.extend_from_slice(tag.get(from..range.start).unwrap_or_default());
        out.extend_from_slice(other.as_bytes());
        from = range.end;
    }
    out.extend_from_slice(tag.get(from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'";

    /// Reads tags in order, and returns what the last one is written as.
    fn last(base: Option<&str>, tags: &[&str]) -> Result<String, String> {
        let base = base.map(|base| Base::new(base).unwrap());
        let mut reader = XmlTags::new(base, Rc::new(StandIns::new()));
        let mut out = Vec::new();
        for tag in tags {
            out.clear();
            if tag.starts_with("</") {
                reader.close()
            } else {
                let is_empty = tag.ends_with("/>");
                let entities = Entities::default();
                let literal = reader.open(&OpeningTag::new(tag.as_bytes()), &entities, &mut out);
                if let Some(literal) = literal.map_err(|error| error.to_string())? {
                    out = if is_empty {
                        literal.if_empty
                    } else {
                        literal.with_content
                    };
                }
            }
        }
        Ok(String::from_utf8(out).unwrap())
    }

    fn property(tag: &str) -> Result<String, String> {
        last(None, &[&format!("<r:RDF {NAMES}>"), "<r:Description>", tag])
    }

    #[test]
    fn an_unknown_parse_type_is_a_literal() {
        for other in ["literal", "daml:collection", "", "Statements"] {
            assert_eq!(
                property(&format!("<p r:parseType = \"{other}\" r:ID='y'>")).unwrap(),
                "<p r:parseType = \"Literal\" r:ID='y'>"
            );
        }
        for known in ["Literal", "Resource", "Collection"] {
            let tag = format!("<p r:parseType='{known}'>");
            assert_eq!(property(&tag).unwrap(), tag);
        }
        assert_eq!(
            property("<p r:parseType='x' r:ID='a'/>").unwrap(),
            format!("<p r:datatype=\"{RDF}XMLLiteral\" r:ID='a'/>")
        );
        let other = "<p q:parseType='x'>";
        assert_eq!(property(other).unwrap(), other);
        assert!(
            property("<p r:parseType='Triple'>")
                .unwrap_err()
                .contains("RDF/XML 1.2")
        );
    }

    #[test]
    fn nothing_changes_inside_of_a_literal_and_everything_behind_it() {
        let rdf = format!("<r:RDF {NAMES}>");
        let start = [rdf.as_str(), "<r:Description>", "<p r:parseType='x'>"];
        let inner = "<q r:parseType='y' xml:lang='zh-classical'>";
        assert_eq!(last(None, &[&start[..], &[inner]].concat()).unwrap(), inner);
        let behind = [&start[..], &[inner, "</q>", "</p>", "<p r:parseType='y'>"]].concat();
        assert_eq!(last(None, &behind).unwrap(), "<p r:parseType='Literal'>");
    }

    #[test]
    fn constructs_of_rdf_1_2_are_refused_by_name() {
        for attribute in ["r:annotation='a:b'", "r:annotationNodeID='a'"] {
            let name = attribute.split('=').next().unwrap();
            let refused = property(&format!("<p {attribute}>")).unwrap_err();
            assert!(refused.starts_with(name), "{refused}");
        }
        let its = "<p xmlns:i='http://www.w3.org/2005/11/its' i:dir='rtl'>";
        assert!(property(its).unwrap_err().starts_with("i:dir"));
        let versioned = last(None, &[&format!("<r:RDF {NAMES} r:version='1.2' x='y'>")]);
        assert_eq!(versioned.unwrap(), format!("<r:RDF {NAMES}  x='y'>"));
        let unknown = last(None, &[&format!("<r:RDF {NAMES} r:version='2'>")]);
        assert!(unknown.unwrap_err().contains("`2`"));
    }

    #[test]
    fn attributes_that_the_parser_would_ignore_on_a_node_are_refused() {
        for attribute in ["parseType='Literal'", "resource='a:b'", "datatype='a:b'"] {
            let tag = format!("<r:Description r:{attribute}>");
            let refused = last(None, &[&format!("<r:RDF {NAMES}>"), &tag]).unwrap_err();
            assert!(refused.contains("node element"), "{refused}");
        }
    }

    #[test]
    fn attributes_that_the_parser_would_ignore_beside_a_parse_type_are_refused() {
        for attribute in ["r:resource='a:b'", "q:x='y'", "r:datatype='a:b'"] {
            for parse_type in ["Literal", "Resource", "Collection"] {
                let tag = format!("<p xml:lang='en' {attribute} r:parseType='{parse_type}'>");
                let refused = property(&tag).unwrap_err();
                assert!(refused.contains("rdf:parseType"), "{refused}");
            }
        }
    }

    #[test]
    fn bases_of_nested_elements_are_bounded_together() {
        let mut reader = XmlTags::new(None, Rc::new(StandIns::new()));
        let open = |reader: &mut XmlTags, tag: &str| {
            let opened = reader.open(
                &OpeningTag::new(tag.as_bytes()),
                &Entities::default(),
                &mut Vec::new(),
            );
            opened.map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(open(&mut reader, "<a xml:base='http://e/'>"), Ok(()));
        // Each takes over the base around it.
        let tag = format!("<a xml:base='{}/'>", "b".repeat(10_000));
        let refused = (0..100).find_map(|_| open(&mut reader, &tag).err());
        let refused = refused.unwrap();
        assert!(
            refused.contains("xml:base") && refused.contains("16,777,216"),
            "{refused}"
        );
        // What is closed counts no longer.
        reader.close();
        reader.close();
        assert_eq!(open(&mut reader, &tag), Ok(()));
    }

    #[test]
    fn a_long_base_is_written_in_place_of_few_short_references() {
        let base = format!("<a xml:base='http://e/{}/'>", "b".repeat(1 << 20));
        let read = |count: usize| {
            let mut tags = vec![base.as_str()];
            tags.resize(1 + count, "<b xml:base='c'/>");
            last(None, &tags).map(drop)
        };
        assert_eq!(read(64), Ok(()));
        assert!(read(200).unwrap_err().contains("xml:base"));
    }

    #[test]
    fn references_are_resolved_against_a_base_with_dot_segments() {
        let base = Some("http://a/bb/ccc/./d");
        let read = |tag: &str| last(base, &[&format!("<r:RDF {NAMES}>"), tag]).unwrap();
        assert_eq!(
            read("<r:Description r:about='../i'/>"),
            "<r:Description r:about='http://a/bb/i'/>"
        );
        let same = "<r:Description r:about='#i'/>";
        assert_eq!(read(same), same);
        assert_eq!(
            read("<r:Description r:about='g' xml:base='e/'/>"),
            "<r:Description r:about='g' xml:base='http://a/bb/ccc/e/'/>"
        );
        let malformed = read("<r:Description r:about='a b' xml:lang=''/>");
        assert!(malformed.contains("r:about='x-") && malformed.contains("xml:lang='x-"));
    }
}
