import HTTPTransfer
import SyncModel
import SyncStore

/// A printer of the objects that a sync changes.
///
///     Film
///     + 3  title: Alien, year: 1979
///     ~ 1  year: 1981 → 1982
///     - 2  title: Brazil, year: 1985
actor DiffPrinter {
    private let limit: Int
    private let console: Console
    private var shownCount = 0
    private var counts = (inserted: 0, updated: 0, deleted: 0)

    private static let batchCount = 500

    /// Creates a printer.
    ///
    /// - Parameter limit: The maximum number of objects to print. The others are counted.
    init(limit: Int, console: Console) {
        self.limit = limit
        self.console = console
    }

    /// Prints the changed objects of all entities.
    ///
    /// - Parameters:
    ///   - before: Reads the state before the changes.
    ///   - after: Reads the state after the changes.
    func print(_ changes: ObjectChanges, before: any StoreReader, after: any StoreReader) async throws {
        for layout in before.model.layouts where !layout.entity.isBookkeeping {
            var hasTitle = false
            let properties = layout.dataProperties
            func show(_ line: (head: String, tail: String), _ role: TextStyle.Role) {
                if !hasTitle { console.print(console.style(PrintableText.line(layout.name), .heading)) }
                hasTitle = true
                let room = console.width.map { max(0, $0 - line.head.columnCount - 2) } ?? .max
                console.print("\(console.style(line.head, role))  \(line.tail.fitted(to: room))")
            }
            for part in Self.parts(of: changes.deleted[layout.root]) {
                for stored in try await Self.records(part, of: layout, from: before) {
                    counts.deleted += 1
                    if takeRoom() { show(Self.line("-", stored, Self.values(of: stored, properties)), .removed) }
                }
            }
            for part in Self.parts(of: changes.updated[layout.root]) {
                let old = try await Self.records(part, of: layout, from: before)
                let new = try await Self.records(part, of: layout, from: after)
                let former = Dictionary(uniqueKeysWithValues: old.map { ($0.object, $0) })
                for stored in new {
                    guard let earlier = former[stored.object] else { continue }
                    let differences = Self.differences(earlier, stored, properties)
                    guard !differences.isEmpty else { continue }
                    counts.updated += 1
                    if takeRoom() { show(Self.line("~", earlier, differences), .changed) }
                }
            }
            for part in Self.parts(of: changes.inserted[layout.root]) {
                for stored in try await Self.records(part, of: layout, from: after) {
                    counts.inserted += 1
                    if takeRoom() { show(Self.line("+", stored, Self.values(of: stored, properties)), .added) }
                }
            }
        }
    }

    /// Prints the number of changes.
    func finish() {
        let total = counts.inserted + counts.updated + counts.deleted
        guard total > 0 else { return console.print("no differences") }
        if total > shownCount {
            let note = "and \(Quantity.count(total - shownCount, "more object")); --limit N shows more"
            console.print(console.style(note, .faint))
        }
        console.print(
            "\(Quantity.grouped(counts.inserted)) inserted, \(Quantity.grouped(counts.updated)) updated, "
                + "\(Quantity.grouped(counts.deleted)) deleted")
    }

    private func takeRoom() -> Bool {
        guard shownCount < limit else { return false }
        shownCount += 1
        return true
    }

    // MARK: Lines

    private static func line(
        _ sign: String, _ stored: StoredRecord, _ parts: [String]
    ) -> (head: String, tail: String) {
        let key = stored.record.layout.isIdentifiedByContent ? "" : " \(RecordText.text(stored.key))"
        return (sign + key, parts.joined(separator: ", "))
    }

    /// Returns the values of an object without its identity and without nulls.
    private static func values(of stored: StoredRecord, _ properties: [String]) -> [String] {
        let layout = stored.record.layout
        let identity = Set(layout.identityColumns.map { layout.attributes[$0].name })
        return properties.compactMap { property in
            guard !identity.contains(property) else { return nil }
            let text = RecordText.cell(property, of: stored.record).text
            return text == "null" || text == "[]" ? nil : "\(property): \(text)"
        }
    }

    private static func differences(
        _ earlier: StoredRecord, _ stored: StoredRecord, _ properties: [String]
    ) -> [String] {
        properties.compactMap { property in
            let isEqual =
                stored.record.layout.relationship(property).map {
                    $0.isOrdered || !$0.isToMany
                        ? earlier.record[related: property] == stored.record[related: property]
                        : Set(earlier.record[related: property]?.keys ?? [])
                            == Set(stored.record[related: property]?.keys ?? [])
                } ?? (earlier.record[property] == stored.record[property])
            guard !isEqual else { return nil }
            let texts = [earlier, stored].map { RecordText.cell(property, of: $0.record).text }
            return "\(property): \(texts[0]) → \(texts[1])"
        }
    }

    // MARK: Reading

    /// The objects of a set in parts that are read at once.
    private static func parts(of objects: ObjectSet?) -> [[ObjectID]] {
        let all = objects?.objects ?? []
        return stride(from: 0, to: all.count, by: batchCount).map { Array(all[$0..<min($0 + batchCount, all.count)]) }
    }

    /// The objects that belong to an entity itself, not to a sub-entity, with their relationships.
    private static func records(
        _ objects: [ObjectID], of layout: EntityLayout, from reader: any StoreReader
    ) async throws -> [StoredRecord] {
        let query = StoreQuery(layout.name, objects: .only(objects))
        let records = try await reader.records(query, with: layout.relationships.map(\.name))
        return records.filter { $0.record.layout.index == layout.index }
    }
}
