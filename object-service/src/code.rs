//! The error codes of the paths of an object service.

graphql_service::error_codes! {
    SCHEMA_ID_INVALID 422 public "The last segment of the `id` in the document cannot name a stored schema: it has characters other than ASCII letters, digits, `_`, `-` and `.`, begins with one of the last three, or has more than 128 characters.";
    SCHEMA_ID_MISMATCH 422 public "The `id` in the document does not match the path.";
    SCHEMA_RIGHTS_NOT_FOUND 404 public "No access rights on schemas are stored; only the role of `security.schemaAdminRole` may manage schemas.";
    SCHEMA_RIGHTS_INVALID 422 public "The document of access rights on schemas is malformed; nothing was stored.";
    BACKUPS_NOT_CONFIGURED 409 public "The service makes no backups: it needs `store.dataDir` for the data and `store.backupDir` for the backups.";
    BACKUP_EXISTS 409 public "A backup with this name already exists.";
    BACKUP_RUNNING 409 public "Another backup is already running.";
    BACKUP_FAILED 500 public "The backup failed; see the log for details.";
    DUMP_RUNNING 409 public "The maximum number of concurrent dumps is running; try again when one has ended.";
    DUMP_UNSUPPORTED 409 public "The store of the service cannot list its data; dump it with its own tools.";
    DUMP_FAILED 500 public "The data cannot be read; see the log for details.";
    SCHEMA_STORE_FULL 507 public "There would be more stored schemas than `soml.storage.maxSchemas`, or they would be larger than `soml.storage.maxBytes`.";
}
