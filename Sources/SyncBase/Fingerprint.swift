/// A hash that is the same in every process and on every platform: FNV-1a, 64 bits.
///
/// For tables, channel names and stored fingerprints; not for secrets. Values are hashed with their
/// lengths or an end mark, so that `"ab", "c"` and `"a", "bc"` differ.
///
/// Source: G. Fowler, L. C. Noll, K.-P. Vo, "FNV hash".
package struct Fingerprint: Sendable {
    /// The hash of everything combined so far.
    @inlinable package var value: UInt64 { state }

    @usableFromInline var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the hash of an empty input.
    @inlinable
    package init() {}

    /// The hash as at most 16 hexadecimal digits.
    package var text: String { String(value, radix: 16) }

    /// Adds a byte.
    @inlinable
    @inline(__always)
    package mutating func combine(byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    /// Adds bytes without their count.
    @inlinable
    @inline(__always)
    package mutating func combine(bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(byte: byte) }
    }

    /// Adds a text and an end mark.
    package mutating func combine(_ text: String) {
        combine(bytes: text.utf8)
        // A byte that never occurs in UTF-8.
        combine(byte: 0xFF)
    }

    /// Adds an integer as eight bytes.
    package mutating func combine(_ number: some FixedWidthInteger) {
        let bits = UInt64(truncatingIfNeeded: number)
        for shift in stride(from: UInt64(0), to: 64, by: 8) { combine(byte: UInt8(truncatingIfNeeded: bits >> shift)) }
    }

    /// Adds a Boolean value.
    package mutating func combine(_ flag: Bool) {
        combine(byte: flag ? 1 : 0)
    }
}
