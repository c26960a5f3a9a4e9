import SyncModel

/// The values of an identity, none of them null.
enum MemoryIdentity: Hashable, Sendable {
    case one(AttributeValue)
    case many([AttributeValue])

    /// Creates an identity; nil if a value is missing or there are no columns.
    init?(_ columns: [Int], _ value: (Int) -> AttributeValue?) {
        guard columns.count != 1 else {
            guard let found = value(columns[0]), !found.isNull else { return nil }
            self = .one(found)
            return
        }
        var values: [AttributeValue] = []
        for column in columns {
            guard let found = value(column), !found.isNull else { return nil }
            values.append(found)
        }
        guard !values.isEmpty else { return nil }
        self = .many(values)
    }
}
