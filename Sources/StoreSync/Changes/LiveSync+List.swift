public import SyncModel

extension LiveSync {
    /// A list that a ``LiveSync`` keeps equal to its source.
    public struct List: Sendable {
        /// How the changes of the list's objects are applied.
        let rules: ChangeRules
        /// Runs a pass.
        let sync: @Sendable (JSONStore) async throws -> StoreSyncResult

        /// Creates a list of a type's objects.
        ///
        /// - Parameters:
        ///   - type: The type of the objects.
        ///   - source: The source of the passes.
        ///   - options: The options of passes and changes.
        ///   - version: The property that orders the versions of an object, as
        ///     ``StoreSyncOptions/newerBy``; nil, the default, leaves it to the options.
        /// - Throws: `SyncDeclarationError` for a key path that leads to no coded property.
        public init<Object: SyncObject>(
            _ type: Object.Type, from source: some RemoteSource, options: StoreSyncOptions = StoreSyncOptions(),
            newerBy version: PartialKeyPath<Object>? = nil
        ) throws {
            self.init(Object.entityName, from: source, options: try options.newer(by: version))
        }

        /// Creates a list of an entity that is known only at run time.
        public init(
            _ entity: String, from source: some RemoteSource, options: StoreSyncOptions = StoreSyncOptions()
        ) {
            rules = ChangeRules(entity: entity, options: options)
            sync = { try await $0.sync(from: source, into: entity, options: options) }
        }
    }
}
