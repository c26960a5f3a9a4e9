import SyncModel
import SyncStoreSQL

/// The preferred type of a column's values; see
/// https://www.sqlite.org/datatype3.html#type_affinity.
enum SQLiteAffinity: Hashable, Sendable {
    case integer
    case real
    case numeric
    case text
    case none
    /// The type `ANY` of a STRICT table.
    case any

    /// The affinity that SQLite derives from a declared type.
    init(declaredType: String, isStrict: Bool) {
        let type = declaredType.uppercased()
        guard !isStrict || type != "ANY" else {
            self = .any
            return
        }
        self =
            if type.contains("INT") {
                .integer
            } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                .text
            } else if type.isEmpty || type.contains("BLOB") {
                .none
            } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
                .real
            } else {
                .numeric
            }
    }
}

extension AttributeType {
    /// The affinities of ordinary columns that return every value unchanged.
    func affinities(_ dates: SQLNaming.DateStorage) -> Set<SQLiteAffinity> {
        switch self {
        case .bool, .int16, .int32, .int64: [.integer, .numeric, .none]
        case .double, .float: [.real, .numeric, .integer, .none]
        // A numeric column would store a text of digits as a number, and lose zeros or digits.
        case .string, .uri, .decimal, .json: [.text, .none]
        case .uuid: [.text, .numeric, .none]
        case .date: dates == .iso8601 ? [.text, .numeric, .none] : [.real, .numeric, .none]
        case .binary, .transformable: [.integer, .real, .numeric, .text, .none]
        }
    }

    /// The affinities of STRICT columns that accept every value.
    func strictAffinities(_ dates: SQLNaming.DateStorage) -> Set<SQLiteAffinity> {
        switch self {
        case .bool, .int16, .int32, .int64: [.integer, .any]
        case .double, .float: [.real, .any]
        case .string, .uri, .decimal, .uuid, .json: [.text, .any]
        case .date: dates == .iso8601 ? [.text, .any] : [.real, .any]
        case .binary, .transformable: [.none, .any]
        }
    }
}
