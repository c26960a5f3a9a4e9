import JSONMapper
import SyncModel

/// What scenarios are run against: a store with a mapper in front, or as much of it as there is.
///
/// JSON comes as bytes, conditions as predicates, values by local attribute names; a subject starts empty.
protocol ScenarioSubject {
    init(_ world: ScenarioWorld) throws

    /// Whether it can run a step; a scenario with a step that it cannot run is skipped.
    ///
    /// - Parameter json: The step's payload, where it has one.
    func canRun(_ step: Step, json: [UInt8]?) throws -> Bool

    func sync(_ request: SyncRequest) async throws
    func importJSON(_ entity: String, json: [UInt8]) async throws
    func insert(_ entity: String, values: [String: Value], relationships: [String: [RecordPredicate]]) async throws
    func update(_ entity: String, where predicate: RecordPredicate, values: [String: Value]) async throws
    func delete(_ entity: String, where predicate: RecordPredicate) async throws
    func insertOrUpdate(_ entity: String, json: [UInt8]) async throws
    /// - Returns: Whether there is such an object.
    func update(_ entity: String, id: Value, json: [UInt8]) async throws -> Bool
    func delete(_ entity: String, id: Value) async throws
    /// - Parameter predicate: The one object to fill; a new one where it is nil.
    /// - Returns: Whether anything was modified.
    func fill(_ entity: String, where predicate: RecordPredicate?, json: [UInt8]) async throws -> Bool
    func count(_ entity: String, where predicate: RecordPredicate) async throws -> Int
    /// The values of some key paths, as predicates write them, of all objects that fulfil a condition; of a relationship's
    /// own path `.null` where it leads to nothing.
    func values(_ entity: String, where predicate: RecordPredicate, at keys: [String]) async throws -> [[Value]]
    /// An attribute of the members of an ordered relationship of the one object.
    func members(
        _ entity: String, where predicate: RecordPredicate, relationship: String, attribute: String
    ) async throws -> [Value]
    /// The one object as JSON.
    func export(_ entity: String, where predicate: RecordPredicate, options: ExportOptions) async throws -> [UInt8]
}

/// What a subject is told before the first step.
struct ScenarioWorld {
    /// The model, with the identities that its dialect finds.
    let model: Model
    let dialect: JSONDialect
    let transformers: [TransformerTable]
}

/// What a `sync` step asks for.
struct SyncRequest {
    var entity: String
    var json: [UInt8]
    /// Nil for all.
    var operations: [String]?
    var filter: RecordPredicate?
    var parent: (entity: String, filter: RecordPredicate)?
    var relationship: String?
    /// What the insert hook adds to each object.
    var willInsert: JSONObject?
}

/// A subject was asked for a kind of step that it does not name among its own.
struct UnsupportedStep: Error {
    let kind: Step.Kind
}

extension ScenarioSubject {
    func sync(_ request: SyncRequest) async throws {
        throw UnsupportedStep(kind: .sync)
    }

    func importJSON(_ entity: String, json: [UInt8]) async throws {
        throw UnsupportedStep(kind: .importJSON)
    }

    func delete(_ entity: String, where predicate: RecordPredicate) async throws {
        throw UnsupportedStep(kind: .delete)
    }

    func insertOrUpdate(_ entity: String, json: [UInt8]) async throws {
        throw UnsupportedStep(kind: .insertOrUpdate)
    }

    func update(_ entity: String, id: Value, json: [UInt8]) async throws -> Bool {
        throw UnsupportedStep(kind: .updateByID)
    }

    func delete(_ entity: String, id: Value) async throws {
        throw UnsupportedStep(kind: .deleteByID)
    }

    func members(
        _ entity: String, where predicate: RecordPredicate, relationship: String, attribute: String
    ) async throws -> [Value] {
        throw UnsupportedStep(kind: .expectOrder)
    }
}
