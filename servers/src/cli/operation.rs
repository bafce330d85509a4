//! The operation that a command works on.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use graphql_service::{Limits, Request, RequestError};

use super::CliError;
use super::input::Input;

#[derive(Debug, Args)]
pub(super) struct Operation {
    /// GraphQL document, `@FILE`, or `-` for standard input.
    #[arg(value_name = "QUERY")]
    text: Option<String>,
    /// Reads the document from a file, as `@FILE` does.
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    query: Option<PathBuf>,
    /// Variables as a JSON object, or `@FILE`.
    #[arg(short, long, value_name = "JSON")]
    variables: Option<String>,
    /// Name of the operation to run, if the document has several.
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
}

impl Operation {
    /// Returns the request.
    ///
    /// `--data` takes all values that follow it; the last of them can be the query, and is taken out
    /// of `input` then.
    pub(super) fn request(&mut self, input: &mut Input) -> Result<Request, CliError> {
        if self.text.is_none() && self.query.is_none() {
            let last = input
                .data
                .pop_if(|last| last.to_str().is_some_and(is_query));
            self.text = last.and_then(|last| last.into_os_string().into_string().ok());
        }
        self.request_or(input.demo.map(|demo| demo.query))
    }

    /// Returns the request of a command that has neither schema nor data.
    pub(super) fn alone(&self) -> Result<Request, CliError> {
        self.request_or(None)
    }

    fn request_or(&self, default: Option<&str>) -> Result<Request, CliError> {
        let query = match (&self.text, &self.query, default) {
            (Some(text), _, _) => argument(text)?,
            (None, Some(path), _) => read_file(path)?,
            (None, None, Some(default)) => default.to_owned(),
            (None, None, None) => {
                let message = "a query is needed: give it as an argument, \
                               or @FILE, or - for standard input";
                return Err(CliError::Usage(message.to_owned()));
            }
        };
        let mut request = Request::new(query);
        request.operation_name = self.operation.clone();
        if let Some(variables) = &self.variables {
            // They are the user's own.
            let limits = Limits::default().variable_values(usize::MAX);
            let read = request.with_variables_from_json(&argument(variables)?, &limits);
            request = read.map_err(|error| {
                let reason = match &error {
                    RequestError::NotJson(error) | RequestError::NotRequest(error) => {
                        error.to_string()
                    }
                    error => error.to_string(),
                };
                CliError::Usage(format!("the variables are not a JSON object: {reason}"))
            })?;
        }
        Ok(request)
    }
}

/// Returns whether an argument is a query and not a file name: a GraphQL document, `@FILE` or `-`.
fn is_query(argument: &str) -> bool {
    let document = argument.trim_start();
    let keyword = document.split(|c: char| !c.is_ascii_alphabetic()).next();
    let rest = &document[keyword.map_or(0, str::len)..];
    match keyword {
        Some("query" | "mutation" | "subscription" | "fragment") => {
            rest.starts_with([' ', '\t', '\r', '\n', '{', '(', '@'])
        }
        _ => argument == "-" || document.starts_with(['{', '#', '@']),
    }
}

/// Returns what an argument stands for: itself, the file after `@`, or standard input for `-`.
fn argument(argument: &str) -> Result<String, CliError> {
    match argument.strip_prefix('@') {
        Some(path) => read_file(Path::new(path)),
        None if argument == "-" => stdin().map_err(|source| CliError::Read {
            name: "standard input".to_owned(),
            source,
        }),
        None => Ok(argument.to_owned()),
    }
}

pub(super) fn read_file(path: &Path) -> Result<String, CliError> {
    fs::read_to_string(path).map_err(|source| CliError::Read {
        name: path.display().to_string(),
        source,
    })
}

fn stdin() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::is_query;

    #[test]
    fn queries_are_told_from_file_names() {
        for query in [
            "{a}",
            " \n{ a }",
            "query A {a}",
            "query($a: ID){a}",
            "# c\n{a}",
            "@q",
            "-",
        ] {
            assert!(is_query(query), "{query}");
        }
        for file in [
            "query.ttl",
            "a b.ttl",
            "queries/a.nt",
            "query",
            "fragment-1.nq",
            "data.ttl",
        ] {
            assert!(!is_query(file), "{file}");
        }
    }
}
