//! The error codes of loading data.

call_context::error_codes! {
    LOAD_MALFORMED 500 public "The data are malformed at the position in the message, and reading cannot continue after it, or `--strict` was given; nothing is loaded.";
    LOAD_CUT_OFF 500 public "A file ends in the middle of a statement, so it seems to be truncated; nothing is loaded.";
    LOAD_LIMIT 500 public "A token in the data is longer than allowed; nothing is loaded.";
    LOAD_NOTHING_READ 500 public "All statements of the data are malformed, so there is nothing to load; if the files have a different syntax, name it with `--data-format`.";
    LOAD_FILES 500 public "The files to load are not usable: a folder contains none, the syntax of a file cannot be determined from its name, or `--base` is not an absolute IRI.";
    LOAD_UNREADABLE 500 public "A file to load cannot be read; nothing is loaded.";
}
