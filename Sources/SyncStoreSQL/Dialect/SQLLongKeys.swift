package import SyncModel

/// How a database indexes identities that are too long for an entry of an index.
///
/// Short identities have a unique index of their values. Long ones have another unique index, of
/// hashes; statements compare the values as well.
package struct SQLLongKeys: Sendable {
    /// The number of bytes up to which the texts and blobs of an identity together are short.
    package let limit: Int
    /// The number of bytes of a stored text or blob.
    package let byteCount: @Sendable (_ expression: String) -> String
    /// A hash of a stored text or blob, the same for no other value in practice.
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
    /// The slots of an entity's identity whose values can be too long for an index.
    package func longSlots(of entity: Int) -> [Int] {
        guard dialect.longKeys != nil else { return [] }
        let layout = model.layouts[entity]
        return layout.identitySlots.filter { layout.attributes[$0].type.hasAnyLength }
    }

    /// The condition that the identity of a row is short, or long, as its unique index has it; nil
    /// if every identity is short.
    ///
    /// - Parameter alias: The name of the table in the statement; nil for none.
    package func lengthCondition(_ entity: Int, isLong: Bool, alias: String? = nil) -> String? {
        let slots = longSlots(of: entity)
        guard let longKeys = dialect.longKeys, !slots.isEmpty else { return nil }
        let counts = slots.map { longKeys.byteCount(identityColumn(entity, $0, alias)) }
        return "\(counts.joined(separator: " + ")) \(isLong ? ">" : "<=") \(longKeys.limit)"
    }

    /// The expression of a slot of the identity in the unique index of long identities.
    package func longKey(_ entity: Int, _ slot: Int, of expression: String) -> String {
        guard let longKeys = dialect.longKeys, longSlots(of: entity).contains(slot) else { return expression }
        return longKeys.digest(expression, model.layouts[entity].attributes[slot].type)
    }

    /// The condition on rows that a text or blob of their identity equals a short value, which the
    /// database needs to look it up in the index; nil where the values alone are enough.
    package func shortLookup(_ entity: Int, slot: Int, bytes: Int, alias: String) -> String? {
        guard let longKeys = dialect.longKeys, bytes <= longKeys.limit, longSlots(of: entity) == [slot] else {
            return nil
        }
        return lengthCondition(entity, isLong: false, alias: alias)
    }

    private func identityColumn(_ entity: Int, _ slot: Int, _ alias: String?) -> String {
        (alias.map { "\($0)." } ?? "") + SQLText.name(columns[entity][slot])
    }
}

extension AttributeType {
    /// Whether a value can have any number of bytes.
    fileprivate var hasAnyLength: Bool {
        switch self {
        case .string, .uri, .binary, .transformable: true
        case .int16, .int32, .int64, .bool, .double, .float, .decimal, .date, .uuid, .json: false
        }
    }
}
