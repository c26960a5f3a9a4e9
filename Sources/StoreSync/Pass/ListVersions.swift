import SyncModel
import SyncStore

/// The versions of a list's objects, in a sync with ``StoreSyncOptions/newerBy``.
///
/// A list can be older than the store, for example if a change was applied before a replica that
/// answers the sync had it.
struct ListVersions {
    let attribute: String
    /// The latest version in the list; nil if none of its objects has one.
    private(set) var latest: AttributeValue?
    /// The number of objects of the list that were older than the stored ones.
    fileprivate(set) var olderCount = 0

    /// - Throws: ``StoreSyncError/unknownVersion(entity:attribute:)``.
    init(_ attribute: String, of layout: EntityLayout) throws {
        guard layout.column(of: attribute) != nil else {
            throw StoreSyncError.unknownVersion(entity: layout.name, attribute: attribute)
        }
        self.attribute = attribute
    }

    /// Forgets the list, before it is read again.
    mutating func beginAnew() {
        (latest, olderCount) = (nil, 0)
    }

    fileprivate mutating func note(_ version: AttributeValue) {
        if let latest, !latest.precedes(version) { return }
        latest = version
    }

    /// What the list did not decide.
    ///
    /// - Parameter newerCount: The number of absent objects that are newer than the list.
    func warnings(newerCount: Int) -> [String] {
        var warnings: [String] = []
        if olderCount > 0 { warnings.append(Self.warning(olderCount: olderCount)) }
        if newerCount > 0 {
            warnings.append("\(newerCount) of the absent objects were newer than the whole list, and kept")
        }
        return warnings
    }

    /// Says that objects of a list, or of changes, were ignored.
    static func warning(olderCount count: Int) -> String {
        "\(count) of the objects were older than the stored ones, and ignored"
    }

    /// The objects that are not newer than every object of the list.
    var coveredObjects: RecordPredicate {
        guard let latest else { return .constant(true) }
        let path = PropertyPath(attribute)
        return path == nil || path <= latest
    }
}

extension StorePass {
    /// Skips the records of the list that are older than their stored objects.
    ///
    /// An object that the list has had before is not compared: of two elements the later one
    /// counts.
    func skipOlder(_ merge: inout GroupMerge) async throws {
        guard var versions, !merge.origin.isNested, let column = merge.layout.column(of: versions.attribute) else {
            return
        }
        let stated: [AttributeValue?] = merge.records.withReader { reader in
            (0..<reader.count).map { row in
                reader.value(row: row, column: column).flatMap { $0.isNull ? nil : $0 }
            }
        }
        for case let version? in stated { versions.note(version) }
        var rows: [ObjectID: Int] = [:]
        let found = try await stored(merge.records, merge.layout, expected: merge.origin.entity)
        for (row, object) in found.enumerated() {
            if let object, stated[row] != nil, !state.listed.contains(object) { rows[object] = row }
        }
        let base = model.layouts[merge.layout.root]
        let query = StoreQuery(base.name, objects: .only(rows.keys.sorted()))
        for stored in try await transaction.records(query) {
            guard let row = rows[stored.object], let version = stated[row],
                version.precedes(stored.record[versions.attribute])
            else { continue }
            merge.skipped.updateValue(stored.object, forKey: row)
            versions.olderCount += 1
        }
        self.versions = versions
    }

    /// The number of objects that the list lacks because it is older than they are.
    func countNewer(in scope: StoreQuery, _ absent: StoreQuery.Objects) async throws -> Int {
        guard let versions, let latest = versions.latest, case .except = absent else { return 0 }
        var newer = scope
        newer.predicate = newer.predicate && PropertyPath(versions.attribute) > latest
        newer.objects = absent
        return try await transaction.count(newer)
    }
}

extension AttributeValue {
    /// Whether a version is certain to be earlier; false for values of different types.
    func precedes(_ other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.int(let one), .int(let other)): one < other
        case (.double(let one), .double(let other)): one < other
        case (.decimal(let one), .decimal(let other)): one < other
        case (.date(let one), .date(let other)): one < other
        case (.string(let one), .string(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
        default: false
        }
    }
}
