// One import for JSON, from memory, files or an API, into a PostgreSQL database.
@_exported public import OneWaySync
@_exported public import SyncStorePostgres
@_exported public import SyncWorkQueuePostgres
