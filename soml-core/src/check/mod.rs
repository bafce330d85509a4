//! What a document must satisfy beyond its form.

use crate::diagnostic::Findings;
use crate::raw::RawSchema;
use crate::resolve::Resolved;

/// Reports everything that is wrong with a resolved document.
pub(crate) fn check(raw: &RawSchema<'_>, resolved: &Resolved<'_>, findings: &mut Findings) {
    let _ = (raw, resolved, findings);
}
