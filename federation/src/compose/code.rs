//! The codes of what is wrong with subgraphs, and of hints about them.
//!
//! Tools know these names; they are those that other composers of federation 2 use.

use std::fmt;

/// The code of a composition error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CompositionCode(&'static str);

/// The code of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HintCode(&'static str);

macro_rules! codes {
    ($ty:ident { $($name:ident $meaning:literal;)* }) => {
        impl $ty {
            $(#[doc = $meaning] pub const $name: $ty = $ty(stringify!($name));)*

            /// Every code, with what it means.
            pub const ALL: &[($ty, &str)] = &[$(($ty::$name, $meaning)),*];

            /// Returns the code as tools know it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                self.0
            }
        }

        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0)
            }
        }
    };
}

codes! { CompositionCode {
    AUTH_REQUIREMENTS_APPLIED_ON_INTERFACE "`@authenticated`, `@requiresScopes` or `@policy` is on an interface, an interface object or a field of one.";
    CONTEXTUAL_ARGUMENT_NOT_CONTEXTUAL_IN_ALL_SUBGRAPHS "An argument has `@fromContext` in one subgraph and is required in another.";
    CONTEXT_INVALID_SELECTION "The selection of `@fromContext` does not fit the types of its context.";
    CONTEXT_NAME_INVALID "The name of a context is no name, or has an underscore.";
    CONTEXT_NOT_SET "`@fromContext` names a context that no type of the subgraph sets.";
    CONTEXT_NO_RESOLVABLE_KEY "A type with contextual arguments has no resolvable key in the subgraph.";
    COST_APPLIED_TO_INTERFACE_FIELD "`@cost` is on a field of an interface.";
    DEFAULT_VALUE_USES_INACCESSIBLE "A default value that clients see uses something that they do not.";
    DIRECTIVE_COMPOSITION_ERROR "`@composeDirective` names something that cannot be composed.";
    DIRECTIVE_DEFINITION_INVALID "A directive of federation is defined otherwise than the specification does.";
    DISALLOWED_INACCESSIBLE "`@inaccessible` is on a built-in type, or on a type of introspection.";
    EMPTY_MERGED_ENUM_TYPE "An enum has no value that all subgraphs know.";
    EMPTY_MERGED_INPUT_TYPE "An input object has no field that all subgraphs know.";
    ENUM_VALUE_MISMATCH "An enum is both input and output, and its values differ between subgraphs.";
    EXTENSION_WITH_NO_BASE "A type is extended, and no subgraph defines it.";
    EXTERNAL_ARGUMENT_DEFAULT_MISMATCH "An argument of an external field has another default value than where the field is resolved.";
    EXTERNAL_ARGUMENT_MISSING "An external field lacks an argument that it has where it is resolved.";
    EXTERNAL_ARGUMENT_TYPE_MISMATCH "An argument of an external field has another type than where the field is resolved.";
    EXTERNAL_COLLISION_WITH_ANOTHER_DIRECTIVE "`@external` is beside a directive that asks the subgraph to resolve the field.";
    EXTERNAL_MISSING_ON_BASE "A field is external in every subgraph that has it.";
    EXTERNAL_ON_INTERFACE "`@external` is on a field of an interface.";
    EXTERNAL_TYPE_MISMATCH "An external field has another type than where it is resolved.";
    EXTERNAL_UNUSED "An external field is used by no key, requirement, provision or interface.";
    FIELD_ARGUMENT_DEFAULT_MISMATCH "An argument has different default values in subgraphs.";
    FIELD_ARGUMENT_TYPE_MISMATCH "An argument has types in subgraphs that cannot be merged.";
    FIELD_TYPE_MISMATCH "A field has types in subgraphs that cannot be merged.";
    IMPLEMENTED_BY_INACCESSIBLE "Something is inaccessible that an accessible interface needs.";
    INPUT_FIELD_DEFAULT_MISMATCH "A field of an input object has different default values in subgraphs.";
    INTERFACE_FIELD_NO_IMPLEM "An object type lacks a field of an interface that it implements once subgraphs are merged.";
    INTERFACE_KEY_MISSING_IMPLEMENTATION_TYPE "A subgraph has a key on an interface, and lacks one of its implementations.";
    INTERFACE_KEY_NOT_ON_IMPLEMENTATION "An implementation lacks a key that its interface has.";
    INTERFACE_OBJECT_USAGE_ERROR "`@interfaceObject` is used wrongly.";
    INVALID_FIELD_SHARING "Several subgraphs resolve a field that is not `@shareable` in all of them.";
    INVALID_GRAPHQL "A subgraph schema is not valid GraphQL.";
    INVALID_LINK_DIRECTIVE_USAGE "`@link` is used wrongly.";
    INVALID_LINK_IDENTIFIER "The URL of a `@link` is malformed.";
    INVALID_SHAREABLE_USAGE "`@shareable` is where it has no meaning.";
    INVALID_SUBGRAPH_NAME "A subgraph cannot have this name.";
    KEY_DIRECTIVE_IN_FIELDS_ARG "The fields of a `@key` have a directive.";
    KEY_FIELDS_HAS_ARGS "A field of a `@key` has arguments.";
    KEY_FIELDS_SELECT_INVALID_TYPE "A field of a `@key` is of an interface or a union.";
    KEY_INVALID_FIELDS "The fields of a `@key` are no selection of the type.";
    KEY_INVALID_FIELDS_TYPE "The argument `fields` of a `@key` is no string.";
    KEY_UNSUPPORTED_ON_INTERFACE "`@key` is on an interface in a version of federation before 2.3.";
    LINK_IMPORT_NAME_MISMATCH "Subgraphs import a directive under different names.";
    LIST_SIZE_APPLIED_TO_NON_LIST "`@listSize` is on a field that is no list.";
    LIST_SIZE_INVALID_ASSUMED_SIZE "The assumed size of `@listSize` is negative.";
    LIST_SIZE_INVALID_SIZED_FIELD "A sized field of `@listSize` is no list of the field's type.";
    LIST_SIZE_INVALID_SLICING_ARGUMENT "A slicing argument of `@listSize` is no integer argument of the field.";
    MAX_VALIDATION_SUBGRAPH_PATHS_EXCEEDED "There are too many ways through the subgraphs to check them all.";
    MERGED_DIRECTIVE_APPLICATION_ON_EXTERNAL "A directive that is merged is on an external field.";
    MISSING_TRANSITIVE_AUTH_REQUIREMENTS "A field lacks what the fields that it requires demand of a request.";
    NO_CONTEXT_IN_SELECTION "The selection of `@fromContext` names no context.";
    NO_QUERIES "No subgraph has a query.";
    ONLY_INACCESSIBLE_CHILDREN "A type is accessible, and nothing in it is.";
    OVERRIDE_COLLISION_WITH_ANOTHER_DIRECTIVE "`@override` is beside `@external`, `@requires` or `@provides`.";
    OVERRIDE_FROM_SELF_ERROR "`@override` takes a field from its own subgraph.";
    OVERRIDE_LABEL_INVALID "The label of an `@override` is malformed.";
    OVERRIDE_ON_INTERFACE "`@override` is on a field of an interface.";
    OVERRIDE_SOURCE_HAS_OVERRIDE "`@override` takes a field from a subgraph that takes it from another.";
    PROVIDES_DIRECTIVE_IN_FIELDS_ARG "The fields of a `@provides` have a directive.";
    PROVIDES_FIELDS_HAS_ARGS "A field of a `@provides` has arguments.";
    PROVIDES_FIELDS_MISSING_EXTERNAL "A field of a `@provides` is not external.";
    PROVIDES_INVALID_FIELDS "The fields of a `@provides` are no selection of the field's type.";
    PROVIDES_INVALID_FIELDS_TYPE "The argument `fields` of a `@provides` is no string.";
    PROVIDES_ON_NON_OBJECT_FIELD "`@provides` is on a field without fields of its own.";
    PROVIDES_UNSUPPORTED_ON_INTERFACE "`@provides` is on a field of an interface.";
    QUERY_ROOT_TYPE_INACCESSIBLE "The query type is inaccessible.";
    REFERENCED_INACCESSIBLE "Something accessible has an inaccessible type.";
    REQUIRED_ARGUMENT_MISSING_IN_SOME_SUBGRAPH "A required argument is missing in a subgraph.";
    REQUIRED_INACCESSIBLE "A required argument or input field is inaccessible.";
    REQUIRED_INPUT_FIELD_MISSING_IN_SOME_SUBGRAPH "A required field of an input object is missing in a subgraph.";
    REQUIRES_DIRECTIVE_IN_FIELDS_ARG "The fields of a `@requires` have a directive.";
    REQUIRES_FIELDS_MISSING_EXTERNAL "A field of a `@requires` is not external.";
    REQUIRES_INVALID_FIELDS "The fields of a `@requires` are no selection of the type.";
    REQUIRES_INVALID_FIELDS_TYPE "The argument `fields` of a `@requires` is no string.";
    REQUIRES_UNSUPPORTED_ON_INTERFACE "`@requires` is on a field of an interface.";
    ROOT_MUTATION_USED "A type is named `Mutation` and is not the mutation type.";
    ROOT_QUERY_USED "A type is named `Query` and is not the query type.";
    ROOT_SUBSCRIPTION_USED "A type is named `Subscription` and is not the subscription type.";
    SATISFIABILITY_ERROR "A query that the merged schema allows cannot be answered by the subgraphs.";
    SHAREABLE_HAS_MISMATCHED_RUNTIME_TYPES "A shareable field has no object type that all subgraphs can return.";
    TYPE_DEFINITION_INVALID "A type of federation is defined otherwise than the specification does.";
    TYPE_KIND_MISMATCH "Types of one name are of different kinds in subgraphs.";
    TYPE_WITH_ONLY_UNUSED_EXTERNAL "A type of a federation 1 subgraph has nothing but external fields without use.";
    UNKNOWN_FEDERATION_LINK_VERSION "A subgraph uses a version of federation that is not known.";
    UNKNOWN_LINK_VERSION "A subgraph uses a version of `@link` that is not known.";
    UNSUPPORTED_FEATURE "A subgraph uses something that is not supported.";
    UNSUPPORTED_LINKED_FEATURE "A subgraph needs a linked feature that is not supported.";
} }

codes! { HintCode {
    CONTEXTUAL_ARGUMENT_NOT_CONTEXTUAL_IN_ALL_SUBGRAPHS "An argument has `@fromContext` in one subgraph only, and is left out of the merged schema.";
    DIRECTIVE_COMPOSITION_INFO "What `@composeDirective` does to a directive that is composed anyway.";
    DIRECTIVE_COMPOSITION_WARN "A composed directive is imported in different versions.";
    FROM_SUBGRAPH_DOES_NOT_EXIST "`@override` names a subgraph that does not exist.";
    IMPLICITLY_UPGRADED_FEDERATION_VERSION "A subgraph uses a directive that asks for a later version of federation than it links.";
    INCONSISTENT_ARGUMENT_PRESENCE "An optional argument is missing in a subgraph, and is left out of the merged schema.";
    INCONSISTENT_BUT_COMPATIBLE_ARGUMENT_TYPE "An argument has different types in subgraphs, of which one includes the others.";
    INCONSISTENT_BUT_COMPATIBLE_FIELD_TYPE "A field has different types in subgraphs, of which one includes the others.";
    INCONSISTENT_DEFAULT_VALUE_PRESENCE "A default value is missing in a subgraph, and is left out of the merged schema.";
    INCONSISTENT_DESCRIPTION "Descriptions differ between subgraphs.";
    INCONSISTENT_ENTITY "A type has a key in some subgraphs only.";
    INCONSISTENT_ENUM_VALUE_FOR_INPUT_ENUM "A value of an input enum is missing in a subgraph, and is left out of the merged schema.";
    INCONSISTENT_ENUM_VALUE_FOR_OUTPUT_ENUM "A value of an output enum is missing in a subgraph.";
    INCONSISTENT_EXECUTABLE_DIRECTIVE_LOCATIONS "An executable directive has different locations in subgraphs.";
    INCONSISTENT_EXECUTABLE_DIRECTIVE_PRESENCE "An executable directive is missing in a subgraph, and is left out of the merged schema.";
    INCONSISTENT_EXECUTABLE_DIRECTIVE_REPEATABLE "An executable directive is repeatable in some subgraphs only.";
    INCONSISTENT_INPUT_OBJECT_FIELD "A field of an input object is missing in a subgraph, and is left out of the merged schema.";
    INCONSISTENT_INTERFACE_VALUE_TYPE_FIELD "A field of an interface is missing in a subgraph.";
    INCONSISTENT_NON_REPEATABLE_DIRECTIVE_ARGUMENTS "A directive has different arguments in subgraphs; one of them is kept.";
    INCONSISTENT_OBJECT_VALUE_TYPE_FIELD "A field of a type without keys is missing in a subgraph.";
    INCONSISTENT_RUNTIME_TYPES_FOR_SHAREABLE_RETURN "A shareable field can return different object types in subgraphs.";
    INCONSISTENT_TYPE_SYSTEM_DIRECTIVE_LOCATIONS "A directive has different locations in subgraphs.";
    INCONSISTENT_TYPE_SYSTEM_DIRECTIVE_REPEATABLE "A directive is repeatable in some subgraphs only.";
    INCONSISTENT_UNION_MEMBER "A member of a union is missing in a subgraph.";
    MERGED_NON_REPEATABLE_DIRECTIVE_ARGUMENTS "A directive has different arguments in subgraphs, which are merged.";
    NO_EXECUTABLE_DIRECTIVE_INTERSECTION "An executable directive has no location that all subgraphs know, and is left out of the merged schema.";
    OVERRIDDEN_FIELD_CAN_BE_REMOVED "A field is overridden by another subgraph, and can be removed.";
    OVERRIDE_DIRECTIVE_CAN_BE_REMOVED "`@override` names a subgraph that does not have the field any more.";
    OVERRIDE_MIGRATION_IN_PROGRESS "A field moves from one subgraph to another under a label.";
    UNUSED_ENUM_TYPE "An enum is neither input nor output.";
} }
