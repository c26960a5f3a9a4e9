package import SyncModel

/// How a database indexes identities that are too long for an index entry.
///
/// Short identities have a unique index of their values. Long identities have another unique index
/// of hashes, and statements also compare the values.
package struct SQLLongKeys: Sendable {
    /// The maximum number of bytes of a short identity, counting its texts and blobs.
    package let limit: Int
    /// The number of bytes of a stored text or blob.
    package let byteCount: @Sendable (_ expression: String) -> String
    /// A hash of a stored text or blob, without collisions in practice.
    package let digest: @Sendable (_ expression: String, _ type: AttributeType) -> String

    /// Creates a description.
    package init(
        limit: Int, byteCount: @escaping @Sendable (String) -> String,
        digest: @escaping @Sendable (String, AttributeType) -> String
    ) {
        self.limit = limit
        self.byteCount = byteCount
        self.digest = digest
    }
}

extension SQLSchema {
    /// The columns of an entity's identity whose values can be too long for an index.
    package func longColumns(of entity: Int) -> [Int] {
        guard dialect.longKeys != nil else { return [] }
        let layout = model.layouts[entity]
        return layout.identityColumns.filter { layout.attributes[$0].type.hasAnyLength }
    }

    /// The condition of a unique index that a row's identity is short or long; nil if every
    /// identity is short.
    ///
    /// - Parameter alias: The name of the table in the statement; nil for none.
    package func lengthCondition(_ entity: Int, isLong: Bool, alias: String? = nil) -> String? {
        let columns = longColumns(of: entity)
        guard let longKeys = dialect.longKeys, !columns.isEmpty else { return nil }
        let counts = columns.map { longKeys.byteCount(identityColumn(entity, $0, alias)) }
        return "\(counts.joined(separator: " + ")) \(isLong ? ">" : "<=") \(longKeys.limit)"
    }

    /// The expression for a column of the identity in the unique index of long identities.
    package func longKey(_ entity: Int, _ column: Int, of expression: String) -> String {
        guard let longKeys = dialect.longKeys, longColumns(of: entity).contains(column) else { return expression }
        return longKeys.digest(expression, model.layouts[entity].attributes[column].type)
    }

    /// The condition with which the database finds a short identity by its index; nil if the values
    /// are enough.
    package func shortLookup(_ entity: Int, column: Int, bytes: Int, alias: String) -> String? {
        guard let longKeys = dialect.longKeys, bytes <= longKeys.limit, longColumns(of: entity) == [column] else {
            return nil
        }
        return lengthCondition(entity, isLong: false, alias: alias)
    }

    private func identityColumn(_ entity: Int, _ column: Int, _ alias: String?) -> String {
        (alias.map { "\($0)." } ?? "") + SQLText.name(columns[entity][column])
    }
}

extension AttributeType {
    /// Whether a value can be of any length.
    fileprivate var hasAnyLength: Bool {
        switch self {
        case .string, .uri, .binary, .transformable: true
        case .int16, .int32, .int64, .bool, .double, .float, .decimal, .date, .uuid, .json: false
        }
    }
}
