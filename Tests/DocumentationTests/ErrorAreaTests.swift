import CoreDataModel
import Foundation
import HTTPTransfer
import JSONMapper
import ModelInference
import OneWaySyncSQLite
@testable import OneWaySynchronizer
import OneWayTestLimits
@testable import StoreSync
import SyncBase
import SyncFolder
import SyncModel
@testable import SyncProcessorTesting
import SyncStore
import Testing

#if Postgres
import SyncStorePostgres
import SyncWorkQueuePostgres
#endif

/// Each public error states the area in which its cause lies, so that one `catch` can distinguish
/// them.
@Suite(.endsInTime) struct ErrorAreaTests {
    private struct Foreign: Error {}

    private static let url = URL(filePath: "/")

    /// Errors of all public types, with the areas that each type has.
    private static func errors() throws -> [(any Error, SyncError.Area)] {
        var errors: [(any Error, SyncError.Area)] = []
        func add(_ error: any Error, _ area: SyncError.Area) { errors.append((error, area)) }

        add(ModelError.unknownEntity(entity: "User"), .program)
        add(Record.CodingError.missingValue(entity: "User", property: "name"), .data)
        add(Record.CodingError.unknownProperty(entity: "User", property: "name"), .program)
        add(RecordPredicateError.syntax(byteOffset: 0, expected: "a key"), .program)
        add(SyncDeclarationError.notAnAttribute(type: "User", property: "company"), .program)

        add(JSONError.nonFiniteNumber, .data)
        add(MappingError.unfit(.init(entity: "User", index: 0, reason: .unreadableDate)), .data)
        add(MappingError.unknownTransformer(entity: "User", attribute: nil, name: "upper"), .program)
        add(ModelFile.Failure.compiled(file: "Model.mom"), .program)
        add(InferredModel.Failure.emptySample, .data)
        add(InferredModel.Failure.reservedName(entity: "SyncBookmark"), .program)

        add(StoreError.identityTaken(entity: "User"), .data)
        add(StoreError.refused(.init(entity: "User", reason: .check)), .data)
        add(StoreError.missingObject(entity: "User"), .storage)
        add(StoreError.nestedTransaction, .program)
        add(ObjectReadingError.notIncluded(type: "User", property: "company"), .program)
        add(
            ObjectReadingError.unreadable(
                .init(key: .object(1), error: .missingValue(entity: "User", property: "name"))), .data
        )
        add(SQLSchemaError.damaged([]), .storage)
        add(SQLSchemaError.unknownConversion(entity: "User", attribute: "name"), .program)
        add(SQLiteError(code: SQLiteError.Code.full, message: "full"), .storage)

        add(StoreSyncError.unidentifiedObjects(entity: "User", key: "id", count: 1), .data)
        add(
            StoreSyncError.removalLimitExceeded(
                entity: "User", removals: 2, localCount: 2, limit: RemovalLimit(count: 1)), .data)
        add(StoreSyncError.repeatedPages(entity: "User", count: 3), .server)
        add(StoreSyncError.differentModels, .program)
        add(LiveSync.Refusal.notActive, .lease)
        add(LiveSync.Refusal.tooManyWaiting(limit: 1), .server)
        add(LiveSync.Refusal.unknownEntity("User"), .data)
        add(
            LiveSync.PassFailure(failures: [
                .init(entity: "User", error: JSONError.nonFiniteNumber), .init(entity: "Note", error: Foreign()),
            ]), .data
        )
        add(WebhookVerifier.Refusal.unsigned, .server)

        add(HTTPError(url: url, problem: .timedOut), .server)
        add(HTTPError(url: url, problem: .unsuitableJSON("no list", firstLine: "")), .data)
        add(HTTPError(url: url, problem: .cannotWrite("full")), .storage)
        add(HTTPError(url: url, problem: .unsuitableSettings("two pages")), .program)
        add(HTTPError.Problem.pageLoop, .server)
        add(FolderError.inUse(path: "files", holder: nil), .lease)
        add(FolderError.inTheWay(path: "files/a"), .storage)
        add(FolderError.wrongSize("a", expected: 2, received: 1), .data)

        add(SyncError(stage: .list, underlying: HTTPError(url: url, problem: .emptyBody)), .server)
        add(SyncError.Reason.timedOut(after: .seconds(1)), .server)
        add(SyncError.Reason.duplicateKeys(keys: ["a"], count: 1), .data)
        add(SyncError.Reason.syncInsidePass, .program)
        add(SyncError.Recorded(JSONError.nonFiniteNumber), .data)
        add(SyncFailure(report: SyncReport(), isCancelled: true), .cancelled)
        add(SyncFailure(error: SyncError(stage: .list, underlying: JSONError.nonFiniteNumber)), .data)
        add(SyncLeaseError.held(name: "data", holder: nil), .lease)
        add(SyncLeaseError.lost(name: "data", underlying: Foreign()), .lease)
        add(SyncLeaseError.Reason.released, .lease)
        add(FileLease.Failure(path: "data.lease", reason: "a folder"), .lease)
        add(SyncServiceError.alreadyRunning, .program)
        add(ProcessorConformance.Failure(violations: []), .program)
        #if Postgres
        let failure = #"{"message":"no","kind":"E","isRetryable":false,"area":"server","worker":"w"}"#
        add(PostgresError(code: .diskFull, message: "full"), .storage)
        add(PostgresWorkQueue.Failure.takenOver, .lease)
        add(PostgresWorkQueue.Failure.noPass, .program)
        add(PostgresWorkQueue.Failure.failed(try JSONDecoder().decode(from: failure)), .server)
        #endif
        return errors
    }

    @Test func eachErrorHasTheAreaOfItsCause() throws {
        for (error, area) in try Self.errors() {
            #expect(SyncError.Area(of: error) == area, "\(String(reflecting: type(of: error))): \(error)")
        }
    }

    /// The area survives the way to another process, and the one through a report.
    @Test func aRecordedErrorKeepsItsArea() throws {
        for (error, area) in try Self.errors() {
            let sent = try JSONEncoder().encode(SyncError.Recorded(SyncError(stage: .content, underlying: error)))
            let recorded = try JSONDecoder().decode(SyncError.Recorded.self, from: sent)
            #expect(recorded.area == area && SyncError.Area(of: recorded) == area, "\(error)")
        }
    }

    @Test func errorsOfOthersHaveTheAreaOfTheirMeaning() {
        #expect(SyncError.Area(of: CancellationError()) == .cancelled)
        #expect(SyncError.Area(of: SyncError(stage: .list, underlying: CancellationError())) == .cancelled)
        #expect(throws: (any Error).self) { try JSONDecoder().decode([Int].self, from: Data("[\"a\"]".utf8)) }
        let context = DecodingError.Context(codingPath: [], debugDescription: "")
        #expect(SyncError.Area(of: DecodingError.dataCorrupted(context)) == .data)
        #expect(SyncError.Area(of: Foreign()) == .other)
        #expect(SyncError.Area(of: SyncFailure(report: SyncReport())) == .other)
    }

    @Test func thePublicAreasAreAllAreas() {
        #expect(SyncError.Area.allCases.map(\.rawValue) == ErrorArea.allCases.map(\.rawValue))
        #expect(SyncError.Area.allCases.map(\.errorArea) == ErrorArea.allCases)
    }

    /// A new public error has to be added above.
    @Test func everyPublicErrorStatesItsArea() throws {
        let known = Set(
            try Self.errors().map { error, _ in
                String(reflecting: type(of: error)).split(separator: ".").dropFirst().joined(separator: ".")
            })
        let declared = try Self.publicErrors()
        #expect(declared.count > 20)
        #expect(declared.subtracting(known) == [])
    }

    /// The public types of the sources that are declared as errors.
    private static func publicErrors() throws -> Set<String> {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        let outer = /^(public |package )?(final |indirect )?(extension|struct|enum|class|actor) (?<name>[\w.]+)/
        let declaration =
            /^(?<indent> *)public (final |indirect )*(struct|enum|class|actor) (?<name>\w+)[^:{]*: (?<parents>[^{]*)/
        let conformance = /^extension (?<name>[\w.]+): (?<parents>[^{]*)/
        var found: Set<String> = []
        for path in paths where path.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
            #if !Postgres
            if text.hasPrefix("#if Postgres") { continue }
            #endif
            var place = ""
            for line in text.split(separator: "\n") {
                if let match = line.firstMatch(of: outer) { place = String(match.name) }
                if let match = line.firstMatch(of: declaration), match.parents.contains(/\b(Retryable)?Error\b/) {
                    found.insert(match.indent.isEmpty ? String(match.name) : "\(place).\(match.name)")
                }
                if let match = line.firstMatch(of: conformance), match.parents.contains(/\bError\b/) {
                    found.insert(String(match.name))
                }
            }
        }
        return found
    }
}

extension JSONDecoder {
    fileprivate func decode<Value: Decodable>(from text: String) throws -> Value {
        try decode(Value.self, from: Data(text.utf8))
    }
}
