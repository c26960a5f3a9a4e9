import SyncModel
import SyncStore

/// Where objects are kept.
enum StoreLocation: Hashable, Sendable {
    /// In memory, for as long as the command runs.
    case memory

    /// Reads what a person writes; nil where it is no store.
    init?(_ text: String) {
        guard text == "memory:" else { return nil }
        self = .memory
    }

    /// Opens the store.
    func open(_ model: Model) async throws -> any Store {
        MemoryStore(model)
    }
}

extension ArgumentScanner {
    /// A store.
    mutating func store(of option: String) throws(UsageError) -> StoreLocation {
        try value(of: option, as: "memory:", StoreLocation.init)
    }
}
