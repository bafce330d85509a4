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
        "An object is gone, and with it its types, inputs and root fields.";
    ObjectAdded "OBJECT_ADDED" Safe
        "There is a new object. As the first subclass of a concrete object it gives that an interface, which breaks fields.";
    ObjectKindChanged "OBJECT_KIND_CHANGED" Breaking
        "A concrete object became abstract or the reverse.";
    ObjectSuperclassChanged "OBJECT_SUPERCLASS_CHANGED" Dangerous
        "An object inherits from another one, so other lists contain its instances.";
    ObjectNameAdded "OBJECT_NAME_ADDED" Safe "An object has a field `name` now.";
    ObjectNameRemoved "OBJECT_NAME_REMOVED" Breaking "An object has no field `name` any more.";
    ObjectNameChanged "OBJECT_NAME_CHANGED" Dangerous
        "Field `name` of an object reads another property.";
    ObjectClassChanged "OBJECT_CLASS_CHANGED" Dangerous
        "Other RDF classes make a node an instance, so the same query lists other nodes.";
    ObjectTypePropertyChanged "OBJECT_TYPE_PROPERTY_CHANGED" Dangerous
        "Another RDF property tells the class of a node (`typeProp`).";
    ObjectIdChanged "OBJECT_ID_CHANGED" Dangerous
        "Other IRIs are accepted for new instances (`prefix`, `regex`, `pattern`).";
    ObjectExtendChanged "OBJECT_EXTEND_CHANGED" Dangerous
        "Another service of the federation owns the type (`extend`).";
    ObjectServiceChanged "OBJECT_SERVICE_CHANGED" Dangerous
        "Another SPARQL service holds the instances (`sparqlFederatedService`).";
    ObjectSearchChanged "OBJECT_SEARCH_CHANGED" Dangerous
        "The search settings of an object changed, so the same search may find others.";
    ObjectDescriptionChanged "OBJECT_DESCRIPTION_CHANGED" Safe
        "Label or description of an object changed.";
    PropertyRemoved "PROPERTY_REMOVED" Breaking
        "A property is gone, and with it its fields, filters and inputs.";
    PropertyAdded "PROPERTY_ADDED" Safe "There is a new property.";
    PropertyRangeChanged "PROPERTY_RANGE_CHANGED" Dangerous
        "The values of a property are of another datatype or object.";
    PropertyMultiplicityChanged "PROPERTY_MULTIPLICITY_CHANGED" Breaking
        "A single value became a list or the reverse (`max`).";
    PropertyBoundsNarrowed "PROPERTY_BOUNDS_NARROWED" Dangerous
        "`min` rose or `max` fell: what could be written before may be refused.";
    PropertyBoundsWidened "PROPERTY_BOUNDS_WIDENED" Safe "`min` fell or `max` rose.";
    PropertyMadeNonNull "PROPERTY_MADE_NON_NULL" Dangerous
        "A field promises a value: data without one makes the object around it null.";
    PropertyMadeNullable "PROPERTY_MADE_NULLABLE" Breaking
        "A field that promised a value may be null.";
    PropertyIriChanged "PROPERTY_IRI_CHANGED" Dangerous
        "Another RDF property is read, so the same query gives other data.";
    PropertyDirectionChanged "PROPERTY_DIRECTION_CHANGED" Dangerous
        "The RDF property is walked in the other direction (`inverseAlias`).";
    PropertyInverseChanged "PROPERTY_INVERSE_CHANGED" Dangerous
        "Another property is stored with this one (`inverseOf`, `symmetric`).";
    PropertyRangeCheckChanged "PROPERTY_RANGE_CHECK_CHANGED" Dangerous
        "Targets that are no instances of the range are left out, or no longer so (`rangeCheck`).";
    PropertyTypeCastChanged "PROPERTY_TYPE_CAST_CHANGED" Dangerous
        "Stored literals are cast before use, or no longer so (`typeCast`).";
    PropertyLanguageChanged "PROPERTY_LANGUAGE_CHANGED" Dangerous
        "Other language variants are read or may be written (`lang`).";
    PropertyValuesChanged "PROPERTY_VALUES_CHANGED" Dangerous
        "Other values are accepted (`regex`, `prefix`, `pattern`, `valuesIn`, `immutable`).";
    PropertyServiceChanged "PROPERTY_SERVICE_CHANGED" Dangerous
        "Another SPARQL service holds the values (`sparqlFederatedService`).";
    PropertySearchChanged "PROPERTY_SEARCH_CHANGED" Dangerous
        "The search settings of a property changed, so the same search may find others.";
    PropertyDescriptionChanged "PROPERTY_DESCRIPTION_CHANGED" Safe
        "Label or description of a property changed.";
    EnumRemoved "ENUM_REMOVED" Breaking "An enumeration is gone.";
    EnumAdded "ENUM_ADDED" Safe "There is a new enumeration.";
    EnumDescriptionChanged "ENUM_DESCRIPTION_CHANGED" Safe
        "Label or description of an enumeration or of its values changed.";
    UnionMembersChanged "UNION_MEMBERS_CHANGED" Dangerous
        "A union datatype has other members, so other literals are read.";
    PrefixChanged "PREFIX_CHANGED" Dangerous
        "A prefix stands for another namespace, so names with it have other IRIs.";
    SettingChanged "SETTING_CHANGED" Dangerous
        "A setting of the schema changed that decides what is read, written or answered.";
    ApiSettingChanged "API_SETTING_CHANGED" Safe
        "A setting changed that decides which fields and types there are.";
    RoleRemoved "ROLE_REMOVED" Dangerous "A role is gone; its callers may do what others may.";
    RoleAdded "ROLE_ADDED" Dangerous "There is a new role; its callers may do what it says.";
    RoleChanged "ROLE_CHANGED" Dangerous "A role may do other things.";
    TypeRemoved "TYPE_REMOVED" Breaking "A type is gone.";
    TypeAdded "TYPE_ADDED" Safe "There is a new type.";
    TypeKindChanged "TYPE_KIND_CHANGED" Breaking "A type is of another kind.";
    FieldRemoved "FIELD_REMOVED" Breaking "A field is gone.";
    FieldAdded "FIELD_ADDED" Safe "There is a new field.";
    FieldTypeChanged "FIELD_TYPE_CHANGED" Breaking
        "A field gives another type, or may be null where it was not.";
    FieldTypeNarrowed "FIELD_TYPE_NARROWED" Safe
        "A field is non-null where it could be null.";
    ArgumentRemoved "ARGUMENT_REMOVED" Breaking "An argument is gone.";
    RequiredArgumentAdded "REQUIRED_ARGUMENT_ADDED" Breaking
        "There is a new argument that must be given.";
    ArgumentAdded "ARGUMENT_ADDED" Safe "There is a new argument that may be given.";
    ArgumentTypeChanged "ARGUMENT_TYPE_CHANGED" Breaking
        "An argument takes another type, or must not be null where it could be.";
    ArgumentTypeWidened "ARGUMENT_TYPE_WIDENED" Safe
        "An argument may be null where it could not be.";
    ArgumentDefaultChanged "ARGUMENT_DEFAULT_CHANGED" Dangerous
        "An argument that is not given means something else.";
    InputFieldRemoved "INPUT_FIELD_REMOVED" Breaking "An input field is gone.";
    RequiredInputFieldAdded "REQUIRED_INPUT_FIELD_ADDED" Breaking
        "There is a new input field that must be given.";
    InputFieldAdded "INPUT_FIELD_ADDED" Safe "There is a new input field that may be given.";
    InputFieldTypeChanged "INPUT_FIELD_TYPE_CHANGED" Breaking
        "An input field takes another type, or must not be null where it could be.";
    InputFieldTypeWidened "INPUT_FIELD_TYPE_WIDENED" Safe
        "An input field may be null where it could not be.";
    InputFieldDefaultChanged "INPUT_FIELD_DEFAULT_CHANGED" Dangerous
        "An input field that is not given means something else.";
    EnumValueRemoved "ENUM_VALUE_REMOVED" Breaking "An enum value is gone.";
    EnumValueAdded "ENUM_VALUE_ADDED" Dangerous
        "There is a new enum value that clients may not expect.";
    InterfaceRemoved "INTERFACE_REMOVED" Breaking "A type does not implement an interface any more.";
    InterfaceAdded "INTERFACE_ADDED" Dangerous
        "A type implements a further interface, so clients may meet it there.";
    UnionMemberRemoved "UNION_MEMBER_REMOVED" Breaking "A type is no member of a union any more.";
    UnionMemberAdded "UNION_MEMBER_ADDED" Dangerous
        "A union has a further member that clients may not expect.";
    DirectiveRemoved "DIRECTIVE_REMOVED" Breaking "A directive is gone.";
    DirectiveAdded "DIRECTIVE_ADDED" Safe "There is a new directive.";
    DirectiveNarrowed "DIRECTIVE_NARROWED" Breaking
        "A directive is allowed at fewer coordinates or cannot be repeated any more.";
    DirectiveWidened "DIRECTIVE_WIDENED" Safe
        "A directive is allowed at more coordinates or can be repeated.";
    RootTypeChanged "ROOT_TYPE_CHANGED" Breaking
        "The type of queries, mutations or subscriptions is another one or is gone.";
    DescriptionChanged "DESCRIPTION_CHANGED" Safe "A description changed.";
}

impl fmt::Display for ChangeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
