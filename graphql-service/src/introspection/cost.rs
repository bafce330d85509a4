//! How much of the schema a document asks for, compared with a usual introspection query.
//!
//! The response to an introspection query grows with the size of the schema and with every
//! selection that requests it again, so its size is estimated before it is executed. Lists are
//! assumed to have their mean length over the schema.

use std::sync::OnceLock;

use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};

use crate::code;
use crate::error::GraphqlError;

/// What typical clients request: everything once, with types of fields through nine wrappers.
const USUAL: &str = "
{ __schema { queryType { name } mutationType { name } subscriptionType { name }
    types { ...Type } directives { name description locations args { ...Input } } } }
fragment Type on __Type { kind name description specifiedByURL
  fields(includeDeprecated: true) {
    name description args { ...Input } type { ...Ref } isDeprecated deprecationReason }
  inputFields { ...Input } interfaces { ...Ref }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { ...Ref } }
fragment Input on __InputValue { name description type { ...Ref } defaultValue }
fragment Ref on __Type { kind name ofType { kind name ofType { kind name ofType { kind name
  ofType { kind name ofType { kind name ofType { kind name ofType { kind name
  ofType { kind name ofType { kind name } } } } } } } } } }
";

/// Estimates how many values introspection queries on one schema return.
#[derive(Debug)]
pub(crate) struct IntrospectionCost {
    types: f64,
    directives: f64,
    /// Means over all types.
    fields: f64,
    input_fields: f64,
    enum_values: f64,
    possible_types: f64,
    interfaces: f64,
    /// Mean over all fields.
    args: f64,
    usual: OnceLock<f64>,
}

impl IntrospectionCost {
    /// Measures a schema.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn new(schema: &Schema) -> Self {
        let [mut fields, mut args, mut inputs, mut values, mut interfaces] = [0usize; 5];
        for ty in schema.types.values() {
            let (own, implemented) = match ty {
                ExtendedType::Object(ty) => (&ty.fields, &ty.implements_interfaces),
                ExtendedType::Interface(ty) => (&ty.fields, &ty.implements_interfaces),
                ExtendedType::InputObject(ty) => {
                    inputs += ty.fields.len();
                    continue;
                }
                ExtendedType::Enum(ty) => {
                    values += ty.values.len();
                    continue;
                }
                ExtendedType::Scalar(_) | ExtendedType::Union(_) => continue,
            };
            fields += own.len();
            args += own
                .values()
                .map(|field| field.arguments.len())
                .sum::<usize>();
            interfaces += implemented.len();
        }
        let types = schema.types.len().max(1) as f64;
        let mean = |all: usize| all as f64 / types;
        IntrospectionCost {
            types,
            directives: schema.directive_definitions.len() as f64,
            fields: mean(fields),
            input_fields: mean(inputs),
            enum_values: mean(values),
            // Each type that implements an interface is a possible type of it.
            possible_types: mean(interfaces),
            interfaces: mean(interfaces),
            args: args as f64 / fields.max(1) as f64,
            usual: OnceLock::new(),
        }
    }

    /// Checks that a selection on the root requests at most `limit` times what is usual.
    ///
    /// # Errors
    /// When it requests more.
    pub(crate) fn check(
        &self,
        schema: &Valid<Schema>,
        document: &ExecutableDocument,
        root: &SelectionSet,
        limit: usize,
    ) -> Result<(), GraphqlError> {
        let usual = *self.usual.get_or_init(|| self.usual(schema));
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let greatest = usual * limit as f64;
        if self.set(document, root) <= greatest {
            return Ok(());
        }
        let message =
            format!("the introspection is larger than {limit} typical introspection queries");
        Err(GraphqlError::new(code::LIMIT_INTROSPECTION, message).with("limit", limit))
    }

    fn usual(&self, schema: &Valid<Schema>) -> f64 {
        let document = ExecutableDocument::parse(schema, USUAL, "introspection.graphql")
            .expect("the usual introspection fits every schema");
        let operation = document.operations.anonymous.as_ref();
        let operation = operation.expect("the usual introspection is one operation");
        self.set(&document, &operation.selection_set)
    }

    /// Returns the number of fields that a selection returns; complexity has bounded those of the
    /// document.
    fn set(&self, document: &ExecutableDocument, set: &SelectionSet) -> f64 {
        let selection = |selection: &Selection| match selection {
            Selection::Field(field) => {
                let times = match field.name.as_str() {
                    // Other fields cost nothing here: the limits of the document bound them.
                    name if !set.ty.starts_with("__") && !name.starts_with("__") => return 0.0,
                    "types" => self.types,
                    "directives" => self.directives,
                    "fields" => self.fields,
                    "inputFields" => self.input_fields,
                    "enumValues" => self.enum_values,
                    "possibleTypes" => self.possible_types,
                    "interfaces" => self.interfaces,
                    "args" => self.args,
                    _ => 1.0,
                };
                times * (1.0 + self.set(document, &field.selection_set))
            }
            Selection::InlineFragment(inline) => self.set(document, &inline.selection_set),
            Selection::FragmentSpread(spread) => spread
                .fragment_def(document)
                .map_or(0.0, |fragment| self.set(document, &fragment.selection_set)),
        };
        set.selections.iter().map(selection).sum()
    }
}
