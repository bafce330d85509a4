//! A server takes the indexes of real schemas, within its default limits unless a finding names the setting
//! to raise.

use std::collections::BTreeSet;

use graph_store::CallContext;
use search_index::engine::{Binding, PhysicalName, SearchEngine};
use search_index::mapping::{FindingKind, Indexes, MappingOptions, Owner};
use search_index::opensearch::OpenSearch;

use super::address;
use super::fake::options;
use crate::schema;

/// Real schemas, each with a name for its application.
const SCHEMAS: [(&str, &str); 3] = [
    (
        "bsdd",
        "soml-core/tests/data/bsdd/bsdd-graphql-soml-refact@fd10ed32.yaml",
    ),
    (
        "cim",
        "soml-core/tests/data/talk2powersystem/cim-subset-pretty-ontology.yaml",
    ),
    ("star-wars", "servers/demo/star-wars/schema.yaml"),
];

/// Settings that the findings ask for.
const RAISED: &str = r#"{"mapping": {"total_fields.limit": 20000, "nested_fields.limit": 5000}}"#;

/// Reads a schema, and has all of its objects searched.
fn searched(file: &str) -> String {
    let file = format!("{}/../{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("the schema");
    format!("config: {{search: {{index: yes}}}}\n{text}")
}

#[tokio::test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
async fn indexes_of_real_schemas_are_taken_or_a_finding_names_the_setting_to_raise() {
    for (application, file) in SCHEMAS {
        let schema = schema(&searched(file));
        let mut connection = options(&address());
        application.clone_into(&mut connection.application);
        let engine = OpenSearch::new(connection).expect("an engine");
        for settings in ["{}", RAISED] {
            let settings = settings.parse().expect("settings");
            let mapping = MappingOptions::default().with_settings(settings);
            let indexes = Indexes::new(&schema, &mapping);
            let indexes = indexes.unwrap_or_else(|error| panic!("{application}: {error}"));
            let refused = take(application, &engine, &indexes).await;
            let all = indexes.indexes.len();
            println!("{application}: {all} indexes, {} refused", refused.len());
        }
    }
}

/// Creates and deletes the indexes; those that the engine refuses have a finding, and no others have. Returns
/// their objects.
async fn take(application: &str, engine: &OpenSearch, indexes: &Indexes) -> BTreeSet<String> {
    let context = CallContext::new();
    let (mut refused, mut found) = (BTreeSet::new(), BTreeSet::new());
    for finding in &indexes.findings {
        let of_limits = [FindingKind::TotalFields, FindingKind::NestedFields];
        if of_limits.iter().any(|kind| kind.code() == finding.code) {
            let help = finding.help.as_deref().unwrap_or_default();
            assert!(
                help.contains(".limit` in `indexer.indexCreateSettings`"),
                "{help}"
            );
            let name = finding.message.split('`').nth(1).expect("an object");
            found.insert(name.to_owned());
        }
    }
    for definition in &indexes.indexes {
        let name = PhysicalName::new(definition, 1_000_001);
        let index = Binding {
            definition,
            name: &name,
        };
        let created = engine
            .create(index, &Owner::new(application), &context)
            .await;
        match created {
            Ok(()) => engine.delete(&name, &context).await.expect("deleted"),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("Limit of"), "{application}: {text}");
                refused.insert(definition.name.clone());
            }
        }
    }
    assert_eq!(refused, found, "{application}");
    refused
}
