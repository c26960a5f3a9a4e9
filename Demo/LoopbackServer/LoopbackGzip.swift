/// A gzip encoder (RFC 1952) without compression, by stored blocks (RFC 1951, section 3.2.4).
package enum LoopbackGzip {
    /// Returns bytes in gzip format.
    package static func wrapped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            result.append(rest.isEmpty ? 1 : 0)
            result += [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)]
            result += block
        } while !rest.isEmpty
        for word in [checksum(bytes), UInt32(truncatingIfNeeded: bytes.count)] {
            result += (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
        return result
    }

    /// Returns the CRC-32 of bytes (RFC 1952, section 8).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        let table = (UInt32(0)..<256).map { start in
            (0..<8).reduce(start) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
        }
        return ~bytes.reduce(~UInt32(0)) { crc, byte in table[Int((crc ^ UInt32(byte)) & 255)] ^ (crc >> 8) }
    }
}
