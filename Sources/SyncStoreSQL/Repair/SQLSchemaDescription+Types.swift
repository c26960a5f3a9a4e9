package import SyncModel

extension SQLSchemaDescription {
    /// The types of all attributes, by table and column.
    package var attributeTypes: [String: [String: AttributeType]] {
        var types: [String: [String: AttributeType]] = [:]
        for entity in entities {
            guard let table = families[root(of: entity.name)] else { continue }
            for attribute in entity.attributes {
                types[table, default: [:]][attribute.column] = AttributeType(rawValue: attribute.type)
            }
        }
        return types
    }
}

extension SQLSchemaError {
    /// The error for a column of a store's own table whose type somebody has changed.
    ///
    /// - Parameters:
    ///   - found: The type.
    ///   - declared: The type that the store gave the column.
    ///   - advice: How to go on.
    package static func changedType(
        of column: String, in table: String, found: String, declared: String, advice: String
    ) -> SQLSchemaError {
        .unsuitableTable(
            table: table,
            reason: "\(column) has the type \(found) instead of \(declared), because somebody changed it; \(advice)")
    }

    /// The error for a column of a store's own table that somebody has made a generated one.
    ///
    /// - Parameter advice: How to go on.
    package static func generated(_ column: String, in table: String, advice: String) -> SQLSchemaError {
        .unsuitableTable(
            table: table,
            reason: "\(column) is a generated column, which cannot be written, because somebody changed it; \(advice)")
    }
}
