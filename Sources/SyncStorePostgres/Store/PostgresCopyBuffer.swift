#if Postgres
import OneWayPostgresClient
import SyncModel

/// A buffer of rows in the binary format of `COPY`, sent in pieces.
///
/// Values are written directly to the bytes to send. Used by one thread at a time. Source:
/// https://www.postgresql.org/docs/current/sql-copy.html
final class PostgresCopyBuffer: PostgresCells {
    /// The size in bytes at which a piece is sent.
    private static let pieceByteCount = 1 << 16

    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0

    init() {
        capacity = Self.pieceByteCount + 4096
        start = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit {
        start.deallocate()
    }

    /// Sends the data of a COPY, in pieces.
    ///
    /// - Parameter write: Writes the rows, and calls its parameter after each.
    func send(to writer: PostgresCopyWriter, _ write: (_ endRow: () throws -> Void) throws -> Void) throws {
        func sendPiece() throws {
            try writer.write(UnsafeRawBufferPointer(start: start, count: count))
            count = 0
        }
        // The signature, no flags and no extension.
        count = 0
        append([0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00])
        append(0 as Int32)
        append(0 as Int32)
        try write { if count >= Self.pieceByteCount { try sendPiece() } }
        append(-1 as Int16)
        try sendPiece()
    }

    // MARK: Cells

    func beginRow(columnCount: Int) {
        append(Int16(truncatingIfNeeded: columnCount))
    }

    @inline(__always)
    func addNull() {
        append(-1 as Int32)
    }

    @inline(__always)
    func add(_ number: some FixedWidthInteger) {
        append(Int32(truncatingIfNeeded: number.bitWidth / 8))
        append(number)
    }

    @inline(__always)
    func add(_ number: Double) { add(number.bitPattern) }

    @inline(__always)
    func add(_ number: Float) { add(number.bitPattern) }

    @inline(__always)
    func add(_ bool: Bool) { add(bool ? 1 as UInt8 : 0) }

    @inline(__always)
    func add(_ moment: Timestamp) { add(PostgresText.microseconds(moment)) }

    @inline(__always)
    func addBinary(_ bytes: UnsafeBufferPointer<UInt8>) {
        append(Int32(truncatingIfNeeded: bytes.count))
        append(bytes)
    }

    @inline(__always)
    func addUUID(_ bytes: UnsafeBufferPointer<UInt8>) { addBinary(bytes) }

    @inline(__always)
    func addText(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard Self.hasSpecialByte(bytes) else { return addBinary(bytes) }
        var kept: [UInt8] = []
        for byte in bytes { PostgresText.append(byte, to: &kept) }
        kept.withUnsafeBufferPointer(addBinary)
    }

    /// Adds a `jsonb`, whose format begins with a version number.
    func addJSON(_ text: UnsafeBufferPointer<UInt8>) {
        PostgresText.withKept(json: text) { kept in
            append(Int32(truncatingIfNeeded: 1 + kept.count))
            append(1 as UInt8)
            append(kept)
        }
    }

    /// Adds a `numeric`.
    ///
    /// The format is: base-10000 digits, their weight, the sign, the number of decimal places.
    func addNumeric(_ text: UnsafeBufferPointer<UInt8>) {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.endIndex
        let whole = digits[..<point]
        let fraction = digits[point...].dropFirst()
        var groups: [Int16] = []
        // Base-10000 digits are counted from the decimal point in both directions.
        for place in stride(from: (whole.count + 3) / 4, to: 0, by: -1) {
            let end = whole.endIndex - (place - 1) * 4
            groups.append(Self.group(whole[max(whole.startIndex, end - 4)..<end], padding: 0))
        }
        var weight = groups.count - 1
        var rest = fraction
        while !rest.isEmpty {
            let part = rest.prefix(4)
            groups.append(Self.group(part, padding: 4 - part.count))
            rest = rest.dropFirst(4)
        }
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        while groups.last == 0 { groups.removeLast() }
        append(Int32(truncatingIfNeeded: 8 + 2 * groups.count))
        append(Int16(truncatingIfNeeded: groups.count))
        append(Int16(truncatingIfNeeded: groups.isEmpty ? 0 : weight))
        append(isNegative ? 0x4000 as Int16 : 0)
        append(Int16(truncatingIfNeeded: fraction.count))
        for group in groups { append(group) }
    }

    /// Returns up to four decimal digits as a number.
    private static func group(_ digits: Slice<UnsafeBufferPointer<UInt8>>, padding: Int) -> Int16 {
        var number = digits.reduce(0 as Int16) { $0 * 10 + Int16($1 - UInt8(ascii: "0")) }
        for _ in 0..<padding { number *= 10 }
        return number
    }

    // MARK: Bytes

    /// Whether a text differs from its stored form. Checks eight bytes at a time.
    private static func hasSpecialByte(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while index &+ 8 <= raw.count {
            // Sets the highest bit of each byte below 2. Bytes of 128 or more are masked out.
            let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if (word &- ones &* 2) & ~word & highs != 0 { return true }
            index &+= 8
        }
        return bytes[index...].contains(where: PostgresText.isSpecial)
    }

    @inline(__always)
    private func reserve(_ byteCount: Int) {
        if capacity - count < byteCount { grow(byteCount) }
    }

    private func grow(_ byteCount: Int) {
        capacity = max(capacity * 2, count + byteCount)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        larger.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = larger
    }

    @inline(__always)
    private func append(_ number: some FixedWidthInteger) {
        reserve(8)
        (start + count).storeBytes(of: number.bigEndian, as: type(of: number))
        count &+= number.bitWidth / 8
    }

    @inline(__always)
    private func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count &+= bytes.count
    }

    private func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { append($0) }
    }
}
#endif
