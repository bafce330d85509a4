//! Files that take the place of the remote contexts of JSON-LD, which are never fetched.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::str::FromStr;

use oxrdfio::{JsonLdProfileSet, LoadedDocument, RdfFormat};

use crate::documents::check_json;
use crate::text::read_text;

/// A file for a remote context, as it is written on the command line: `URL=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFile {
    /// The address in `@context`.
    pub url: String,
    /// The file with what is found there.
    pub path: PathBuf,
}

/// The text is not `URL=FILE`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected URL=FILE, such as `https://schema.org/=schemaorg.jsonld`")]
pub struct NoContextFile;

impl FromStr for ContextFile {
    type Err = NoContextFile;

    fn from_str(text: &str) -> Result<Self, NoContextFile> {
        // An address may have signs of equality too, and the name of a file hardly does.
        match text.rsplit_once('=') {
            Some((url, path)) if !url.is_empty() && !path.is_empty() => Ok(ContextFile {
                url: url.to_owned(),
                path: path.into(),
            }),
            _ => Err(NoContextFile),
        }
    }
}

/// Files by the addresses of contexts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contexts(BTreeMap<String, PathBuf>);

impl Contexts {
    pub(crate) fn new(files: &[ContextFile]) -> Self {
        let files = files.iter();
        Contexts(
            files
                .map(|file| (file.url.clone(), file.path.clone()))
                .collect(),
        )
    }

    /// Returns what gives the parser the contexts that it asks for.
    pub(crate) fn loader(
        &self,
    ) -> impl Fn(&str) -> Result<LoadedDocument, Box<dyn Error + Send + Sync>> + use<> {
        let contexts = self.clone();
        move |url| contexts.read(url)
    }

    fn read(&self, url: &str) -> Result<LoadedDocument, Box<dyn Error + Send + Sync>> {
        let Some(path) = self.0.get(url) else {
            let message =
                format!("contexts are not fetched; --context {url}=FILE gives a file with it");
            return Err(message.into());
        };
        let named = |error| format!("{}: {error}", path.display());
        let text = read_text(path).map_err(named)?;
        check_json(text.as_bytes()).map_err(named)?;
        Ok(LoadedDocument {
            url: url.to_owned(),
            content: text.into_bytes(),
            format: RdfFormat::JsonLd {
                profile: JsonLdProfileSet::empty(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_an_address_and_a_file() {
        let file: ContextFile = "http://e/c?a=b=dir/c.jsonld".parse().unwrap();
        assert_eq!(file.url, "http://e/c?a=b");
        assert_eq!(file.path, PathBuf::from("dir/c.jsonld"));
        for text in ["", "x", "=x", "x="] {
            assert_eq!(text.parse::<ContextFile>(), Err(NoContextFile), "{text}");
        }
    }
}
