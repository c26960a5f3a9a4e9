import SyncModel

/// The objects of a root entity and its sub-entities, by number.
struct MemoryTable: Sendable {
    private static let pageSize = 256

    /// The objects in pages, by number from 1. Pages are small, so that changing a copy of the
    /// table copies few objects.
    private var pages: [[MemoryObject?]] = []
    private(set) var lastObject: ObjectID = 0

    subscript(id: ObjectID) -> MemoryObject? {
        guard id > 0, id <= lastObject else { return nil }
        let index = Int(id - 1)
        return pages[index / Self.pageSize][index % Self.pageSize]
    }

    mutating func append(_ object: MemoryObject) -> ObjectID {
        let index = Int(lastObject)
        if index % Self.pageSize == 0 { pages.append([]) }
        pages[index / Self.pageSize].append(object)
        lastObject += 1
        return lastObject
    }

    mutating func setValue(_ value: AttributeValue, at column: Int, of id: ObjectID) {
        let index = Int(id - 1)
        pages[index / Self.pageSize][index % Self.pageSize]?.values[column] = value
    }

    mutating func replace(_ object: MemoryObject, _ id: ObjectID) {
        let index = Int(id - 1)
        pages[index / Self.pageSize][index % Self.pageSize] = object
    }

    mutating func remove(_ id: ObjectID) {
        let index = Int(id - 1)
        pages[index / Self.pageSize][index % Self.pageSize] = nil
    }
}
