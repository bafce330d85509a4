//! The error codes of loading data.

call_context::error_codes! {
    LOAD_MALFORMED 500 public "The data are malformed at the place that the message names, and reading cannot go on behind it, or `--strict` was given; nothing is loaded.";
    LOAD_CUT_OFF 500 public "A file ends inside of a statement: it seems to be cut off; nothing is loaded.";
    LOAD_LIMIT 500 public "A token of the data is longer than it may be; nothing is loaded.";
    LOAD_NOTHING_READ 500 public "All statements of the data are malformed, so that there is nothing to load; the files may be in another syntax, which `--data-format` names.";
    LOAD_FILES 500 public "The files to load are not named as they must be: a folder has none, the name of a file does not tell its syntax, or `--base` is not an absolute IRI.";
    LOAD_UNREADABLE 500 public "A file to load cannot be read; nothing is loaded.";
}
