import OneWayStoreKinds
import CoreDataModel
import JSONMapper
import ModelInference
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Syncs a JSON file into stores by a model inferred from it, and back.
enum RoundTrip {
    static let entity = "Thing"

    /// Infers a model from a document.
    static func infer(
        _ json: [UInt8], options: InferredModel.Options = InferredModel.Options()
    ) throws -> InferredModel {
        let reader = JSONReader(bytes: json, layout: .array(acceptsSingleObject: true))
        return try InferredModel(from: reader, entity: entity, options: options)
    }

    /// Runs a body with an empty store for an inferred model.
    static func withStore(
        _ kind: StoreKind, _ model: DataModel, _ body: @Sendable (JSONStore) async throws -> Void
    ) async throws {
        let mapper = try RecordMapper(model)
        try await kind.use { makeStore in
            try await body(try JSONStore(try await makeStore(mapper.model), mapper: mapper))
        }
    }

    /// Checks that a document is the same after a sync and an export, that another sync writes
    /// nothing, and that the export of the export is equal.
    static func check(
        _ json: [UInt8], on kind: StoreKind, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let inferred = try infer(json)
        let file = try ModelFile(xml: try inferred.model.coreDataXML())
        #expect(file.model == inferred.model, sourceLocation: sourceLocation)
        #expect(file.warnings.map { "\($0)" } == [], sourceLocation: sourceLocation)
        try await withStore(kind, inferred.model) { store in
            let result = try await store.sync(.bytes(json), into: entity)
            #expect(result.drift.entries.map(\.description) == [], sourceLocation: sourceLocation)
            #expect(result.rejected.map { "\($0)" } == [], sourceLocation: sourceLocation)
            let export = try await store.export(StoreQuery(entity))
            expectEqual(export, json, sourceLocation: sourceLocation)
            let again = try await store.sync(.bytes(json), into: entity)
            #expect(again.isUnchanged, "\(again.countsByEntity)", sourceLocation: sourceLocation)
            try await withStore(kind, try infer(export).model) { copy in
                _ = try await copy.sync(.bytes(export), into: entity)
                expectEqual(try await copy.export(StoreQuery(entity)), json, sourceLocation: sourceLocation)
            }
        }
    }

    /// Checks that two documents are equal as JSON values; an object counts as an array of it.
    static func expectEqual(_ export: [UInt8], _ json: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        let exported = normalized(export)
        let expected = normalized(json)
        guard exported != expected else { return }
        Issue.record(
            "\(difference(exported, expected) ?? "numbers")\nexport: \(String(decoding: export.prefix(3000), as: UTF8.self))",
            sourceLocation: sourceLocation)
    }

    private static func normalized(_ json: [UInt8]) -> JSONValue? {
        guard let value = try? JSONValue(parsing: json, exactDecimals: true) else { return nil }
        if case .object = value { return .array([normalized(value)]) }
        return normalized(value)
    }

    /// The value with its keys in order and equal numbers in one form.
    private static func normalized(_ value: JSONValue) -> JSONValue {
        switch value {
        case .decimal(let text):
            guard let canonical = CanonicalJSON(text)?.text else { return value }
            return (try? JSONValue(parsing: canonical, exactDecimals: true)) ?? value
        case .unsigned(let number): return .decimal(String(number))
        case .array(let elements): return .array(elements.map(normalized))
        case .object(let object):
            var sorted = JSONValue.Object()
            for (key, value) in object.entries.sorted(by: { $0.key < $1.key }) { sorted[key] = normalized(value) }
            return .object(sorted)
        default: return value
        }
    }

    /// The first place where two values differ.
    private static func difference(_ one: JSONValue?, _ other: JSONValue?, at path: String = "") -> String? {
        guard one != other else { return nil }
        switch (one, other) {
        case (.array(let ones)?, .array(let others)?):
            guard ones.count == others.count else { return "\(path): \(ones.count) elements, not \(others.count)" }
            return zip(ones, others).enumerated().lazy.compactMap { index, pair in
                difference(pair.0, pair.1, at: "\(path)[\(index)]")
            }.first
        case (.object(let own)?, .object(let expected)?):
            let keys = own.entries.map(\.key) + expected.entries.map(\.key)
            return keys.lazy.compactMap { difference(own[$0], expected[$0], at: "\(path).\($0)") }.first
        default:
            return "\(path): \(one.map { "\($0)" } ?? "nothing"), not \(other.map { "\($0)" } ?? "nothing")"
        }
    }
}
