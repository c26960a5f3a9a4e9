#if Postgres
// Calls of this module throw its `PostgresError`.
@_exported public import OneWayPostgresClient
#endif
