//! GraphQL schemas in files: supergraphs, the schemas that clients see, and schemas of subgraphs.

use std::path::Path;

use apollo_compiler::Schema;
use apollo_compiler::schema::{ExtendedType, FieldDefinition};
use apollo_compiler::validation::DiagnosticList;
use federation::Supergraph;
use federation::compose::CompositionCode;

use super::operation::read_file;
use super::{CliError, Console};

/// Extensions of files with GraphQL schemas.
const EXTENSIONS: [&str; 4] = ["graphql", "graphqls", "gql", "sdl"];

/// Returns whether a file contains a GraphQL schema rather than a SOML document, by its extension.
pub(super) fn is_graphql(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        let extension = extension.to_ascii_lowercase();
        EXTENSIONS.contains(&extension.as_str())
    })
}

/// Reads a schema as clients see it, and the text that it stands in; what is wrong with it goes to the console.
pub(super) fn read_client_schema(
    path: &Path,
    console: &mut Console<'_>,
) -> Result<(String, Schema), CliError> {
    let text = read_file(path)?;
    let name = path.display().to_string();
    let errors = match client_schema(&text, &name) {
        Ok(schema) => return Ok((text, schema)),
        Err(errors) => errors,
    };
    for Problem { code, at, message } in errors {
        let at = at.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
        writeln!(console.err, "error[{code}]: {name}{at}: {message}")?;
    }
    Err(CliError::Input(format!("{name} has errors")))
}

/// What is wrong with a schema, and where.
struct Problem {
    code: &'static str,
    at: Option<(usize, usize)>,
    message: String,
}

fn client_schema(text: &str, name: &str) -> Result<Schema, Vec<Problem>> {
    let built = Schema::builder()
        .adopt_orphan_extensions()
        .ignore_builtin_redefinitions()
        .parse(text, name)
        .build()
        .map_err(|invalid| problems(&invalid.errors))?;
    if built.get_enum("join__Graph").is_some() {
        let supergraph = Supergraph::parse(text, name);
        return match supergraph {
            Ok(supergraph) => Ok(Schema::clone(supergraph.api())),
            Err(errors) => Err(errors.into_iter().map(problem).collect()),
        };
    }
    let bare = without_directives(built);
    let valid = bare.validate();
    valid
        .map(apollo_compiler::validation::Valid::into_inner)
        .map_err(|invalid| problems(&invalid.errors))
}

fn problem(error: federation::SupergraphError) -> Problem {
    Problem {
        code: error.code.as_str(),
        at: error.location.map(|at| (at.line, at.column)),
        message: error.message,
    }
}

fn problems(errors: &DiagnosticList) -> Vec<Problem> {
    let problems = errors.iter().map(|finding| {
        let start = finding.line_column_range().map(|range| range.start);
        Problem {
            code: CompositionCode::INVALID_GRAPHQL.as_str(),
            at: start.map(|start| (start.line, start.column)),
            message: finding.error.to_string(),
        }
    });
    problems.collect()
}

/// Takes away the directives that are applied: clients do not see them, and schemas of subgraphs do not define all.
fn without_directives(mut schema: Schema) -> Schema {
    schema.schema_definition.make_mut().directives.0.clear();
    for ty in schema.types.values_mut().filter(|ty| !ty.is_built_in()) {
        match ty {
            ExtendedType::Scalar(scalar) => scalar.make_mut().directives.0.clear(),
            ExtendedType::Object(object) => {
                let object = object.make_mut();
                object.directives.0.clear();
                object
                    .fields
                    .values_mut()
                    .for_each(|it| strip(it.make_mut()));
            }
            ExtendedType::Interface(interface) => {
                let interface = interface.make_mut();
                interface.directives.0.clear();
                interface
                    .fields
                    .values_mut()
                    .for_each(|it| strip(it.make_mut()));
            }
            ExtendedType::Union(union) => union.make_mut().directives.0.clear(),
            ExtendedType::Enum(values) => {
                let values = values.make_mut();
                values.directives.0.clear();
                let all = values.values.values_mut();
                all.for_each(|value| value.make_mut().directives.0.clear());
            }
            ExtendedType::InputObject(input) => {
                let input = input.make_mut();
                input.directives.0.clear();
                let fields = input.fields.values_mut();
                fields.for_each(|field| field.make_mut().directives.0.clear());
            }
        }
    }
    schema
}

fn strip(field: &mut FieldDefinition) {
    field.directives.0.clear();
    let arguments = field.arguments.iter_mut();
    arguments.for_each(|argument| argument.make_mut().directives.0.clear());
}
