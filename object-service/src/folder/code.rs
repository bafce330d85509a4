//! The error codes of data folders.

pub use service_runtime::code::DISK_FULL;

graphql_service::error_codes! {
    DATA_IN_USE 500 public "Another process is using the folder of `store.dataDir` or of `search.storage.location`; only one process can at a time.";
    DATA_DAMAGED 500 public "A file in the folder of `store.dataDir`, named in the message, is damaged or missing; restore the folder from a backup. Nothing was changed.";
    DATA_VERSION 500 public "The folder of `store.dataDir` was written by a later version of the program, or on a machine with a different byte order; open it with the version that wrote it or a later one, or run `soml dump` there and load the dump here.";
    DATA_UNREADABLE 500 public "A file in the folder of `store.dataDir` cannot be read or written.";
    DATA_READ_ONLY 500 public "The folder of `store.dataDir` is not writable, so it is opened for queries and backups only.";
    DATA_NAME 500 public "The name of the folder ends with `.unfinished`, which is reserved for folders that are being written and that the next attempt removes; choose a different name.";
    DATA_MISSING 500 public "The folder has no data; load some with `soml load` or `soml serve --data`.";
    DATA_PRESENT 500 public "The folder already has data, or a folder exists that must not; nothing was changed.";
}
