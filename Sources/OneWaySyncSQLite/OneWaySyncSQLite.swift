// One import for JSON, from memory, files or an API, into an SQLite database.
@_exported public import OneWaySync
@_exported public import SyncStoreSQLite
