import JSONMapper
import StoreSync
import SyncModel

/// The result that a step expects of its sync; what it does not name is not looked at, except for
/// entities beside `counts`.
struct ExpectedResult: Sendable {
    /// Inserted, updated, unchanged, deleted and kept, by entity; the sync must write to no
    /// other entity.
    let counts: [String: [Int]]?
    /// The primary keys of the synced entity's objects, by `inserted`, `updated` and `deleted`, in
    /// any order.
    let keys: [String: [JSONValue]]?
    let rejectedCount: Int?
    let toleratedCount: Int?
    /// The number of pages read, of a sync from a source.
    let pageCount: Int?

    init(_ value: JSONValue) throws {
        let fields = JSONFields(value, of: "expect")
        try fields.allow("counts", "keys", "rejected", "tolerated", "pages")
        let number = { (key: String) in
            try fields.optional(key) { value in
                guard case .integer(let number) = value else { throw fields.failure("\(key) is no number") }
                return Int(number)
            }
        }
        counts = try fields.optional("counts") { value in
            let counts = JSONFields(value, of: "counts")
            return try Dictionary(
                uniqueKeysWithValues: counts.entries.map { entity, _ in
                    let numbers = try counts.array(entity).map { element in
                        guard case .integer(let number) = element else {
                            throw counts.failure("\(entity) holds something else than numbers")
                        }
                        return Int(number)
                    }
                    guard (4...5).contains(numbers.count) else {
                        throw counts.failure("\(entity) needs four or five numbers")
                    }
                    return (entity, numbers.count == 4 ? numbers + [0] : numbers)
                })
        }
        keys = try fields.optional("keys") { value in
            let keys = JSONFields(value, of: "keys")
            try keys.allow("inserted", "updated", "deleted")
            return try Dictionary(
                uniqueKeysWithValues: keys.entries.map { kind, _ in (kind, try keys.array(kind)) })
        }
        rejectedCount = try number("rejected")
        toleratedCount = try number("tolerated")
        pageCount = try number("pages")
    }

    /// - Parameter entity: The entity that was synced.
    func check(_ result: StoreSyncResult, of entity: String, _ values: ScenarioValues) throws {
        if let counts {
            for (name, numbers) in counts {
                try expect(result.countsByEntity[name, default: .init()].numbers, numbers, "the counts of \(name)")
            }
            for (name, found) in result.countsByEntity where counts[name] == nil {
                try expect(found.isUnchanged && found.kept == 0, true, "whether \(name) is as it was")
            }
            let family = try values.model.layout(of: entity).family.map { values.model.layouts[$0].name }
            let sums = family.map { counts[$0] ?? [0, 0, result.countsByEntity[$0]?.unchanged ?? 0, 0, 0] }
            try expect(
                result.counts.numbers, (0..<5).map { index in sums.reduce(0) { $0 + $1[index] } },
                "the counts of \(entity) with its sub-entities")
        }
        if let keys {
            let layout = try values.model.layout(of: entity)
            guard let column = layout.identityColumns.first, let found = result.keys else {
                throw ScenarioFailed(description: "there are no keys of \(entity)")
            }
            let type = layout.attributes[column].type
            for (kind, list) in [("inserted", found.inserted), ("updated", found.updated), ("deleted", found.deleted)] {
                let expected = try (keys[kind] ?? []).map { Record.Key.identity([try values.value($0, for: type)]) }
                try expect(Set(list), Set(expected), "the keys of what was \(kind)")
                try expect(list.count, expected.count, "how often keys are among those of what was \(kind)")
            }
        }
        if let rejectedCount { try expect(result.rejectedCount, rejectedCount, "the number of rejected objects") }
        if let toleratedCount { try expect(result.toleratedCount, toleratedCount, "the number of tolerated values") }
    }
}

extension StoreSyncResult.Counts {
    fileprivate var numbers: [Int] { [inserted, updated, unchanged, deleted, kept] }
}
