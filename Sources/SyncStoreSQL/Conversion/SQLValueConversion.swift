package import SyncModel

/// The conversion of a column's values that may not fit, or that SQL cannot convert exactly.
///
/// The store reads the old values, and writes the new ones to a temporary table, from which the
/// statements of the migration take them. If SQL converts values that fit, the store only checks
/// that they do.
package struct SQLValueConversion: Sendable {
    /// The table. It must not change between the reading and the migration.
    package let table: String
    /// The statement that reads the number and the old value of each object.
    package let selection: String
    /// The type of the old values.
    package let type: AttributeType
    /// The temporary table of the new values; nil if the values are only checked.
    package let values: SQLValueTable?
    /// The expression for the new value of a row.
    let expression: String
    let attribute: SyncAttribute
    let entity: String
    let convert: (@Sendable (AttributeValue) throws -> AttributeValue)?
    /// The types of the identity's columns; empty if objects are named by their numbers.
    package let identityTypes: [AttributeType]
    private let identitySelection: String

    /// Creates a conversion.
    ///
    /// - Parameters:
    ///   - column: The column of the old values.
    ///   - table: The table.
    ///   - rowColumn: Its column of object numbers, quoted.
    ///   - condition: The condition on the rows; nil for all.
    ///   - identity: The columns of the entity's identity and their types.
    init(
        of column: String, as type: AttributeType, to attribute: SyncAttribute, of entity: String, in table: String,
        rowColumn: String, condition: String?, identity: [(column: String, type: AttributeType)],
        hook: AttributeConversion?, number: Int, schema: SQLSchema
    ) {
        self.table = table
        self.type = type
        self.attribute = attribute
        self.entity = entity
        convert = hook?.convert
        let name = SQLText.name(column)
        let direct =
            hook == nil ? schema.dialect.converted(name, from: type, toFitting: attribute.type) : nil
        let values = direct == nil ? schema.dialect.valueTable(number, of: attribute.type, row: rowColumn) : nil
        self.values = values
        expression = direct ?? values?.expression ?? name
        let relation = schema.relation(table)
        // A conversion can give an object without a value one.
        let conditions = [hook == nil ? "\(name) IS NOT NULL" : nil, condition].compactMap(\.self)
        let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        selection =
            "SELECT \(rowColumn), \(schema.dialect.selected(name, as: type)) FROM \(relation)\(filter)"
        identityTypes = identity.map(\.type)
        let columns = identity.map { schema.dialect.selected(SQLText.name($0.column), as: $0.type) }
        identitySelection = "SELECT \(columns.joined(separator: ", ")) FROM \(relation) WHERE \(rowColumn) = "
    }

    /// The statement that reads the identity of an object.
    package func identity(of object: ObjectID) -> String {
        identitySelection + String(object)
    }

    /// Converts a value.
    ///
    /// - Parameter identity: Reads the identity of the object, for an error.
    /// - Throws: `SQLSchemaError.unfitValue`; the error of the program's conversion.
    package func converted(
        _ value: AttributeValue, of object: ObjectID, identity: () throws -> [AttributeValue]
    ) throws -> AttributeValue {
        if let convert {
            let converted = try convert(value)
            if attribute.type.accepts(converted) { return converted }
        } else if !value.isNull, let converted = value.exactly(as: attribute.type, from: type) {
            return lettered(converted)
        }
        let key = Record.Key(identityTypes.isEmpty ? [] : try identity()) ?? .object(object)
        throw SQLSchemaError.unfitValue(
            entity: entity, object: key, attribute: attribute.name, type: attribute.type, value: value)
    }

    /// A UUID as text, in the case that the attribute's JSON has.
    private func lettered(_ value: AttributeValue) -> AttributeValue {
        guard type == .uuid, attribute.hasLowercaseUUIDs else { return value }
        switch value {
        case .string(let text): return .string(text.lowercased())
        case .uri(let text): return .uri(text.lowercased())
        default: return value
        }
    }
}

/// A temporary table of an attribute's new values by object number.
package struct SQLValueTable: Hashable, Sendable {
    /// The statements that create the table.
    package let creation: String
    /// The statement that inserts the number of an object and its value, or many of both.
    package let insertion: String
    /// The expression for the value of the row that a statement reads.
    package let expression: String
    /// The statements that drop the table.
    package let removal: String

    package init(creation: String, insertion: String, expression: String, removal: String) {
        self.creation = creation
        self.insertion = insertion
        self.expression = expression
        self.removal = removal
    }
}
