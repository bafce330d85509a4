//! The table of change codes.

use std::fmt;

use super::change::Criticality;

macro_rules! codes {
    ($($variant:ident $code:literal $criticality:ident $meaning:literal;)*) => {
        /// The stable code of a change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ChangeCode {
            $(#[doc = concat!("`", $code, "`: ", $meaning)] $variant,)*
        }

        impl ChangeCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [ChangeCode] = &[$(ChangeCode::$variant),*];

            /// Returns the stable code.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(ChangeCode::$variant => $code),* }
            }

            /// Returns the criticality of such a change by itself; its consequences may make it worse.
            #[must_use]
            pub fn criticality(self) -> Criticality {
                match self { $(ChangeCode::$variant => Criticality::$criticality),* }
            }

            /// Returns one sentence for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(ChangeCode::$variant => $meaning),* }
            }
        }
    };
}

codes! {
    ObjectRemoved "OBJECT_REMOVED" Breaking
        "An object was removed, with its types, inputs and root fields.";
    ObjectAdded "OBJECT_ADDED" Safe
        "An object was added. If it is the first subclass of a concrete object, that object becomes an interface too, which is breaking for fields.";
    ObjectKindChanged "OBJECT_KIND_CHANGED" Breaking
        "A concrete object became abstract or the reverse.";
    ObjectSuperclassChanged "OBJECT_SUPERCLASS_CHANGED" Dangerous
        "The superclass of an object changed, so different lists contain its instances.";
    ObjectNameAdded "OBJECT_NAME_ADDED" Safe "A field `name` was added to an object.";
    ObjectNameRemoved "OBJECT_NAME_REMOVED" Breaking "The field `name` of an object was removed.";
    ObjectNameChanged "OBJECT_NAME_CHANGED" Dangerous
        "The field `name` of an object now reads a different property.";
    ObjectClassChanged "OBJECT_CLASS_CHANGED" Dangerous
        "The RDF classes of an object changed, so the same query lists different nodes.";
    ObjectTypePropertyChanged "OBJECT_TYPE_PROPERTY_CHANGED" Dangerous
        "A different RDF property holds the class of a node (`typeProp`).";
    ObjectIdChanged "OBJECT_ID_CHANGED" Dangerous
        "The constraints on IRIs of new instances changed (`prefix`, `regex`, `pattern`).";
    ObjectExtendChanged "OBJECT_EXTEND_CHANGED" Dangerous
        "A different service of the federation owns the type (`extend`).";
    ObjectServiceChanged "OBJECT_SERVICE_CHANGED" Dangerous
        "A different SPARQL service holds the instances (`sparqlFederatedService`).";
    ObjectSearchChanged "OBJECT_SEARCH_CHANGED" Dangerous
        "The search settings of an object changed, so the same search may find different objects.";
    ObjectDescriptionChanged "OBJECT_DESCRIPTION_CHANGED" Safe
        "The label or description of an object changed.";
    PropertyRemoved "PROPERTY_REMOVED" Breaking
        "A property was removed, with its fields, filters and inputs.";
    PropertyAdded "PROPERTY_ADDED" Safe "A property was added.";
    PropertyRangeChanged "PROPERTY_RANGE_CHANGED" Dangerous
        "The range of a property is a different datatype or object.";
    PropertyMultiplicityChanged "PROPERTY_MULTIPLICITY_CHANGED" Breaking
        "A single value became a list or the reverse (`max`).";
    PropertyBoundsNarrowed "PROPERTY_BOUNDS_NARROWED" Dangerous
        "`min` was raised or `max` lowered: writes that were valid may be refused.";
    PropertyBoundsWidened "PROPERTY_BOUNDS_WIDENED" Safe "`min` was lowered or `max` raised.";
    PropertyMadeNonNull "PROPERTY_MADE_NON_NULL" Dangerous
        "A field became non-null: if the data have no value, the null propagates to the nearest nullable parent.";
    PropertyMadeNullable "PROPERTY_MADE_NULLABLE" Breaking
        "A non-null field became nullable.";
    PropertyIriChanged "PROPERTY_IRI_CHANGED" Dangerous
        "A property reads a different RDF property, so the same query returns different data.";
    PropertyDirectionChanged "PROPERTY_DIRECTION_CHANGED" Dangerous
        "A property is read in the opposite direction (`inverseAlias`).";
    PropertyInverseChanged "PROPERTY_INVERSE_CHANGED" Dangerous
        "The inverse that is stored with a property changed (`inverseOf`, `symmetric`).";
    PropertyRangeCheckChanged "PROPERTY_RANGE_CHECK_CHANGED" Dangerous
        "Values that are not instances of the range are now skipped, or no longer skipped (`rangeCheck`).";
    PropertyTypeCastChanged "PROPERTY_TYPE_CAST_CHANGED" Dangerous
        "Stored literals are now cast to the range, or no longer cast (`typeCast`).";
    PropertyLanguageChanged "PROPERTY_LANGUAGE_CHANGED" Dangerous
        "The language variants that are read, or allowed on writes, changed (`lang`).";
    PropertyValuesChanged "PROPERTY_VALUES_CHANGED" Dangerous
        "The constraints on values changed (`regex`, `prefix`, `pattern`, `valuesIn`, `immutable`).";
    PropertyServiceChanged "PROPERTY_SERVICE_CHANGED" Dangerous
        "A different SPARQL service holds the values (`sparqlFederatedService`).";
    PropertySearchChanged "PROPERTY_SEARCH_CHANGED" Dangerous
        "The search settings of a property changed, so the same search may find different objects.";
    PropertyDescriptionChanged "PROPERTY_DESCRIPTION_CHANGED" Safe
        "The label or description of a property changed.";
    EnumRemoved "ENUM_REMOVED" Breaking "An enumeration was removed.";
    EnumAdded "ENUM_ADDED" Safe "An enumeration was added.";
    EnumDescriptionChanged "ENUM_DESCRIPTION_CHANGED" Safe
        "The label or description of an enumeration or of its values changed.";
    UnionMembersChanged "UNION_MEMBERS_CHANGED" Dangerous
        "The members of a union datatype changed, so different literals are read.";
    PrefixChanged "PREFIX_CHANGED" Dangerous
        "The namespace of a prefix changed, so names with this prefix have different IRIs.";
    SettingChanged "SETTING_CHANGED" Dangerous
        "A setting changed that affects what is read, written or returned.";
    ApiSettingChanged "API_SETTING_CHANGED" Safe
        "A setting changed that affects which fields and types exist.";
    RoleRemoved "ROLE_REMOVED" Dangerous "A role was removed; its callers now have the permissions of callers without it.";
    RoleAdded "ROLE_ADDED" Dangerous "A role was added; its callers now have its permissions.";
    RoleChanged "ROLE_CHANGED" Dangerous "The permissions of a role changed.";
    TypeRemoved "TYPE_REMOVED" Breaking "A type was removed.";
    TypeAdded "TYPE_ADDED" Safe "A type was added.";
    TypeKindChanged "TYPE_KIND_CHANGED" Breaking "The kind of a type changed.";
    FieldRemoved "FIELD_REMOVED" Breaking "A field was removed.";
    FieldAdded "FIELD_ADDED" Safe "A field was added.";
    FieldTypeChanged "FIELD_TYPE_CHANGED" Breaking
        "The type of a field changed incompatibly, or the field became nullable.";
    FieldTypeNarrowed "FIELD_TYPE_NARROWED" Safe
        "A nullable field became non-null.";
    ArgumentRemoved "ARGUMENT_REMOVED" Breaking "An argument was removed.";
    RequiredArgumentAdded "REQUIRED_ARGUMENT_ADDED" Breaking
        "A required argument was added.";
    ArgumentAdded "ARGUMENT_ADDED" Safe "An optional argument was added.";
    ArgumentTypeChanged "ARGUMENT_TYPE_CHANGED" Breaking
        "The type of an argument changed incompatibly, or the argument became non-null.";
    ArgumentTypeWidened "ARGUMENT_TYPE_WIDENED" Safe
        "A non-null argument became nullable.";
    ArgumentDefaultChanged "ARGUMENT_DEFAULT_CHANGED" Dangerous
        "The default value of an argument changed.";
    InputFieldRemoved "INPUT_FIELD_REMOVED" Breaking "An input field was removed.";
    RequiredInputFieldAdded "REQUIRED_INPUT_FIELD_ADDED" Breaking
        "A required input field was added.";
    InputFieldAdded "INPUT_FIELD_ADDED" Safe "An optional input field was added.";
    InputFieldTypeChanged "INPUT_FIELD_TYPE_CHANGED" Breaking
        "The type of an input field changed incompatibly, or the input field became non-null.";
    InputFieldTypeWidened "INPUT_FIELD_TYPE_WIDENED" Safe
        "A non-null input field became nullable.";
    InputFieldDefaultChanged "INPUT_FIELD_DEFAULT_CHANGED" Dangerous
        "The default value of an input field changed.";
    EnumValueRemoved "ENUM_VALUE_REMOVED" Breaking "An enum value was removed.";
    EnumValueAdded "ENUM_VALUE_ADDED" Dangerous
        "An enum value was added that clients may not expect.";
    InterfaceRemoved "INTERFACE_REMOVED" Breaking "A type no longer implements an interface.";
    InterfaceAdded "INTERFACE_ADDED" Dangerous
        "A type implements an additional interface, so clients may receive it where that interface is returned.";
    UnionMemberRemoved "UNION_MEMBER_REMOVED" Breaking "A type is no longer a member of a union.";
    UnionMemberAdded "UNION_MEMBER_ADDED" Dangerous
        "A member was added to a union that clients may not expect.";
    DirectiveRemoved "DIRECTIVE_REMOVED" Breaking "A directive was removed.";
    DirectiveAdded "DIRECTIVE_ADDED" Safe "A directive was added.";
    DirectiveNarrowed "DIRECTIVE_NARROWED" Breaking
        "A directive is allowed at fewer locations or can no longer be repeated.";
    DirectiveWidened "DIRECTIVE_WIDENED" Safe
        "A directive is allowed at more locations or can now be repeated.";
    RootTypeChanged "ROOT_TYPE_CHANGED" Breaking
        "The root type of queries, mutations or subscriptions changed or was removed.";
    DescriptionChanged "DESCRIPTION_CHANGED" Safe "A description changed.";
}

impl fmt::Display for ChangeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
