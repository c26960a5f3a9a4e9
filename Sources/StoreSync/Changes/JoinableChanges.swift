import SyncModel

/// Changes that follow each other and have the same effect together as one by one.
///
/// No object has two different statements in them, and none is deleted because another one loses
/// it. So the order of the changes does not matter.
struct JoinableChanges {
    private(set) var changes: [(change: RemoteChange, json: [UInt8])] = []
    private var keys: Set<Record.Key> = []
    private var contained: [ContainedObjects.Reference: ContainedObjects.Statement] = [:]

    /// Adds a change if it has the same effect together with the others.
    ///
    /// - Returns: Whether the change was added.
    mutating func add(
        _ change: RemoteChange, of key: Record.Key, json: [UInt8], containing objects: ContainedObjects
    ) -> Bool {
        if let first = changes.first, first.change.areGone != change.areGone { return false }
        for (object, statement) in objects.statements {
            if let known = contained[object], known != statement || !known.isShared { return false }
        }
        guard keys.insert(key).inserted else { return false }
        for (object, statement) in objects.statements {
            let isRepeated = contained.updateValue(statement, forKey: object).map { $0 != statement } ?? false
            // Two statements of one change.
            if isRepeated { contained[object]?.isShared = false }
        }
        changes.append((change, json))
        return true
    }

    /// All changes as one page, or the only change as it is; nil without changes.
    func page() throws -> RemotePage? {
        guard let first = changes.first else { return nil }
        guard changes.count > 1 else { return try first.change.page() }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(changes.reduce(1) { $0 + $1.json.count + 1 })
        for (_, json) in changes {
            bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
            bytes += json
        }
        bytes.append(UInt8(ascii: "]"))
        var page = RemotePage(.bytes(bytes))
        page.keyPath = ""
        page.areGone = first.change.areGone
        page.changeCount = changes.count
        return page
    }
}
