/// A hash that is the same in every process and on every platform: FNV-1a, 64 bits.
///
/// For tables, channel names and stored fingerprints; not for secrets. Values are hashed with their lengths or ends, so
/// that `"ab", "c"` and `"a", "bc"` differ.
///
/// Source: G. Fowler, L. C. Noll, K.-P. Vo, "FNV hash".
package struct Fingerprint: Sendable {
    /// The hash of all that was combined so far.
    @inlinable package var value: UInt64 { state }

    @usableFromInline var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the hash of nothing.
    @inlinable
    package init() {}

    /// The hash as hexadecimal digits, 16 at most.
    package var text: String { String(value, radix: 16) }

    /// Adds a byte.
    @inlinable
    @inline(__always)
    package mutating func combine(byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    /// Adds bytes, without their number.
    @inlinable
    @inline(__always)
    package mutating func combine(bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(byte: byte) }
    }

    /// Adds a text and its end.
    package mutating func combine(_ text: String) {
        combine(bytes: text.utf8)
        // No byte of UTF-8.
        combine(byte: 0xFF)
    }

    /// Adds a number of eight bytes.
    package mutating func combine(_ number: some FixedWidthInteger) {
        let bits = UInt64(truncatingIfNeeded: number)
        for shift in stride(from: UInt64(0), to: 64, by: 8) { combine(byte: UInt8(truncatingIfNeeded: bits >> shift)) }
    }

    /// Adds a truth value.
    package mutating func combine(_ flag: Bool) {
        combine(byte: flag ? 1 : 0)
    }
}
