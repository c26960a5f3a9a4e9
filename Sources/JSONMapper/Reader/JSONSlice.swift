/// The bytes of a string or a whole value, in the memory of a reader.
///
/// A slice does not copy. It is valid only inside the closure of the ``JSONCursor`` that returned
/// it; copy anything that must outlive the closure. The bytes have been validated: they are UTF-8,
/// and every escape is valid.
package struct JSONSlice {
    /// The first byte. The reader owns the memory and keeps it unchanged while the closure runs.
    let start: UnsafePointer<UInt8>
    /// The number of bytes as written, with escapes.
    package let count: Int
    /// Whether the bytes include a backslash. If false, the bytes are the string.
    package let isEscaped: Bool

    @inline(__always)
    init(start: UnsafePointer<UInt8>, count: Int, isEscaped: Bool) {
        self.start = start
        self.count = count
        self.isEscaped = isEscaped
    }

    /// The bytes as written, with escapes and without the quotes of a string.
    @inline(__always)
    package var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: start, count: count)
    }

    /// The unescaped string.
    package var string: String {
        guard isEscaped else { return String(decoding: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: count) { unescape(into: $0) }
    }

    /// Calls a function with the UTF-8 bytes of the unescaped string, which are valid only during
    /// the call.
    ///
    /// - Throws: The errors of the function.
    package func withUTF8<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard isEscaped else { return try body(bytes) }
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
        defer { copy.deallocate() }
        let written = unescape(into: copy)
        return try body(UnsafeBufferPointer(rebasing: copy[..<written]))
    }

    /// Whether the unescaped string has exactly these UTF-8 bytes.
    @inline(__always)
    package func equals(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isEscaped else { return bytesEqual(other) }
        return withUTF8 { unescaped in unescaped.elementsEqual(other) }
    }

    /// Whether the unescaped string has exactly these UTF-8 bytes.
    package func equals(_ other: [UInt8]) -> Bool {
        other.withUnsafeBufferPointer { equals($0) }
    }

    @inline(__always)
    private func bytesEqual(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count, let base = other.baseAddress else { return count == other.count }
        return areEqual(start, base, count: count)
    }

    /// Writes the unescaped string into a buffer.
    ///
    /// - Parameter target: A buffer of at least `count` bytes, because unescaping never makes a
    ///   string longer.
    /// - Returns: The number of bytes written.
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

    /// The value of four hexadecimal digits, which the cursor has validated.
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

/// Whether two byte sequences are equal, compared eight bytes at a time.
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
