public import SyncModel
import SyncStore

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
        ///   - version: The property that orders the versions of an object; nil, the default,
        ///     applies changes in the order of their arrival.
        /// - Throws: `SyncDeclarationError` for a key path that leads to no coded property.
        public init<Object: SyncObject>(
            _ type: Object.Type, from source: some RemoteSource, options: StoreSyncOptions = StoreSyncOptions(),
            newerBy version: PartialKeyPath<Object>? = nil
        ) throws {
            let attribute = try version.map { try ObjectShape<Object>.shared().name(of: $0) }
            self.init(Object.entityName, from: source, options: options, newerBy: attribute)
        }

        /// Creates a list of an entity that is known only at run time.
        public init(
            _ entity: String, from source: some RemoteSource, options: StoreSyncOptions = StoreSyncOptions(),
            newerBy versionAttribute: String? = nil
        ) {
            rules = ChangeRules(entity: entity, options: options, versionAttribute: versionAttribute)
            sync = { try await $0.sync(from: source, into: entity, options: options) }
        }
    }
}
