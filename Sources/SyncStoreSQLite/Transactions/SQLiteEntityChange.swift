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
            guard try !change.isIdentityTaken(from: objects, find: find) else {
                throw StoreError.identityTaken(entity: change.layout.name)
            }
            throw StoreError.refused(
                StoreError.Refusal(
                    entity: change.layout.name, reason: .check, constraint: error.messageWithoutValues,
                    databaseError: error.debugDescription))
        } catch let kept as SQLKeptRows {
            throw kept.error(by: try triggers(of: kept.table))
        }
    }
}
