/// The bytes of one string, or of a whole value, where they lie in a reader's memory: nothing is
/// copied.
///
/// Valid only inside the closure that got the ``JSONCursor`` it came from; what is to be kept must
/// be copied. The bytes have been checked: they are UTF-8, and every escape is a legal one.
package struct JSONSlice {
    /// The first byte. Points into memory that the reader owns and does not change while the
    /// closure runs.
    let start: UnsafePointer<UInt8>
    /// How many bytes there are, escapes as they are written.
    package let count: Int
    /// Whether there is a backslash among them; without one, the bytes are the string.
    package let isEscaped: Bool

    @inline(__always)
    init(start: UnsafePointer<UInt8>, count: Int, isEscaped: Bool) {
        self.start = start
        self.count = count
        self.isEscaped = isEscaped
    }

    /// The bytes as they are written, without the quotes of a string; escapes are still in them.
    @inline(__always)
    package var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: start, count: count)
    }

    /// The string these bytes stand for, its escapes resolved.
    package var string: String {
        guard isEscaped else { return String(decoding: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: count) { unescape(into: $0) }
    }

    /// Calls a function with the string's UTF-8 bytes, escapes resolved; they are valid only during
    /// the call.
    ///
    /// - Throws: what the function throws.
    package func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard isEscaped else { return try body(bytes) }
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
        defer { copy.deallocate() }
        let written = unescape(into: copy)
        return try body(UnsafeBufferPointer(rebasing: copy[..<written]))
    }

    /// Whether the string, its escapes resolved, consists of exactly these UTF-8 bytes.
    @inline(__always)
    package func equals(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isEscaped else { return bytesEqual(other) }
        return withUTF8 { unescaped in unescaped.elementsEqual(other) }
    }

    /// Whether the string, its escapes resolved, consists of exactly these UTF-8 bytes.
    package func equals(_ other: [UInt8]) -> Bool {
        other.withUnsafeBufferPointer { equals($0) }
    }

    @inline(__always)
    private func bytesEqual(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count, let base = other.baseAddress else { return count == other.count }
        return areEqual(start, base, count: count)
    }

    /// Resolves the escapes.
    ///
    /// - Parameter target: room for at least `count` bytes: resolved escapes are never longer than
    ///   written ones.
    /// - Returns: how many bytes were written.
    func unescape(into target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard var output = target.baseAddress else { return 0 }
        let first = output
        var input = start
        let end = start + count
        while input < end {
            let byte = input.pointee
            guard byte == ASCII.backslash else {
                output.pointee = byte
                output += 1
                input += 1
                continue
            }
            let escape = input[1]
            input += 2
            guard escape == ASCII.u else {
                output.pointee = Self.simpleEscape(escape)
                output += 1
                continue
            }
            var scalar = Self.hex4(input)
            input += 4
            if scalar & 0xFC00 == 0xD800, end - input >= 6, input[0] == ASCII.backslash, input[1] == ASCII.u {
                let low = Self.hex4(input + 2)
                if low & 0xFC00 == 0xDC00 {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + (low & 0x3FF)
                    input += 6
                }
            }
            if scalar & 0xFFFF_F800 == 0xD800 { scalar = 0xFFFD }
            Self.encode(scalar, &output)
        }
        return output - first
    }

    private static func simpleEscape(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x62: 0x08
        case ASCII.f: 0x0C
        case ASCII.n: 0x0A
        case 0x72: 0x0D
        case ASCII.t: 0x09
        default: byte
        }
    }

    /// Four hexadecimal digits, already checked by the cursor.
    private static func hex4(_ digits: UnsafePointer<UInt8>) -> UInt32 {
        var value: UInt32 = 0
        for index in 0..<4 { value = value << 4 | (ASCII.hexValue(digits[index]) ?? 0) }
        return value
    }

    private static func encode(_ scalar: UInt32, _ output: inout UnsafeMutablePointer<UInt8>) {
        func put(_ value: UInt32) {
            output.pointee = UInt8(truncatingIfNeeded: value)
            output += 1
        }
        if scalar < 0x80 {
            put(scalar)
        } else if scalar < 0x800 {
            put(0xC0 | scalar >> 6)
            put(0x80 | scalar & 0x3F)
        } else if scalar < 0x10000 {
            put(0xE0 | scalar >> 12)
            put(0x80 | scalar >> 6 & 0x3F)
            put(0x80 | scalar & 0x3F)
        } else {
            put(0xF0 | scalar >> 18)
            put(0x80 | scalar >> 12 & 0x3F)
            put(0x80 | scalar >> 6 & 0x3F)
            put(0x80 | scalar & 0x3F)
        }
    }
}

/// Whether two runs of bytes are the same, compared eight at a time.
@inline(__always)
func areEqual(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, count: Int) -> Bool {
    let left = UnsafeRawPointer(one)
    let right = UnsafeRawPointer(other)
    var index = 0
    while count - index >= 8 {
        if left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            != right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        {
            return false
        }
        index += 8
    }
    while index < count {
        if one[index] != other[index] { return false }
        index += 1
    }
    return true
}
