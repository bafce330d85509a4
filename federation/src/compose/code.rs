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
    ($ty:ident { $($name:ident $meaning:literal $(help $help:literal)?;)* }) => {
        impl $ty {
            $(#[doc = $meaning] pub const $name: $ty = $ty(stringify!($name));)*

            /// Every code, with what it means.
            pub const ALL: &[($ty, &str)] = &[$(($ty::$name, $meaning)),*];

            /// What helps with the codes for which that can be said in general.
            pub const HELP: &[($ty, &str)] = &[$($(($ty::$name, $help),)?)*];

            /// Returns what helps, if that can be said in general.
            #[must_use]
            pub fn help(self) -> Option<&'static str> {
                let found = Self::HELP.iter().find(|(code, _)| *code == self);
                found.map(|(_, help)| *help)
            }

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
    AUTH_REQUIREMENTS_APPLIED_ON_INTERFACE "`@authenticated`, `@requiresScopes` or `@policy` is on an interface, an interface object or a field of one."
        help "move it to the object types that implement the interface, or to their fields";
    CONTEXTUAL_ARGUMENT_NOT_CONTEXTUAL_IN_ALL_SUBGRAPHS "An argument has `@fromContext` in one subgraph and is required in another."
        help "make the argument optional there, or give it `@fromContext` too";
    CONTEXT_INVALID_SELECTION "The selection of `@fromContext` does not match the types of its context.";
    CONTEXT_NAME_INVALID "The name of a context is not a GraphQL name, or contains an underscore."
        help "use a name of letters and digits";
    CONTEXT_NOT_SET "`@fromContext` names a context that no type of the subgraph sets.";
    CONTEXT_NO_RESOLVABLE_KEY "A type with contextual arguments has no resolvable key in the subgraph."
        help "add a `@key` to the type: values from contexts are sent with its entities";
    COST_APPLIED_TO_INTERFACE_FIELD "`@cost` is on a field of an interface."
        help "move it to the fields of the object types that implement the interface";
    DEFAULT_VALUE_USES_INACCESSIBLE "A default value that clients can see uses something that they cannot.";
    DIRECTIVE_COMPOSITION_ERROR "`@composeDirective` names something that cannot be composed.";
    DIRECTIVE_DEFINITION_INVALID "The definition of a federation directive differs from the specification.";
    DISALLOWED_INACCESSIBLE "`@inaccessible` is on a built-in type or on an introspection type.";
    EMPTY_MERGED_ENUM_TYPE "An enum has no value that all subgraphs define."
        help "give all of these subgraphs at least one common value";
    EMPTY_MERGED_INPUT_TYPE "An input object has no field that all subgraphs define."
        help "give all of these subgraphs at least one common field";
    ENUM_VALUE_MISMATCH "An enum is both input and output, and its values differ between subgraphs."
        help "add the value there, or hide it everywhere with `@inaccessible` until all subgraphs have it";
    EXTENSION_WITH_NO_BASE "A type is extended, but no subgraph defines it."
        help "define the type in one subgraph, or correct its name";
    EXTERNAL_ARGUMENT_DEFAULT_MISMATCH "The default value of an argument of an external field differs from where the field is resolved."
        help "give the external field the same default value";
    EXTERNAL_ARGUMENT_MISSING "An external field lacks an argument that it has where it is resolved."
        help "add the argument to the external field";
    EXTERNAL_ARGUMENT_TYPE_MISMATCH "The type of an argument of an external field differs from where the field is resolved."
        help "give the argument of the external field the same type";
    EXTERNAL_COLLISION_WITH_ANOTHER_DIRECTIVE "`@external` is used together with a directive that requires the subgraph to resolve the field.";
    EXTERNAL_MISSING_ON_BASE "A field is external in every subgraph that has it."
        help "define the field in another subgraph, or remove `@external` from one that resolves it";
    EXTERNAL_ON_INTERFACE "`@external` is on a field of an interface."
        help "remove `@external` here; the fields of object types can have it";
    EXTERNAL_TYPE_MISMATCH "The type of an external field differs from where it is resolved."
        help "give the external field the same type";
    EXTERNAL_UNUSED "An external field is used by no key, requirement, provision or interface.";
    FIELD_ARGUMENT_DEFAULT_MISMATCH "An argument has different default values in subgraphs."
        help "write the same default value in all subgraphs, or in none";
    FIELD_ARGUMENT_TYPE_MISMATCH "An argument has types in subgraphs that cannot be merged."
        help "give the argument one type in all subgraphs; only whether it takes null may differ";
    FIELD_TYPE_MISMATCH "A field has types in subgraphs that cannot be merged."
        help "give it one type in all subgraphs; output types may differ where one includes the other, as `Int` includes `Int!`";
    IMPLEMENTED_BY_INACCESSIBLE "Something that an accessible interface needs is inaccessible.";
    INPUT_FIELD_DEFAULT_MISMATCH "A field of an input object has different default values in subgraphs."
        help "write the same default value in all subgraphs, or in none";
    INTERFACE_FIELD_NO_IMPLEM "After merging, an object type lacks a field of an interface that it implements."
        help "add the field to the type in a subgraph that can resolve it, or take it from the interface";
    INTERFACE_KEY_MISSING_IMPLEMENTATION_TYPE "A subgraph has a key on an interface but lacks one of its implementations."
        help "add the type with its key to that subgraph: a subgraph that resolves an interface by a key must know every implementation";
    INTERFACE_KEY_NOT_ON_IMPLEMENTATION "An implementation lacks a key that its interface has."
        help "add the same `@key` to the implementation";
    INTERFACE_OBJECT_USAGE_ERROR "`@interfaceObject` is used wrongly.";
    INVALID_FIELD_SHARING "Several subgraphs resolve a field that is not `@shareable` in all of them."
        help "add `@shareable` to the field in each of these subgraphs if all resolve it alike; otherwise keep it in one, or move it with `@override`";
    INVALID_GRAPHQL "A subgraph schema is not valid GraphQL.";
    INVALID_LINK_DIRECTIVE_USAGE "`@link` is used wrongly.";
    INVALID_LINK_IDENTIFIER "The URL of a `@link` is malformed.";
    INVALID_SHAREABLE_USAGE "`@shareable` is where it has no meaning.";
    INVALID_SUBGRAPH_NAME "A subgraph cannot have this name.";
    KEY_DIRECTIVE_IN_FIELDS_ARG "The fields of a `@key` have a directive."
        help "remove the directive from the fields";
    KEY_FIELDS_HAS_ARGS "A field of a `@key` has arguments."
        help "take a field without arguments as key";
    KEY_FIELDS_SELECT_INVALID_TYPE "A field of a `@key` is of an interface or a union."
        help "select fields of object types, scalars and enums";
    KEY_INVALID_FIELDS "The fields of a `@key` are not a valid selection of the type."
        help "select fields that the type has in this subgraph";
    KEY_INVALID_FIELDS_TYPE "The argument `fields` of a `@key` is not a string."
        help "write the fields as one string, such as `\"id name\"`";
    KEY_UNSUPPORTED_ON_INTERFACE "`@key` is on an interface in a version of federation before 2.3."
        help "link federation 2.3 or later, or put the key on the object types";
    LINK_IMPORT_NAME_MISMATCH "Subgraphs import a directive under different names."
        help "import it under one name in all subgraphs";
    LIST_SIZE_APPLIED_TO_NON_LIST "`@listSize` is on a field that is not a list."
        help "name the fields that are lists in `sizedFields`, or remove `@listSize`";
    LIST_SIZE_INVALID_ASSUMED_SIZE "The assumed size of `@listSize` is negative.";
    LIST_SIZE_INVALID_SIZED_FIELD "A sized field of `@listSize` is not a list field of the field's type.";
    LIST_SIZE_INVALID_SLICING_ARGUMENT "A slicing argument of `@listSize` is not an integer argument of the field.";
    MAX_VALIDATION_SUBGRAPH_PATHS_EXCEEDED "There are too many paths through the subgraphs to check them all.";
    MERGED_DIRECTIVE_APPLICATION_ON_EXTERNAL "A directive that is merged is on an external field."
        help "move the directive to the subgraphs that resolve the field";
    MISSING_TRANSITIVE_AUTH_REQUIREMENTS "A field lacks authorization requirements of the fields that it requires."
        help "repeat the requirements of the required fields on this one";
    NO_CONTEXT_IN_SELECTION "The selection of `@fromContext` names no context."
        help "begin with the context, as in `$name { field }`";
    NO_QUERIES "No subgraph has a query."
        help "add a field to `Query` in one of the subgraphs";
    ONLY_INACCESSIBLE_CHILDREN "A type is accessible, but nothing in it is."
        help "make the type `@inaccessible` too, or something in it accessible";
    OVERRIDE_COLLISION_WITH_ANOTHER_DIRECTIVE "`@override` is used together with `@external`, `@requires` or `@provides`."
        help "remove one of the two directives";
    OVERRIDE_FROM_SELF_ERROR "`@override` takes a field from its own subgraph."
        help "name the subgraph that resolved the field before, or remove `@override`";
    OVERRIDE_LABEL_INVALID "The label of an `@override` is malformed.";
    OVERRIDE_ON_INTERFACE "`@override` is on a field of an interface."
        help "put `@override` on the fields of the object types";
    OVERRIDE_SOURCE_HAS_OVERRIDE "`@override` takes a field from a subgraph that itself overrides it from another."
        help "name the subgraph that resolves the field in the end, and remove the other `@override`";
    PROVIDES_DIRECTIVE_IN_FIELDS_ARG "The fields of a `@provides` have a directive."
        help "remove the directive from the fields";
    PROVIDES_FIELDS_HAS_ARGS "A field of a `@provides` has arguments."
        help "provide fields without arguments";
    PROVIDES_FIELDS_MISSING_EXTERNAL "A field of a `@provides` is not external."
        help "add `@external` to the provided field in this subgraph if it resolves it only here; otherwise remove it from `@provides`";
    PROVIDES_INVALID_FIELDS "The fields of a `@provides` are not a valid selection of the field's type."
        help "select fields that the type of the field has in this subgraph: fields of other subgraphs are declared there too, with `@external`";
    PROVIDES_INVALID_FIELDS_TYPE "The argument `fields` of a `@provides` is not a string."
        help "write the fields as one string, such as `\"id name\"`";
    PROVIDES_ON_NON_OBJECT_FIELD "`@provides` is on a field without subfields."
        help "remove `@provides`: this field has no subfields";
    PROVIDES_UNSUPPORTED_ON_INTERFACE "`@provides` is on a field of an interface."
        help "put `@provides` on the fields of the object types";
    QUERY_ROOT_TYPE_INACCESSIBLE "The query type is inaccessible.";
    REFERENCED_INACCESSIBLE "Something accessible has an inaccessible type."
        help "make this `@inaccessible` too, or the type accessible";
    REQUIRED_ARGUMENT_MISSING_IN_SOME_SUBGRAPH "A required argument is missing in a subgraph."
        help "add the argument in all subgraphs, or make it optional";
    REQUIRED_INACCESSIBLE "A required argument or input field is inaccessible."
        help "make it optional, or give it a default value: clients cannot give one";
    REQUIRED_INPUT_FIELD_MISSING_IN_SOME_SUBGRAPH "A required field of an input object is missing in a subgraph."
        help "add the field in all subgraphs, or make it optional";
    REQUIRES_DIRECTIVE_IN_FIELDS_ARG "The fields of a `@requires` have a directive."
        help "remove the directive from the fields";
    REQUIRES_FIELDS_MISSING_EXTERNAL "A field of a `@requires` is not external."
        help "add `@external` to the required field if another subgraph resolves it; otherwise remove it from `@requires`";
    REQUIRES_INVALID_FIELDS "The fields of a `@requires` are not a valid selection of the type."
        help "select fields that the type has in this subgraph: fields of other subgraphs are declared there too, with `@external`";
    REQUIRES_INVALID_FIELDS_TYPE "The argument `fields` of a `@requires` is not a string."
        help "write the fields as one string, such as `\"id name\"`";
    REQUIRES_UNSUPPORTED_ON_INTERFACE "`@requires` is on a field of an interface."
        help "put `@requires` on the fields of the object types";
    ROOT_MUTATION_USED "A type is named `Mutation` but is not the mutation type.";
    ROOT_QUERY_USED "A type is named `Query` but is not the query type.";
    ROOT_SUBSCRIPTION_USED "A type is named `Subscription` but is not the subscription type.";
    SATISFIABILITY_ERROR "A query that the merged schema allows cannot be answered by the subgraphs.";
    SHAREABLE_HAS_MISMATCHED_RUNTIME_TYPES "A shareable field has no object type that all subgraphs can return."
        help "let the subgraphs have an object type in common there, or one subgraph resolve the field";
    TYPE_DEFINITION_INVALID "The definition of a federation type differs from the specification.";
    TYPE_KIND_MISMATCH "Types with the same name have different kinds in subgraphs."
        help "give the types one kind, or different names";
    TYPE_WITH_ONLY_UNUSED_EXTERNAL "A type of a federation 1 subgraph has only unused external fields."
        help "remove the type from this subgraph, or use its fields in `@requires` or `@provides`";
    UNKNOWN_FEDERATION_LINK_VERSION "A subgraph uses a version of federation that is not known.";
    UNKNOWN_LINK_VERSION "A subgraph uses a version of `@link` that is not known.";
    UNSUPPORTED_FEATURE "A subgraph uses something that is not supported.";
    UNSUPPORTED_LINKED_FEATURE "A subgraph needs a linked feature that is not supported.";
} }

codes! { HintCode {
    CONTEXTUAL_ARGUMENT_NOT_CONTEXTUAL_IN_ALL_SUBGRAPHS "An argument has `@fromContext` in only one subgraph and is left out of the merged schema."
        help "add `@fromContext` in the other subgraphs, or remove the argument there";
    DIRECTIVE_COMPOSITION_INFO "`@composeDirective` names a directive that is composed without it, or subgraphs link different major versions of a feature that is not composed."
        help "link one major version in all subgraphs";
    DIRECTIVE_COMPOSITION_WARN "A composed directive has a different name in a subgraph that does not compose it, or a `@cacheTag` cannot tag anything."
        help "import the directive under one name in all subgraphs";
    FROM_SUBGRAPH_DOES_NOT_EXIST "`@override` names a subgraph that does not exist."
        help "correct the name, or remove `@override` once the other subgraph is gone";
    IMPLICITLY_UPGRADED_FEDERATION_VERSION "A subgraph links a feature that needs a later version of federation than the subgraph links."
        help "link that version of federation";
    INCONSISTENT_ARGUMENT_PRESENCE "An optional argument is missing in a subgraph, and is left out of the merged schema."
        help "add the argument in all subgraphs, so that clients can use it";
    INCONSISTENT_BUT_COMPATIBLE_ARGUMENT_TYPE "An argument has different but compatible types in subgraphs."
        help "write the same type in all subgraphs";
    INCONSISTENT_BUT_COMPATIBLE_FIELD_TYPE "A field has different but compatible types in subgraphs."
        help "write the same type in all subgraphs";
    INCONSISTENT_DEFAULT_VALUE_PRESENCE "A default value is missing in a subgraph, and is left out of the merged schema."
        help "write the same default value in all subgraphs, so that it is kept";
    INCONSISTENT_DESCRIPTION "Descriptions differ between subgraphs."
        help "write the same description in all subgraphs, or in one";
    INCONSISTENT_ENTITY "A type has a key in some subgraphs only."
        help "add a `@key` in all subgraphs, or rename the type where it means something else";
    INCONSISTENT_ENUM_VALUE_FOR_INPUT_ENUM "A value of an input enum is missing in a subgraph, and is left out of the merged schema."
        help "add the value in all subgraphs, so that clients can use it";
    INCONSISTENT_ENUM_VALUE_FOR_OUTPUT_ENUM "A value of an output enum is missing in a subgraph."
        help "add the value in all subgraphs";
    INCONSISTENT_EXECUTABLE_DIRECTIVE_LOCATIONS "An executable directive has different locations in subgraphs."
        help "write the same locations in all subgraphs";
    INCONSISTENT_EXECUTABLE_DIRECTIVE_PRESENCE "An executable directive is missing in a subgraph, and is left out of the merged schema."
        help "define the directive in all subgraphs, so that clients can use it";
    INCONSISTENT_EXECUTABLE_DIRECTIVE_REPEATABLE "An executable directive is repeatable in some subgraphs only."
        help "write `repeatable` in all subgraphs, or in none";
    INCONSISTENT_INPUT_OBJECT_FIELD "A field of an input object is missing in a subgraph, and is left out of the merged schema."
        help "add the field in all subgraphs, so that clients can use it";
    INCONSISTENT_INTERFACE_VALUE_TYPE_FIELD "A field of an interface is missing in a subgraph."
        help "add the field in all subgraphs";
    INCONSISTENT_NON_REPEATABLE_DIRECTIVE_ARGUMENTS "A directive has different arguments in subgraphs; one of them is kept."
        help "write the same arguments in all subgraphs";
    INCONSISTENT_OBJECT_VALUE_TYPE_FIELD "A field of a type without keys is missing in a subgraph."
        help "add the field in all subgraphs, or a `@key` to the type";
    INCONSISTENT_RUNTIME_TYPES_FOR_SHAREABLE_RETURN "A shareable field can return different object types in subgraphs."
        help "let the field return the same object types in all subgraphs: any of them may be called";
    INCONSISTENT_TYPE_SYSTEM_DIRECTIVE_LOCATIONS "A directive has different locations in subgraphs."
        help "write the same locations in all subgraphs";
    INCONSISTENT_TYPE_SYSTEM_DIRECTIVE_REPEATABLE "A directive is repeatable in some subgraphs only."
        help "write `repeatable` in all subgraphs, or in none";
    INCONSISTENT_UNION_MEMBER "A member of a union is missing in a subgraph."
        help "add the member in all subgraphs";
    MERGED_NON_REPEATABLE_DIRECTIVE_ARGUMENTS "A directive has different arguments in subgraphs, which are merged."
        help "write the same arguments in all subgraphs";
    NO_EXECUTABLE_DIRECTIVE_INTERSECTION "An executable directive has no location that all subgraphs know, and is left out of the merged schema."
        help "give the directive a location that all subgraphs have";
    OVERRIDDEN_FIELD_CAN_BE_REMOVED "A field is overridden by another subgraph, and can be removed."
        help "remove the field there, or make it `@external` where it is needed";
    OVERRIDE_DIRECTIVE_CAN_BE_REMOVED "`@override` names a subgraph that does not have the field any more."
        help "remove `@override`";
    OVERRIDE_MIGRATION_IN_PROGRESS "A field moves from one subgraph to another under a label."
        help "remove the label and then the overridden field once the migration is complete";
    UNUSED_ENUM_TYPE "An enum is neither input nor output."
        help "remove the enum, or use it";
} }
