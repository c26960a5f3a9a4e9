import COneWaySQLite
import Foundation
import SyncModel

/// A column of a statement's current row, as SQLite stores it.
///
/// It is valid until the statement advances. SQLite protects it by no lock, so that it is used by
/// the thread of its statement only; reading it costs less than reading the column several times.
struct SQLiteValue {
    private let handle: OpaquePointer?
    /// How numbers are read as dates; nil if dates are texts.
    private let dates: SQLiteDateCount?
    /// The type of the value, as one of SQLite's five.
    private let type: Int32

    @inline(__always)
    init(_ handle: OpaquePointer?, dates: SQLiteDateCount?) {
        self.handle = handle
        self.dates = dates
        type = sqlite3_value_type(handle)
    }

    @inline(__always)
    var isNull: Bool { type == SQLITE_NULL }

    @inline(__always)
    private var integer: Int64 { sqlite3_value_int64(handle) }

    @inline(__always)
    private var real: Double { sqlite3_value_double(handle) }

    private var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The bytes of a text or blob, or of the text of a number.
    @inline(__always)
    private var bytes: UnsafeBufferPointer<UInt8> {
        guard let start = sqlite3_value_blob(handle) else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(
            start: start.assumingMemoryBound(to: UInt8.self), count: Int(sqlite3_value_bytes(handle)))
    }

    /// A number without a fraction; nil for anything else.
    @inline(__always)
    private var wholeNumber: Int64? {
        switch type {
        case SQLITE_INTEGER: integer
        case SQLITE_FLOAT: Int64(exactly: real)
        default: nil
        }
    }

    /// A Boolean; nil for other numbers, because conditions find only 0 and 1.
    @inline(__always)
    private var flag: Bool? {
        switch wholeNumber {
        case 0: false
        case 1: true
        default: nil
        }
    }

    private var moment: Timestamp? {
        switch type {
        case SQLITE_TEXT:
            if let found = DateText.microseconds(bytes) { return Timestamp(microseconds: found) }
            // In a `TEXT` column, the integer of a date before the year 0 becomes a text.
            let number = integer
            return number < DateText.range.lowerBound ? Timestamp(microseconds: number) : nil
        case SQLITE_FLOAT:
            return (dates ?? .since1970).moment(real)
        case SQLITE_INTEGER:
            return dates.map { $0.moment(integer) } ?? Timestamp(microseconds: integer)
        default:
            let bytes = bytes
            guard bytes.count == 8 else { return nil }
            return Timestamp(microseconds: bytes.reduce(0) { $0 << 8 | Int64($1) })
        }
    }

    /// The value by SQLite's own type.
    var stored: AttributeValue {
        switch type {
        case SQLITE_INTEGER: .int(integer)
        case SQLITE_FLOAT: .double(real)
        case SQLITE_TEXT: .string(text)
        case SQLITE_BLOB: .binary(Data(bytes))
        default: .null
        }
    }

    /// The value of an attribute; null if the value does not fit the type. Other programs may have
    /// written it.
    func attributeValue(_ attributeType: AttributeType) -> AttributeValue {
        guard !isNull else { return .null }
        return switch attributeType {
        case .bool: flag.map { .bool($0) } ?? .null
        case .int16, .int32, .int64: wholeNumber.map { .int($0) } ?? .null
        case .double, .float: .double(real)
        case .decimal: Decimal(exactly: bytes).map { .decimal($0) } ?? .null
        case .string: .string(text)
        case .uri: .uri(text)
        case .uuid: UUID(uuidString: text).map { .uuid($0) } ?? .null
        case .json: CanonicalJSON(utf8: bytes)?.value ?? .null
        case .binary, .transformable: .binary(Data(bytes))
        case .date: moment.map { .date($0) } ?? .null
        }
    }

    /// Sets a cell of a batch's open row. A value that does not fit the type becomes null.
    @inline(__always)
    func write(to batch: inout RecordBatch, at column: Int, as attributeType: AttributeType) {
        guard !isNull else { return batch.setNull(at: column) }
        switch attributeType {
        case .bool:
            if let flag { batch.setBool(flag, at: column) } else { batch.setNull(at: column) }
        case .int16, .int32, .int64:
            if let wholeNumber { batch.setInt(wholeNumber, at: column) } else { batch.setNull(at: column) }
        case .double, .float: batch.setDouble(real, at: column)
        case .string: batch.setString(bytes, at: column)
        case .uri: batch.setURI(bytes, at: column)
        case .binary, .transformable: batch.setBinary(bytes, at: column)
        case .decimal:
            // Only some numbers of 39 digits fit in 128 bits.
            guard !batch.setDecimal(bytes, at: column) else { return }
            batch.setValue(attributeValue(attributeType), at: column)
        case .uuid, .json: batch.setValue(attributeValue(attributeType), at: column)
        case .date:
            if let moment { batch.setDate(moment, at: column) } else { batch.setNull(at: column) }
        }
    }

    /// Whether the value equals a cell, so that writing the cell would change nothing.
    @inline(__always)
    func equals(_ reader: RecordBatch.Reader, row: Int, column: Int) -> Bool {
        let kind = reader.kind(row: row, column: column)
        if kind == .null { return isNull }
        if kind == .double, reader.double(row: row, column: column).isNaN { return isNull }
        if isNull { return false }
        switch kind {
        case .absent, .null: return true
        case .bool: return flag == reader.bool(row: row, column: column)
        case .int: return wholeNumber == reader.int(row: row, column: column)
        case .double: return real == reader.double(row: row, column: column)
        case .string, .uri, .decimal, .binary:
            return Self.areSame(bytes, reader.bytes(row: row, column: column))
        case .json:
            // Other programs may have written the same value in another form.
            return CanonicalJSON.compare(bytes, reader.bytes(row: row, column: column)) == 0
        case .uuid:
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: UUIDText.byteCount) { room in
                guard let start = room.baseAddress else { return false }
                UUIDText.write(reader.bytes(row: row, column: column), to: start)
                return Self.areSame(bytes, UnsafeBufferPointer(room))
            }
        case .date:
            let moment = reader.date(row: row, column: column)
            if let dates { return real == dates.seconds(moment) }
            return self.moment == moment
        }
    }

    @inline(__always)
    private static func areSame(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        guard let start = one.baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, one.count) == 0
    }
}
