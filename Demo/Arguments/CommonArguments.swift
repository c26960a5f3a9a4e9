import Foundation
import JSONMapper
import ModelInference
import SyncModel

/// The arguments that several commands have in common.
struct CommonArguments: Equatable {
    /// The options that the command has.
    private let options: Set<String>
    /// The entity of the objects; nil if none was named.
    private(set) var entity: String?
    /// The store; nil if none was named.
    private(set) var store: StoreLocation?
    /// The model file; nil if none was named.
    private(set) var model: URL?
    private(set) var dialect = JSONDialect.sync
    /// The keys on the path to the array, separated by dots.
    private(set) var keyPath = ""
    /// The key of the objects and the size of the sample, for an inferred model.
    private(set) var inference = InferredModel.Options()
    /// The predicate that selects objects.
    private(set) var predicate = RecordPredicate.constant(true)

    /// Creates arguments without values.
    ///
    /// - Parameter options: The options that the command has.
    init(_ options: String...) {
        self.options = Set(options)
    }

    /// Reads an option, unless the command does not have it.
    ///
    /// - Returns: False if the option is not one of these.
    mutating func take(_ option: String, _ scanner: inout ArgumentScanner) throws(UsageError) -> Bool {
        guard options.contains(option) else { return false }
        switch option {
        case "--entity": entity = try scanner.text(of: option, as: "the name of an entity")
        case "--store": store = try scanner.store(of: option)
        case "--model": model = URL(filePath: try scanner.text(of: option, as: "a model file"))
        case "--dialect": dialect = try scanner.choice(of: option, among: ["sync": .sync, "groot": .groot])
        case "--key-path": keyPath = try scanner.text(of: option, as: "keys such as data.items")
        case "--key": inference.key = try scanner.names(of: option, as: "keys such as title,year")
        case "--as-json":
            inference.jsonKeyPaths = Set(try scanner.names(of: option, as: "key paths such as spec,meta.raw"))
        case "--tables": inference.maximumEntityCount = try scanner.count(of: option)
        case "--sample": inference.sampleCount = try scanner.count(of: option)
        case "--where": predicate = try scanner.predicate(of: option)
        default: return false
        }
        return true
    }

    /// Returns the entity, which the command needs.
    func requiredEntity(_ scanner: ArgumentScanner) throws(UsageError) -> String {
        guard let entity else { throw scanner.error("--entity is missing") }
        return entity
    }

    /// Returns the database, which the command needs.
    ///
    /// - Parameter contents: What a store in memory lacks, for the message.
    func database(with contents: String, _ scanner: ArgumentScanner) throws(UsageError) -> StoreLocation {
        guard let store else { throw scanner.error("--store is missing") }
        guard store != .memory else { throw scanner.error("a store in memory has no \(contents)") }
        return store
    }
}

extension ArgumentScanner {
    /// The error for an operand of a command that takes none.
    func unexpectedOperand(_ text: String) -> UsageError {
        error("this command takes only options; got '\(text)'")
    }

    /// Reads an option that has no value.
    mutating func flag(_ option: String) throws(UsageError) -> Bool {
        try noValue(of: option)
        return true
    }
}
