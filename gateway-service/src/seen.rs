//! What was seen of the subgraphs.

use service_runtime::HealthRecord;

/// What was seen of the subgraphs.
pub(crate) struct Seen {
    /// The names of the subgraphs.
    pub(crate) names: Vec<String>,
    /// Their records.
    pub(crate) records: Vec<HealthRecord>,
    /// Why subgraphs are not good to go.
    pub(crate) obstacles: Vec<String>,
}

impl Seen {
    /// Returns the record of each subgraph, with the name of that.
    pub(crate) fn records(&self) -> impl Iterator<Item = (&str, &HealthRecord)> {
        let names = self.names.iter().map(String::as_str);
        names.zip(&self.records)
    }
}
