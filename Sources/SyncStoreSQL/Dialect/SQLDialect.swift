package import SyncModel
package import SyncStore

/// The differences between the SQL of one database and of another.
///
/// A database supplies a value of its own; nothing in this module names a database.
package protocol SQLDialect: Sendable {
    // MARK: Types

    /// The declared type of an attribute's column.
    func columnType(_ type: AttributeType, dates: DateStorage) -> String
    /// The type of an attribute's column in an adopted table that accepts few types.
    func strictColumnType(_ type: AttributeType, dates: DateStorage) -> String
    /// The declaration of the column of object numbers.
    var objectDeclaration: String { get }
    /// The type of columns that refer to objects or hold positions.
    var referenceType: String { get }
    /// The declaration of the column of entity names.
    var entityDeclaration: String { get }

    // MARK: Names

    /// Whether foreign keys are created after all tables, because each needs the table it refers
    /// to.
    var addsForeignKeysLater: Bool { get }
    /// The bytes by which the database compares names of tables and columns.
    func folded(_ name: String) -> [UInt8]
    /// Names that no column may have.
    var reservedColumns: [String] { get }
    /// Whether a table name is needed for helper tables of the store.
    func isReserved(table: String) -> Bool
    /// How identities are indexed that an entry of an index cannot hold; nil if it can hold all.
    var longKeys: SQLLongKeys? { get }
    /// The longest form of a name that the database keeps as it is.
    ///
    /// - Parameter room: The number of bytes that a suffix needs.
    func suitable(_ name: String, room: Int) -> String

    // MARK: Values

    /// The value of a parameter or a column.
    func binding(_ value: AttributeValue, dates: DateStorage) -> SQLBinding
    /// The placeholder of a parameter.
    ///
    /// - Parameter number: Its position among the parameters, from 1.
    func placeholder(_ number: Int, for binding: SQLBinding) -> String
    /// The placeholder of the first parameter, a number that the statement uses several times.
    var firstNumber: String { get }
    /// A literal that equals a value exactly; nil if the value has none.
    func literal(_ binding: SQLBinding) -> String?
    /// A literal for the default of a column.
    func defaultLiteral(_ binding: SQLBinding) -> String?
    /// The value of `LIMIT` that means no limit.
    var noLimit: SQLBinding { get }

    // MARK: Expressions

    /// What follows a column of an index so that it serves ascending orders with null first.
    var indexOrder: String { get }
    /// The part of a text or of bytes that indices of an attribute contain, which sorts like the
    /// whole values; nil if they contain whole values.
    func indexedPart(_ expression: String, _ type: AttributeType) -> String?
    /// Whether integers and floating-point numbers compare by their exact values.
    var comparesNumbersExactly: Bool { get }
    /// True or false as a condition.
    func condition(_ holds: Bool) -> String
    /// The expression that reads a column of an attribute in one form, whatever the column's type.
    func selected(_ column: String, as type: AttributeType) -> String
    /// The `COLLATE` clause for comparisons of an attribute; empty for none.
    func collation(_ type: AttributeType) -> String
    /// An aggregate of an expression, of the type that a selection states.
    func aggregate(_ function: StoreSelection.Aggregate, _ expression: String, as type: AttributeType) -> String
    /// The condition that a text contains, begins or ends with another, which is not empty, by
    /// bytes, or that it matches a pattern.
    func textCondition(
        _ expression: String, collation: String, _ match: PropertyPath.TextMatch, _ text: String,
        _ parameters: inout SQLParameters
    ) -> String
    /// The condition that an object is one of some, given by a placeholder for object numbers.
    func isObject(_ expression: String, among placeholder: String) -> String
    /// The condition that an object is in a set.
    ///
    /// - Parameter number: The number under which the connection knows the set, if it knows sets.
    func isObject(
        _ expression: String, in set: ObjectSet, number: Int64?, _ parameters: inout SQLParameters
    ) -> String

    // MARK: Removal

    /// The temporary table of objects to be deleted.
    var doomedTable: String { get }
    /// The statements that create that table, or empty it.
    var doomedPreparation: String { get }
    /// An `INSERT` into that table that ignores objects it has already.
    func doomedInsertion(_ selection: String) -> String

    // MARK: Migration

    /// A column's values converted to a wider type.
    func converted(_ column: String, from type: AttributeType, to wider: AttributeType) -> String
    /// Whether `ALTER TABLE` renames, converts and drops columns, and names tables that others
    /// refer to.
    var changesTables: Bool { get }
}

extension SQLDialect {
    package var longKeys: SQLLongKeys? { nil }

    package func strictColumnType(_ type: AttributeType, dates: DateStorage) -> String {
        columnType(type, dates: dates)
    }

    package func indexedPart(_ expression: String, _ type: AttributeType) -> String? { nil }

    package func defaultLiteral(_ binding: SQLBinding) -> String? { literal(binding) }
}
