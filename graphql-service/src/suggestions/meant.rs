//! Fields that an input object does not have, with the ones that are meant.

use std::collections::HashMap;

/// What a field of an input object is called that clients know under another name, for hints.
///
/// An object may show a property under a second name that cannot be written; whoever writes that name is told
/// the first one.
///
/// ```
/// use graphql_service::MeantFields;
///
/// let mut meant = MeantFields::default();
/// meant.add("Planet_Create_Input", "name", "rdfs_label");
/// assert_eq!(meant.get("Planet_Create_Input", "name"), Some("rdfs_label"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct MeantFields(HashMap<String, HashMap<String, String>>);

impl MeantFields {
    /// Adds that `field` of the input object `of` is meant where `written` is.
    pub fn add(
        &mut self,
        of: impl Into<String>,
        written: impl Into<String>,
        field: impl Into<String>,
    ) {
        let fields = self.0.entry(of.into()).or_default();
        fields.insert(written.into(), field.into());
    }

    /// Returns the field that is meant.
    #[must_use]
    pub fn get(&self, of: &str, written: &str) -> Option<&str> {
        self.0.get(of)?.get(written).map(String::as_str)
    }
}
