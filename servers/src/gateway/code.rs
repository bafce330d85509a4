//! The error codes of a gateway that starts, of persisted queries and of batches.

graphql_service::error_codes! {
    GATEWAY_STARTING 503 public "The gateway has no composite schema yet: it waits for subgraphs, which the message names.";
    PERSISTED_QUERY_NOT_FOUND 200 public "The hash in `extensions.persistedQuery` is not known; send the query with it.";
    PERSISTED_QUERY_NOT_SUPPORTED 200 public "The service keeps no queries of clients; send the query.";
    PERSISTED_QUERY_MISMATCH 400 public "The hash in `extensions.persistedQuery` is not that of the query.";
    OPERATION_NOT_TRUSTED 403 public "The gateway answers the operations of `gateway.trustedDocuments.file` alone.";
    BATCH_TOO_LONG 400 public "A batch has more requests than `gateway.batching.maxOperations`, or none.";
}
