import COneWaySQLite
import Foundation
import SyncModel
import SyncStore
import SyncStoreSQL

// The functions and collations used by the store's statements.
extension SQLiteConnection {
    /// The collation that compares decimal numbers, stored as text, by value.
    static let decimalCollation = "sync_decimal"
    /// The function that sums decimal numbers, stored as text, exactly.
    static let decimalSumFunction = "sync_decimal_sum"
    /// The function that sums integers independently of their order.
    static let integerSumFunction = "sync_integer_sum"
    /// The function that computes an average; for integers, from their exact sum.
    static let averageFunction = "sync_average"
    /// The error message for a sum of integers that does not fit in 64 bits.
    static let overflowMessage = "integer overflow"
    /// The function that matches the bytes of a text with a pattern.
    static let likeFunction = "sync_like"
    /// The collation that compares JSON values, regardless of their formatting.
    static let jsonCollation = "sync_json"
    /// The function that looks up an object in one of the connection's numbered sets.
    static let objectSetFunction = "sync_contains"
    /// The function that returns a real number as JSON, with all of its digits; the second argument
    /// is 1 for a number of 32 bits. SQLite's own functions return 15 digits.
    static let numberJSONFunction = "sync_number_json"

    /// The function that returns the date at which the transaction began.
    static let transactionDateFunction = "sync_transaction_date"

    /// Registers the functions and collations of the store on a connection.
    ///
    /// - Parameters:
    ///   - handle: The connection's handle.
    ///   - objectSets: The sets that statements can use.
    ///   - date: The date that statements can use.
    static func addFunctions(to handle: OpaquePointer, _ objectSets: ObjectSets, _ date: SQLiteTransactionDate) {
        // The connection owns the sets and the date, and outlives its functions, which are removed
        // when the handle is closed.
        let dateContext = Unmanaged.passUnretained(date).toOpaque()
        sqlite3_create_function_v2(
            handle, transactionDateFunction, 0, SQLITE_UTF8 | SQLITE_DIRECTONLY, dateContext,
            { call, _, _ in
                guard let context = sqlite3_user_data(call) else { return }
                switch Unmanaged<SQLiteTransactionDate>.fromOpaque(context).takeUnretainedValue().value {
                case .text(let text): sqlite3_result_text(call, text, -1, transientContent)
                case .real(let number): sqlite3_result_double(call, number)
                default: sqlite3_result_null(call)
                }
            }, nil, nil, nil)
        let context = Unmanaged.passUnretained(objectSets).toOpaque()
        sqlite3_create_function_v2(
            handle, objectSetFunction, 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, context,
            { call, _, arguments in
                guard let arguments, let context = sqlite3_user_data(call) else { return }
                let sets = Unmanaged<ObjectSets>.fromOpaque(context).takeUnretainedValue()
                let isFound = sets.contains(sqlite3_value_int64(arguments[1]), set: sqlite3_value_int64(arguments[0]))
                sqlite3_result_int(call, isFound ? 1 : 0)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            handle, numberJSONFunction, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
            { call, _, arguments in
                guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else { return }
                let number = sqlite3_value_double(arguments[0])
                let digits = sqlite3_value_int64(arguments[1]) == 1 ? Float(number).description : number.description
                // As PostgreSQL does.
                let text = number.isFinite ? digits : number < 0 ? "\"-Infinity\"" : "\"Infinity\""
                sqlite3_result_text(call, text, -1, transientContent)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            handle, likeFunction, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
            { call, _, arguments in
                guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else { return }
                let isMatch = LikePattern.matches(bytes(arguments[0]), pattern: bytes(arguments[1]))
                sqlite3_result_int(call, isMatch ? 1 : 0)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            handle, decimalSumFunction, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, nil,
            { call, _, arguments in
                guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else { return }
                guard let sum = decimalSum(of: call) else { return sqlite3_result_error_nomem(call) }
                let text = bytes(arguments[0])
                sum.value += text.withUnsafeBytes { decimal($0.baseAddress, Int32($0.count)) }
            },
            { call in
                guard
                    let place = sqlite3_aggregate_context(call, 0)?.assumingMemoryBound(
                        to: Unmanaged<DecimalSum>?.self),
                    let sum = place.pointee?.takeRetainedValue()
                else { return sqlite3_result_null(call) }
                place.pointee = nil
                sqlite3_result_text(call, sum.value.description, -1, transientContent)
            }, nil)
        sqlite3_create_function_v2(
            handle, integerSumFunction, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, nil,
            { call, _, arguments in
                guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else { return }
                guard let sum = numberSum(of: call) else { return sqlite3_result_error_nomem(call) }
                sum.pointee.whole.add(sqlite3_value_int64(arguments[0]))
            },
            { call in
                guard let sum = numberSum(of: call, isNew: false)?.pointee else { return sqlite3_result_null(call) }
                guard let value = sum.whole.value else {
                    return sqlite3_result_error(call, SQLiteConnection.overflowMessage, -1)
                }
                sqlite3_result_int64(call, value)
            }, nil)
        sqlite3_create_function_v2(
            handle, averageFunction, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, nil,
            { call, _, arguments in
                guard let arguments, sqlite3_value_type(arguments[0]) != SQLITE_NULL else { return }
                guard let sum = numberSum(of: call) else { return sqlite3_result_error_nomem(call) }
                if sqlite3_value_type(arguments[0]) == SQLITE_INTEGER {
                    sum.pointee.whole.add(sqlite3_value_int64(arguments[0]))
                } else {
                    sum.pointee.real += sqlite3_value_double(arguments[0])
                    sum.pointee.realCount += 1
                }
            },
            { call in
                guard let sum = numberSum(of: call, isNew: false)?.pointee else { return sqlite3_result_null(call) }
                let count = Double(sum.whole.count + sum.realCount)
                sqlite3_result_double(call, (sum.whole.real + sum.real) / count)
            }, nil)
        sqlite3_create_collation_v2(
            handle, decimalCollation, SQLITE_UTF8, nil,
            { _, length, bytes, otherLength, otherBytes in
                let one = decimal(bytes, length)
                let other = decimal(otherBytes, otherLength)
                return one < other ? -1 : one > other ? 1 : 0
            }, nil)
        sqlite3_create_collation_v2(
            handle, jsonCollation, SQLITE_UTF8, nil,
            { _, length, bytes, otherLength, otherBytes in
                CanonicalJSON.compare(text(bytes, length), text(otherBytes, otherLength))
            }, nil)
    }
}

/// The bytes of an argument of a function.
private func bytes(_ value: OpaquePointer?) -> [UInt8] {
    guard let start = sqlite3_value_blob(value) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
}

/// The sum of the numbers of a group, in the memory of the group's context.
private struct NumberSum {
    var whole = IntegerSum()
    var real = 0.0
    var realCount: Int64 = 0
}

/// The sum of the group of a call; nil if memory is exhausted.
///
/// - Parameter isNew: Whether to create a sum for a group without one. SQLite fills its memory with
///   zeros, which are an empty sum. If false, such a group has nil.
private func numberSum(of call: OpaquePointer?, isNew: Bool = true) -> UnsafeMutablePointer<NumberSum>? {
    sqlite3_aggregate_context(call, isNew ? Int32(MemoryLayout<NumberSum>.size) : 0)?
        .assumingMemoryBound(to: NumberSum.self)
}

/// The sum of a group's decimal numbers, retained by the group's context.
private final class DecimalSum {
    var value: Decimal = 0
}

/// The sum of the group of a call; nil if memory is exhausted.
private func decimalSum(of call: OpaquePointer?) -> DecimalSum? {
    guard
        let place = sqlite3_aggregate_context(call, Int32(MemoryLayout<Unmanaged<DecimalSum>?>.size))?
            .assumingMemoryBound(to: Unmanaged<DecimalSum>?.self)
    else { return nil }
    // The context is initially zero, which is nil.
    if let known = place.pointee { return known.takeUnretainedValue() }
    let sum = DecimalSum()
    place.pointee = Unmanaged.passRetained(sum)
    return sum
}

private func text(_ bytes: UnsafeRawPointer?, _ length: Int32) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: bytes?.assumingMemoryBound(to: UInt8.self), count: bytes == nil ? 0 : Int(length))
}

/// A decimal number from its text; zero for any other text, which only other programs write.
private func decimal(_ bytes: UnsafeRawPointer?, _ length: Int32) -> Decimal {
    Decimal(exactly: text(bytes, length)) ?? 0
}

/// The sets of objects that running statements use.
final class ObjectSets {
    private var sets: [Int64: ObjectSet] = [:]
    private var lastNumber: Int64 = 0

    /// The place of a set, until it is released.
    final class Registration {
        let number: Int64
        private let sets: ObjectSets

        fileprivate init(_ number: Int64, in sets: ObjectSets) {
            self.number = number
            self.sets = sets
        }

        deinit {
            sets.sets[number] = nil
        }
    }

    func register(_ rows: ObjectSet) -> Registration {
        lastNumber += 1
        sets[lastNumber] = rows
        return Registration(lastNumber, in: self)
    }

    func contains(_ row: Int64, set: Int64) -> Bool {
        sets[set]?.contains(row) ?? false
    }
}

/// The date that running statements use.
final class SQLiteTransactionDate {
    /// The date in the form of the store's dates.
    var value = SQLBinding.null
}
