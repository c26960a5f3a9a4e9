package import JSONMapper
package import SyncModel

extension DataModel {
    /// Returns the model of a store that JSON is synced into, with its compiled mapping, the
    /// entities of bookkeeping, and the settings of its history.
    ///
    /// - Parameters:
    ///   - mapping: The rules of the mapping. Nil for those of the mapper that made the model, or
    ///     the default ones.
    ///   - history: The settings of the history; nil for no history.
    /// - Throws: The errors of `RecordMapper.init(_:_:)`.
    package func prepared(_ mapping: JSONMapping?, _ history: SyncHistory?) throws -> DataModel {
        let model = try prepared(mapping, adding: history == nil ? [] : [.pass])
            .accompanied(by: SharedSyncs())
        return history.map(model.accompanied(by:)) ?? model
    }
}
