import SyncModel
import SyncStore
import SyncStoreSQL

extension SQLiteConnection {
    /// Gives objects another entity.
    ///
    /// - Parameter find: Returns the objects of the new entity that have the identities of a batch.
    /// - Throws: `StoreError.identityTaken`, `StoreError.refused`; `SQLSchemaError.unsuitableTable`
    ///   if a trigger keeps rows from changing.
    func run(
        _ change: SQLEntityChange, of objects: [StoredRecord], find: (RecordBatch) throws -> [ObjectID?]
    ) throws {
        do { try change.run(objects.map(\.object), on: self) } catch let error as SQLiteError where error.isRefusal {
            throw try change.refusal(
                of: objects, constraint: error.messageWithoutValues, databaseError: error.debugDescription, find: find)
        } catch let kept as SQLKeptRows {
            throw kept.error(by: try triggers(of: kept.table))
        }
    }
}
