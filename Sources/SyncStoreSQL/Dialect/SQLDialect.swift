package import SyncModel
package import SyncStore

/// The SQL of one database, where it differs from that of another.
///
/// Each database has its own conforming type.
package protocol SQLDialect: Sendable {
    // MARK: Types

    /// The declared type of an attribute's column.
    func columnType(_ type: AttributeType, dates: SQLNaming.DateStorage) -> String
    /// The type of an attribute's column in an existing table that accepts only a few types.
    func strictColumnType(_ type: AttributeType, dates: SQLNaming.DateStorage) -> String
    /// The declaration of the column of object numbers.
    var objectDeclaration: String { get }
    /// The type of columns that refer to objects or hold positions.
    var referenceType: String { get }
    /// The declaration of the column of entity names.
    var entityDeclaration: String { get }

    // MARK: Names

    /// Whether foreign keys are created after all tables, because each needs the table that it
    /// refers to.
    var addsForeignKeysLater: Bool { get }
    /// The bytes by which the database compares names of tables and columns.
    func folded(_ name: String) -> [UInt8]
    /// The name of a table or an index in statements, quoted.
    func relation(_ name: String) -> String
    /// A statement whose text has names of tables without a schema.
    func findingTables(_ statement: String) -> String
    /// Names that a column must not have.
    var reservedColumns: [String] { get }
    /// Whether a table name is reserved for the store's own tables.
    func isReserved(table: String) -> Bool
    /// How identities that are too long for an index entry are indexed; nil if none is.
    var longKeys: SQLLongKeys? { get }
    /// The longest prefix of a name that the database does not shorten.
    ///
    /// - Parameter room: The number of bytes to leave for a suffix.
    func suitable(_ name: String, room: Int) -> String

    // MARK: Values

    /// The value of a parameter or a column.
    func binding(_ value: AttributeValue, dates: SQLNaming.DateStorage) -> SQLBinding
    /// The placeholder of a parameter.
    ///
    /// - Parameter number: Its position among the parameters, from 1.
    func placeholder(_ number: Int, for binding: SQLBinding) -> String
    /// The placeholder of the first parameter, a number that the statement uses more than once.
    var firstNumber: String { get }
    /// A literal that exactly equals a value; nil if there is none.
    func literal(_ binding: SQLBinding) -> String?
    /// A literal for the default of a column.
    func defaultLiteral(_ binding: SQLBinding) -> String?
    /// The value of `LIMIT` that means no limit.
    var noLimit: SQLBinding { get }

    // MARK: Expressions

    /// The text after a column of an index, for ascending orders with null first.
    var indexOrder: String { get }
    /// The prefix of a text or of bytes that indices of an attribute contain; nil if they contain
    /// whole values. Prefixes sort like the whole values.
    func indexedPart(_ expression: String, _ type: AttributeType) -> String?
    /// Whether integers and floating-point numbers compare by their exact values.
    var comparesNumbersExactly: Bool { get }
    /// True or false as a condition.
    func condition(_ holds: Bool) -> String
    /// The expression that reads an attribute's column in the same form for every column type.
    func selected(_ column: String, as type: AttributeType) -> String
    /// An attribute's column as a term of conditions and orderings.
    func operand(_ column: String, as type: AttributeType) -> String
    /// The `COLLATE` clause for comparisons of an attribute; empty for none.
    func collation(_ type: AttributeType) -> String
    /// An aggregate of an expression, converted to the type that a selection states.
    func aggregate(_ function: StoreSelection.Aggregate, _ expression: String, as type: AttributeType) -> String
    /// The condition that a text contains, begins with, ends with or matches another. Texts are
    /// compared by bytes; the other text is not empty.
    func textCondition(
        _ expression: String, collation: String, _ match: PropertyPath.TextMatch, _ text: String,
        _ parameters: inout SQLParameters
    ) -> String
    /// The condition that an object is among those in a placeholder for object numbers.
    func isObject(_ expression: String, among placeholder: String) -> String
    /// The condition that an object is in a set.
    ///
    /// - Parameter number: The number of the set on the connection; nil if connections do not have
    ///   sets.
    func isObject(
        _ expression: String, in set: ObjectSet, number: Int64?, _ parameters: inout SQLParameters
    ) -> String

    /// The date at which the transaction began, as a value of a column of dates.
    var transactionDate: String { get }

    // MARK: Removal

    /// The temporary table of objects to delete.
    var doomedTable: String { get }
    /// The statements that create or empty that table.
    var doomedPreparation: [String] { get }
    /// An `INSERT` into that table that ignores objects already in it.
    func doomedInsertion(_ selection: String) -> String

    // MARK: Migration

    /// The values of a column, converted to a wider type.
    func converted(_ column: String, from type: AttributeType, to wider: AttributeType) -> String
    /// The values of a column, converted to a type that all of them fit exactly; nil if SQL could
    /// change some.
    func converted(_ column: String, from type: AttributeType, toFitting other: AttributeType) -> String?
    /// The temporary table of the values of a conversion.
    ///
    /// - Parameters:
    ///   - number: The number of the conversion.
    ///   - type: The type of the values.
    ///   - row: The column of object numbers in the attribute's table, quoted.
    func valueTable(_ number: Int, of type: AttributeType, row: String) -> SQLValueTable
    /// Whether `ALTER TABLE` can rename, convert and drop columns, and rename tables that have
    /// references.
    var changesTables: Bool { get }
}

extension SQLDialect {
    package var longKeys: SQLLongKeys? { nil }

    package func relation(_ name: String) -> String { SQLText.name(name) }

    package func operand(_ column: String, as type: AttributeType) -> String { column }

    package func findingTables(_ statement: String) -> String { statement }

    package func strictColumnType(_ type: AttributeType, dates: SQLNaming.DateStorage) -> String {
        columnType(type, dates: dates)
    }

    package func indexedPart(_ expression: String, _ type: AttributeType) -> String? { nil }

    package func defaultLiteral(_ binding: SQLBinding) -> String? { literal(binding) }
}
