import Foundation
import OneWayStoreLives
import OneWayTestSupport
import SyncBase
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

/// A file in which the store made the tables, or another tool.
struct SQLiteLifeDatabase: LifeDatabase {
    private let folder: TemporaryDirectory
    /// The tool that makes the tables; nil for the store.
    private let origin: ForeignSchema?
    /// What the tool made, which the store must leave as it is.
    private let dependentObjects = Locked<[String]?>(nil)

    init(origin: ForeignSchema?) throws {
        folder = try TemporaryDirectory()
        self.origin = origin
    }

    private var path: String { folder.url.appending(path: "store.sqlite").path }

    var isExisting: Bool { origin != nil }

    func prepare(_ fields: [String: [Field]]) async throws {
        guard let origin else { return }
        for entity in StoreLife.entities {
            let creation = origin.creation(
                of: entity, fields: fields[entity] ?? [], references: StoreLife.references[entity] ?? [])
            try await SQLiteShell.run(creation.joined(separator: ";"), at: path)
        }
    }

    private func options(version: Int) -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.modelVersion = version
        if let origin { options.naming = origin.naming(references: StoreLife.references) }
        return options
    }

    func open(_ model: DataModel, version: Int) async throws -> any Store {
        let store = try await SQLiteStore(exactly: model, at: .file(path), options: options(version: version))
        let texts = try foreignTexts()
        dependentObjects.withLock { $0 = $0 ?? texts }
        return store
    }

    func rebuild(
        _ model: DataModel, version: Int, _ fill: @escaping @Sendable (any Store) async throws -> Void
    ) async throws -> (any Store)? {
        try await SQLiteStore.rebuild(exactly: model, at: path, options: options(version: version)) {
            try await fill($0)
        }
    }

    /// The bytes of the file and of its log.
    func writtenState() async throws -> [String] {
        ["", "-wal"].map { suffix in
            FileManager.default.contents(atPath: path + suffix).map { $0.base64EncodedString() } ?? ""
        }
    }

    func check(_ place: String) async throws {
        try checkDependentObjects(place)
        let connection = try SQLiteConnection(path: path, isReadOnly: true, busyTimeout: 1000)
        let integrity = try connection.prepare("PRAGMA integrity_check")
        #expect(try integrity.step() && integrity.text(at: 0) == "ok", "\(place)")
        #expect(try connection.prepare("PRAGMA foreign_key_check").step() == false, "\(place)")
    }

    // MARK: What others made

    /// The texts of what the tool made, without columns that the store added.
    private func foreignTexts() throws -> [String] {
        guard let origin else { return [] }
        let names = StoreLife.entities.map { "'\(origin.table($0))'" }.joined(separator: ", ")
        let connection = try SQLiteConnection(path: path, isReadOnly: true, busyTimeout: 1000)
        let statement = try connection.prepare(
            """
            SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name LIKE 'index_%' \
            OR type = 'table' AND name IN (\(names)) ORDER BY name
            """)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(at: 0)) }
        return texts
    }

    /// Verifies that the tool would recognize its tables.
    private func checkDependentObjects(_ place: String) throws {
        let texts = try foreignTexts()
        let objects = dependentObjects.withLock { $0 } ?? []
        #expect(texts.count == objects.count, "\(place)")
        for (now, before) in zip(texts, objects) {
            // New columns stand after the old ones, before the constraints of the table.
            let constraints = before.firstRange(of: /, (CONSTRAINT|FOREIGN KEY)|\)( STRICT)?$/)
            let end = constraints?.lowerBound ?? before.endIndex
            #expect(now.hasPrefix(before[..<end]) && now.hasSuffix(before[end...]), "\(place): \(now)")
        }
    }
}
