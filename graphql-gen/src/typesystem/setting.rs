//! Settings that decide which parts the generated API has, and what they are called.

/// A setting of the document or of the generator that parts of the API depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Setting {
    /// `config.queryPfx`: what the names of root fields of `Query` begin with.
    QueryPrefix,
    /// `config.mutationPfx`: what the names of root fields of `Mutation` begin with.
    MutationPrefix,
    /// `config.enable_mutations`: type `Mutation` with its inputs and payloads.
    Mutations,
    /// `config.enableCollectionCount`: a count beside each list field.
    CollectionCount,
    /// `config.enableTypeCount`: a count beside each root field.
    TypeCount,
    /// `config.enableAggregates`: aggregates beside lists and root fields.
    Aggregates,
    /// `config.enableConnections`: connections beside root fields.
    Connections,
    /// `config.exposeSomlInGraphQL`: the directives `@somlObject` and `@somlProperty`.
    ExposeSoml,
    /// `config.lang.defaultNameFetch`: the languages of field `name`.
    NameLanguage,
    /// [`ApiOptions::federation`](super::ApiOptions::federation), which no document sets.
    Federation,
    /// [`ApiOptions::service`](super::ApiOptions::service), which no document sets.
    Service,
}

impl Setting {
    /// All settings.
    pub const ALL: &'static [Setting] = &[
        Setting::QueryPrefix,
        Setting::MutationPrefix,
        Setting::Mutations,
        Setting::CollectionCount,
        Setting::TypeCount,
        Setting::Aggregates,
        Setting::Connections,
        Setting::ExposeSoml,
        Setting::NameLanguage,
        Setting::Federation,
        Setting::Service,
    ];

    /// Returns the path of the setting in the document, or `options.…` for an option of the
    /// generator.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Setting::QueryPrefix => "config.queryPfx",
            Setting::MutationPrefix => "config.mutationPfx",
            Setting::Mutations => "config.enable_mutations",
            Setting::CollectionCount => "config.enableCollectionCount",
            Setting::TypeCount => "config.enableTypeCount",
            Setting::Aggregates => "config.enableAggregates",
            Setting::Connections => "config.enableConnections",
            Setting::ExposeSoml => "config.exposeSomlInGraphQL",
            Setting::NameLanguage => "config.lang.defaultNameFetch",
            Setting::Federation => "options.federation",
            Setting::Service => "options.service",
        }
    }
}
