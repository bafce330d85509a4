//! The error codes of data folders.

pub use service_runtime::code::DISK_FULL;

graphql_service::error_codes! {
    DATA_IN_USE 500 public "Another process uses the folder of `store.dataDir`, or what is kept in `search.storage.location`; one process does at a time.";
    DATA_DAMAGED 500 public "A file in the folder of `store.dataDir` is damaged or missing, which the message names; restore the folder from a backup. Nothing was changed.";
    DATA_VERSION 500 public "The folder of `store.dataDir` was written by a later version of the program, or on a machine with another order of bytes; open it with the version that wrote it or a later one, or write its data with `soml dump` there and load what that writes here.";
    DATA_UNREADABLE 500 public "A file in the folder of `store.dataDir` cannot be read or written.";
    DATA_READ_ONLY 500 public "The folder of `store.dataDir` cannot be written to, so it is opened for queries and backups only.";
    DATA_NAME 500 public "The name of the folder ends with `.unfinished`, as those do that are being written and that the next attempt removes; choose another name.";
    DATA_MISSING 500 public "The folder has no data; `soml load` or `soml serve --data` puts some there.";
    DATA_PRESENT 500 public "The folder has data already, or a folder is there that must not be; nothing was changed.";
}
