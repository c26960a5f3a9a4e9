#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

extension PostgresConnection {
    /// Gives objects another entity.
    ///
    /// - Parameter find: Returns the objects of the new entity that have the identities of a batch.
    /// - Throws: `StoreError.identityTaken`, `StoreError.refused`; `SQLSchemaError.unsuitableTable`
    ///   if a trigger, a rule or row-level security keeps rows from changing.
    func run(
        _ change: SQLEntityChange, of objects: [StoredRecord], _ schema: SQLSchema,
        find: (RecordBatch) throws -> [ObjectID?]
    ) throws {
        try retrying {
            do {
                try change.run(objects.map(\.object), on: PostgresStatementQueue(on: self))
            } catch let error as PostgresError where error.isRefusal {
                try execute("ROLLBACK TO SAVEPOINT sync_attempt")
                throw try change.refusal(
                    of: objects, constraint: error.constraint, databaseError: error.debugDescription, find: find)
            } catch let kept as SQLKeptRows {
                throw kept.error(by: try guards(of: kept.table, schema))
            }
        }
    }
}
#endif
