//! Reading a provisioning file.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use soml_core::Diagnostic;
use soml_core::yaml::Document;

use super::reader::Reader;
use super::{Mistake, Provisioning, ProvisioningError};

const MAX_BYTES: u64 = 1 << 20;

impl Provisioning {
    /// Reads a file; `${NAME}` as a password refers to an environment variable.
    ///
    /// # Errors
    /// When the file cannot be read, or has mistakes: all of them are reported.
    pub fn read(path: &Path) -> Result<Self, ProvisioningError> {
        let failed = |source| ProvisioningError::Read {
            path: path.to_owned(),
            source,
        };
        let mut text = String::new();
        let file = File::open(path).map_err(failed)?;
        let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
        if read.map_err(failed)? as u64 > MAX_BYTES {
            return Err(ProvisioningError::TooLarge {
                path: path.to_owned(),
                bytes: MAX_BYTES,
            });
        }
        let variable = |name: &str| env::var(name).ok();
        Provisioning::parse(&path.display().to_string(), &text, &variable)
    }

    /// Reads a text that errors call `name`, with the variables of an environment.
    ///
    /// # Errors
    /// When the text has mistakes.
    ///
    /// ```
    /// use service_auth::provisioning::Provisioning;
    ///
    /// let text = "security:\n  roles: [{name: Reader, default: true}]\n  \
    ///             users: [{username: anna, password: '${ANNA}'}]\n";
    /// let variable = |name: &str| (name == "ANNA").then(|| "correct horse".to_owned());
    /// let read = Provisioning::parse("users.yaml", text, &variable).unwrap();
    /// assert_eq!(read.users[0].roles, ["Reader"]);
    /// ```
    pub fn parse(
        name: &str,
        text: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ProvisioningError> {
        let invalid = |mistakes| ProvisioningError::Invalid {
            name: name.to_owned(),
            mistakes,
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document =
            Document::parse(text).map_err(|found| invalid(found.iter().map(of_yaml).collect()))?;
        let mut reader = Reader::new(text, variable);
        let read = reader.document(document.root());
        if reader.mistakes.is_empty() {
            Ok(read)
        } else {
            Err(invalid(reader.mistakes))
        }
    }
}

/// Help of the parser may quote the text, and so a password; its message does not.
fn of_yaml(found: &Diagnostic) -> Mistake {
    let start = found.place.map(|place| place.start);
    Mistake {
        line: start.map_or(1, |start| start.line),
        column: start.map_or(1, |start| start.column),
        message: found.message.clone(),
    }
}
