//! The roles of a schema, as searches obey them.

use std::collections::HashSet;
use std::sync::Arc;

use graph_store::facts::Seen;
use graphql_service::RequestContext;
use object_engine::graphql_gen::typesystem::{Api, ApiError, ApiOptions};
use object_engine::{EngineLimits, IndexRules, Sight};
use search_index::access;
use search_index::mapping::{Content, FindingKind, Indexes, MappingOptions, ObjectFields};
use soml_core::schema::ObjectId;
use soml_core::{Finding, Valid};

/// The roles of a schema: what searches obey, and what indexes hold for it.
///
/// [`SearchService`](search_index::service::SearchService) takes them by
/// [`with_rules`](search_index::service::SearchServiceOptions::with_rules), over indexes that are defined with
/// [`Roles::mapping`].
#[derive(Clone, Debug)]
pub struct Roles(Arc<IndexRules>);

/// What a sender sees.
#[derive(Debug)]
struct Seeing(Sight);

impl Roles {
    /// Works out what the roles of a schema let senders see.
    ///
    /// # Errors
    /// When there is no API for the schema, whose fields conditions of roles are about.
    pub fn of(soml: &Arc<Valid<soml_core::Schema>>) -> Result<Self, ApiError> {
        let api = Api::new(Arc::clone(soml), &ApiOptions::default())?;
        let rules = IndexRules::new(Arc::new(api), EngineLimits::default());
        Ok(Roles(Arc::new(rules)))
    }

    /// Returns how indexes are defined that hold what searches need to obey the roles.
    #[must_use]
    pub fn mapping(&self, soml: &soml_core::Schema, options: &MappingOptions) -> MappingOptions {
        let facts = soml.objects().map(|(id, _)| (id, self.0.facts(id).into()));
        options.clone().with_facts(facts.collect())
    }

    /// Returns a warning for each condition that indexes do not decide.
    #[must_use]
    pub fn findings(&self, soml: &soml_core::Schema, indexes: &Indexes) -> Vec<Finding> {
        let mut objects = HashSet::new();
        let mut left: Vec<&ObjectFields> =
            indexes.indexes.iter().map(|index| &index.fields).collect();
        while let Some(fields) = left.pop() {
            objects.insert(fields.object);
            for field in fields.fields.values() {
                if let Content::Object(embedded) = &field.content {
                    left.push(&embedded.fields);
                }
            }
        }
        let undecided = self
            .0
            .undecided()
            .filter(|(_, object)| objects.contains(object));
        let findings = undecided.map(|(role, object)| {
            let object = &soml[object];
            let message = format!(
                "role `{role}` has a condition on `{}` that indexes do not decide, so searches that reach these objects \
                 are refused to it",
                object.name
            );
            let finding = FindingKind::RowRuleNotIndexed.at(Some(object.span), message);
            finding.with_help("compare one claim on each way to a value, without `NOT`, `ALL` or patterns around it")
        });
        findings.collect()
    }
}

impl access::Rules for Roles {
    fn sight(&self, context: &RequestContext) -> Option<Arc<dyn access::Sight>> {
        let sight = self.0.sight(context)?;
        Some(Arc::new(Seeing(sight)))
    }
}

impl access::Sight for Seeing {
    fn shown(&self, object: ObjectId) -> Seen {
        self.0.shown(object)
    }

    fn readable(&self, object: ObjectId, field: &str) -> Seen {
        self.0.readable(object, field)
    }

    fn reads_sdl(&self) -> bool {
        self.0.reads_sdl()
    }

    fn roles(&self) -> String {
        self.0.roles()
    }
}
