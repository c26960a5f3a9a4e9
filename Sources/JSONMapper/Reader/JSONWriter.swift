public import SyncModel

/// A writer that serializes JSON into a growing buffer, which can be flushed to a sink between
/// values.
///
/// Keys keep the order in which they are written. Commas and colons are inserted automatically. The
/// caller must end every container and write a key before each value of an object.
///
///     var writer = JSONWriter()
///     writer.beginObject()
///     writer.key("id")
///     writer.integer(7)
///     writer.endObject()
///     writer.bytes    // {"id":7}
public struct JSONWriter: ~Copyable {
    /// The layout of the output.
    public enum Style: Sendable {
        /// No white space. The default.
        case compact
        /// Each key and element on its own line, indented by two spaces per level.
        case pretty
    }

    /// Owned by this noncopyable value: allocated in `init`, replaced on growth, freed in `deinit`.
    private var buffer: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// The number of bytes in the buffer.
    public private(set) var byteCount = 0
    private var needsComma = false
    private var followsKey = false
    private var depth = 0
    private let style: Style

    /// Creates a writer with an empty buffer.
    ///
    /// - Parameter style: The layout of the output; compact by default.
    public init(style: Style = .compact) {
        self.style = style
        capacity = 4096
        buffer = .allocate(capacity: capacity)
    }

    deinit {
        buffer.deallocate()
    }

    // MARK: Result

    /// A copy of the bytes written since the last flush.
    public var bytes: [UInt8] {
        Array(UnsafeBufferPointer(start: buffer, count: byteCount))
    }

    /// Passes the buffered bytes to a sink and empties the buffer.
    ///
    /// - Parameters:
    ///   - minimumByteCount: The number of buffered bytes below which the call does nothing. With
    ///     0, the default, it flushes any bytes.
    ///   - sink: Receives the bytes, which are valid only during the call. Not called for an empty
    ///     buffer.
    /// - Throws: The errors of the sink. The bytes then stay in the buffer.
    public mutating func flush<Failure: Error>(
        minimumByteCount: Int = 0, to sink: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        guard byteCount > 0, byteCount >= minimumByteCount else { return }
        try sink(UnsafeRawBufferPointer(start: buffer, count: byteCount))
        byteCount = 0
    }

    // MARK: Structure

    /// Begins an object.
    public mutating func beginObject() { begin(ASCII.openBrace) }

    /// Ends the innermost container, which must be an object.
    public mutating func endObject() { end(ASCII.closeBrace) }

    /// Begins an array.
    public mutating func beginArray() { begin(ASCII.openBracket) }

    /// Ends the innermost container, which must be an array.
    public mutating func endArray() { end(ASCII.closeBracket) }

    /// Writes a key. Its value must follow.
    public mutating func key(_ key: String) {
        separate()
        quoted(key)
        endKey()
    }

    /// Writes a key that ``quotedKey(_:)`` has prepared, which is faster for repeated keys.
    @inline(__always)
    public mutating func key(quoted key: [UInt8]) {
        separate()
        append(key)
        endKey()
    }

    /// The bytes of a key with quotes and escapes, for ``key(quoted:)``.
    public static func quotedKey(_ key: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(key)
        return writer.bytes
    }

    // MARK: Values

    /// Writes a string. Only quotes, backslashes and characters below U+0020 are escaped.
    @inline(__always)
    public mutating func string(_ value: String) {
        separate()
        quoted(value)
    }

    /// Writes a string given as its UTF-8 bytes, and escapes it.
    @inline(__always)
    public mutating func string(utf8 value: UnsafeBufferPointer<UInt8>) {
        separate()
        quoted(value)
    }

    /// Writes a signed whole number.
    @inline(__always)
    public mutating func integer(_ value: Int64) {
        separate()
        reserve(20)
        if value < 0 { put(ASCII.minus) }
        digits(value.magnitude)
    }

    /// Writes an unsigned whole number.
    @inline(__always)
    public mutating func unsigned(_ value: UInt64) {
        separate()
        reserve(20)
        digits(value)
    }

    /// Writes the shortest number that reads back as this double, always with a fraction or an
    /// exponent.
    ///
    /// - Throws: ``JSONError/nonFiniteNumber`` if the value is infinite or NaN. Nothing is written
    ///   then.
    @inline(__always)
    public mutating func double(_ value: Double) throws(JSONError) {
        guard value.isFinite else { throw .nonFiniteNumber }
        separate()
        shortest(value)
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

    /// Writes `null`.
    public mutating func null() { literal("null") }

    /// Writes a date as a string, as ``RecordMapper/Exporter/Options/DateFormat/iso8601`` does;
    /// null for a date outside the years 0 to 9999.
    @inline(__always)
    public mutating func date(_ moment: Timestamp) {
        date(moment, fraction: .shortest)
    }

    /// Writes a date as a string; null for a date outside the years 0 to 9999.
    @inline(__always)
    mutating func date(_ moment: Timestamp, fraction: DateText.Fraction) {
        guard DateText.hasText(moment.microseconds) else { return null() }
        separate()
        reserve(DateText.byteCount + 2)
        put(ASCII.quote)
        byteCount += DateText.write(moment.microseconds, to: buffer + byteCount, fraction: fraction)
        put(ASCII.quote)
    }

    /// Writes bytes that already are a JSON value, such as the text of a decimal, unchanged and
    /// unchecked.
    public mutating func raw(_ json: some Collection<UInt8>) {
        separate()
        let handled: Void? = json.withContiguousStorageIfAvailable { append($0) }
        if handled == nil { append(Array(json)) }
    }

    /// Writes the members of an object, which is given as its text without white space, as members
    /// of the innermost object. Any other text is ignored.
    mutating func members(of object: String) {
        var object = object
        object.withUTF8 { bytes in
            guard let start = bytes.baseAddress, bytes.first == ASCII.openBrace else { return }
            var cursor = JSONCursor(start: start, end: start + bytes.count, options: JSONReader.Options())
            // The text has been validated, so reading it does not fail.
            guard (try? cursor.beginObject()) != nil else { return }
            while let key = try? cursor.nextKey(), let value = try? cursor.rawValue() {
                separate()
                append(ASCII.quote)
                append(key.bytes)
                append(ASCII.quote)
                endKey()
                raw(value.bytes)
            }
        }
    }

    /// Writes a parsed value.
    ///
    /// - Throws: ``JSONError/nonFiniteNumber`` if the value contains an infinite or NaN double.
    public mutating func value(_ value: JSONValue) throws(JSONError) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .unsigned(let value): unsigned(value)
        case .double(let value): try double(value)
        case .decimal(let text): raw(text.utf8)
        case .string(let value): string(value)
        case .array(let elements):
            beginArray()
            for element in elements { try self.value(element) }
            endArray()
        case .object(let object):
            beginObject()
            for (key, value) in object.entries {
                self.key(key)
                try self.value(value)
            }
            endObject()
        }
    }

    // MARK: Bytes

    @inline(__always)
    private mutating func separate() {
        if followsKey {
            followsKey = false
        } else {
            if needsComma { append(ASCII.comma) }
            if style == .pretty, depth > 0 { newLine() }
        }
        needsComma = true
    }

    @inline(__always)
    private mutating func endKey() {
        append(ASCII.colon)
        if style == .pretty { append(ASCII.space) }
        followsKey = true
    }

    private mutating func begin(_ byte: UInt8) {
        separate()
        append(byte)
        depth += 1
        needsComma = false
    }

    private mutating func end(_ byte: UInt8) {
        precondition(depth > 0 && !followsKey, "no container is open, or a key lacks its value")
        depth -= 1
        if style == .pretty, needsComma { newLine() }
        append(byte)
        needsComma = true
    }

    private mutating func newLine() {
        reserve(1 + 2 * depth)
        put(ASCII.newline)
        for _ in 0..<(2 * depth) { put(ASCII.space) }
    }

    private mutating func literal(_ text: StaticString) {
        separate()
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    private mutating func quoted(_ text: String) {
        var text = text
        text.withUTF8 { quoted($0) }
    }

    /// Copies runs of bytes that need no escape, eight at a time.
    @inline(__always)
    private mutating func quoted(_ text: UnsafeBufferPointer<UInt8>) {
        // Enough for a string without escapes. Each escape reserves its own space.
        reserve(text.count + 2)
        put(ASCII.quote)
        guard let start = text.baseAddress else { return put(ASCII.quote) }
        let end = start + text.count
        var cursor = start
        while cursor < end {
            while end - cursor >= 8 {
                let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
                guard !Self.needsEscape(word) else { break }
                UnsafeMutableRawPointer(buffer + byteCount).storeBytes(of: word.littleEndian, as: UInt64.self)
                byteCount += 8
                cursor += 8
            }
            // Copies up to eight bytes singly, then continues with words.
            let stop = min(end, cursor + 8)
            while cursor < stop {
                let byte = cursor.pointee
                cursor += 1
                if byte >= 0x20, byte != ASCII.quote, byte != ASCII.backslash {
                    put(byte)
                } else {
                    reserve(6 + (end - cursor) + 1)
                    escape(byte)
                }
            }
        }
        put(ASCII.quote)
    }

    /// Whether any of eight bytes may be a quote, a backslash or a control character below U+0020.
    ///
    /// Bytes above U+007F never need an escape.
    @inline(__always)
    private static func needsEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = (word ^ (ones &* 0x22)) &- ones
        let backslashes = (word ^ (ones &* 0x5C)) &- ones
        let controls = word &- (ones &* 0x20)
        // A borrow out of one byte can only cause a false positive in the next one.
        return (quotes | backslashes | controls) & ~word & (ones &* 0x80) != 0
    }

    @inline(never)
    private mutating func escape(_ byte: UInt8) {
        put(ASCII.backslash)
        switch byte {
        case ASCII.quote, ASCII.backslash: put(byte)
        case 0x08: put(0x62)
        case 0x0C: put(ASCII.f)
        case ASCII.newline: put(ASCII.n)
        case ASCII.carriageReturn: put(0x72)
        case ASCII.tab: put(ASCII.t)
        default:
            put(ASCII.u)
            put(ASCII.zero)
            put(ASCII.zero)
            put(ASCII.zero + byte >> 4)
            let low = byte & 0xF
            put(low < 10 ? ASCII.zero + low : 0x57 + low)
        }
    }

    /// Writes the digits of a number. The caller has reserved 20 bytes.
    @inline(__always)
    private mutating func digits(_ value: UInt64) {
        var count = 1
        var rest = value
        while rest >= 10 { (rest, count) = (rest / 10, count + 1) }
        rest = value
        var position = byteCount + count
        byteCount = position
        repeat {
            position -= 1
            let quotient = rest / 10
            buffer[position] = ASCII.zero + UInt8(truncatingIfNeeded: rest &- quotient &* 10)
            rest = quotient
        } while rest > 0
    }

    /// Writes the shortest decimal of a double.
    ///
    /// A decimal of up to 15 significant digits identifies a double. If the value times a power of
    /// ten is a whole number below 10¹⁵ that results in the value when divided again, that number
    /// is the shortest. The standard library prints all other values.
    @inline(__always)
    private mutating func shortest(_ value: Double) {
        reserve(32)
        let magnitude = value.magnitude
        for places in 1...6 {
            let power = JSONNumber.powers[places]
            let scaled = (magnitude * power).rounded()
            guard scaled < 1e15 else { break }
            guard scaled / power == magnitude, scaled >= 1 || magnitude == 0 else { continue }
            if value.sign == .minus { put(ASCII.minus) }
            let (whole, fraction) = UInt64(scaled).quotientAndRemainder(dividingBy: UInt64(power))
            digits(whole)
            put(ASCII.dot)
            var divisor = UInt64(power) / 10
            var rest = fraction
            while divisor > 0 {
                put(ASCII.zero + UInt8(truncatingIfNeeded: rest / divisor))
                rest %= divisor
                divisor /= 10
            }
            return
        }
        var text = value.description
        text.withUTF8 { append($0) }
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        buffer[byteCount] = byte
        byteCount += 1
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        reserve(1)
        put(byte)
    }

    @inline(__always)
    private mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { append($0) }
    }

    @inline(__always)
    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        reserve(bytes.count)
        (buffer + byteCount).update(from: base, count: bytes.count)
        byteCount += bytes.count
    }

    @inline(__always)
    private mutating func reserve(_ count: Int) {
        if capacity - byteCount < count { grow(count) }
    }

    @inline(never)
    private mutating func grow(_ count: Int) {
        let larger = max(capacity * 2, byteCount + count)
        let replacement = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        replacement.update(from: buffer, count: byteCount)
        buffer.deallocate()
        buffer = replacement
        capacity = larger
    }
}
