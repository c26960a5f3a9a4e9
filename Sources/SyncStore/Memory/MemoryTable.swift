import SyncModel

/// An object: the place of its entity in the model, and its values in slot order.
struct MemoryObject: Sendable {
    var entity: Int
    var values: [AttributeValue]
}

/// The objects of a root entity and of all that inherit from it, by their rows.
struct MemoryTable: Sendable {
    private static let pageSize = 256

    /// Rows are numbered from 1; a page holds as many objects as `pageSize`, so that a copy that is changed copies few.
    private var pages: [[MemoryObject?]] = []
    private(set) var lastRow: Int64 = 0

    subscript(row: Int64) -> MemoryObject? {
        guard row > 0, row <= lastRow else { return nil }
        let index = Int(row - 1)
        return pages[index / Self.pageSize][index % Self.pageSize]
    }

    mutating func append(_ object: MemoryObject) -> Int64 {
        let index = Int(lastRow)
        if index % Self.pageSize == 0 { pages.append([]) }
        pages[index / Self.pageSize].append(object)
        lastRow += 1
        return lastRow
    }

    mutating func setValue(_ value: AttributeValue, at slot: Int, of row: Int64) {
        let index = Int(row - 1)
        pages[index / Self.pageSize][index % Self.pageSize]?.values[slot] = value
    }

    mutating func remove(_ row: Int64) {
        let index = Int(row - 1)
        pages[index / Self.pageSize][index % Self.pageSize] = nil
    }
}

/// The values of an identity, none of them null.
enum MemoryIdentity: Hashable, Sendable {
    case one(AttributeValue)
    case many([AttributeValue])

    /// Nil where a value is missing, or there is nothing to identify by.
    init?(_ slots: [Int], _ value: (Int) -> AttributeValue?) {
        guard slots.count != 1 else {
            guard let found = value(slots[0]), !found.isNull else { return nil }
            self = .one(found)
            return
        }
        var values: [AttributeValue] = []
        for slot in slots {
            guard let found = value(slot), !found.isNull else { return nil }
            values.append(found)
        }
        guard !values.isEmpty else { return nil }
        self = .many(values)
    }
}
