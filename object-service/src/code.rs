//! The error codes of the paths of an object service.

graphql_service::error_codes! {
    SCHEMA_ID_INVALID 422 public "The last segment of the `id` in the document cannot name a stored schema: it has other characters than ASCII letters, digits, `_`, `-` and `.`, begins with one of the last three, or is longer than 128.";
    SCHEMA_ID_MISMATCH 422 public "The `id` in the document does not match the path.";
    SCHEMA_RIGHTS_NOT_FOUND 404 public "No rights on schemas are stored; only the role of `security.schemaAdminRole` may manage schemas.";
    SCHEMA_RIGHTS_INVALID 422 public "The document of rights on schemas has another form; nothing was stored.";
    BACKUPS_NOT_CONFIGURED 409 public "The service makes no backups: it needs `store.dataDir` for the data and `store.backupDir` for the backups.";
    BACKUP_EXISTS 409 public "There is a backup with this name already.";
    BACKUP_RUNNING 409 public "Another backup is being made.";
    BACKUP_FAILED 500 public "The backup cannot be made; details are in the log.";
    DUMP_RUNNING 409 public "As many dumps of the data are being made as the service makes at once; try again when one has ended.";
    DUMP_UNSUPPORTED 409 public "The store of the service cannot list its data; dump it with its own tools.";
    DUMP_FAILED 500 public "The data cannot be read; details are in the log.";
    SCHEMA_STORE_FULL 507 public "The stored schemas would be more than `soml.storage.maxSchemas`, or larger than `soml.storage.maxBytes`.";
}
