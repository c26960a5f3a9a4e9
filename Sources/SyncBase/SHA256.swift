/// The hash function SHA-256, computed incrementally.
///
/// Source: FIPS 180-4, section 6.2.
package struct SHA256: Sendable {
    /// The number of bytes of a block.
    package static let blockByteCount = 64

    private var hash = initialHash
    private var byteCount: UInt64 = 0
    /// The bytes after the last whole block, fewer than a block.
    private var rest: [UInt8] = []

    /// Creates the hash of an empty message.
    package init() {}

    /// Appends bytes to the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        byteCount &+= UInt64(bytes.count)
        var remaining = bytes[...]
        if !rest.isEmpty {
            let fill = remaining.prefix(Self.blockByteCount - rest.count)
            rest += fill
            remaining = remaining.dropFirst(fill.count)
            guard rest.count == Self.blockByteCount else { return }
            rest.withUnsafeBytes { hash = Self.compressed(hash, over: $0) }
            rest.removeAll(keepingCapacity: true)
        }
        let wholeByteCount = remaining.count / Self.blockByteCount * Self.blockByteCount
        hash = Self.compressed(hash, over: UnsafeRawBufferPointer(rebasing: remaining.prefix(wholeByteCount)))
        rest += remaining.dropFirst(wholeByteCount)
    }

    /// Appends bytes to the message.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let isDone: Void? = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) }
        if isDone == nil { Array(bytes).withUnsafeBytes { update($0) } }
    }

    /// Returns the 32-byte digest of the message so far.
    package func digest() -> [UInt8] {
        // A one bit, zeros, and the count of bits in the last eight bytes of a block (5.1.1).
        let markedCount = rest.count + 1
        let zeroCount = (2 * Self.blockByteCount - 8 - markedCount) % Self.blockByteCount
        var end = rest + [0x80] + Array(repeating: 0, count: zeroCount)
        let bitCount = byteCount &* 8
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            end.append(UInt8(truncatingIfNeeded: bitCount >> shift))
        }
        let final = end.withUnsafeBytes { Self.compressed(hash, over: $0) }
        return final.indices.flatMap { index in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: final[index] >> UInt32($0)) }
        }
    }

    /// Returns the 32-byte digest of a message.
    package static func digest(of message: some Sequence<UInt8>) -> [UInt8] {
        var hash = SHA256()
        hash.update(message)
        return hash.digest()
    }

    /// Returns the hash after whole blocks.
    private static func compressed(_ hash: SIMD8<UInt32>, over blocks: UnsafeRawBufferPointer) -> SIMD8<UInt32> {
        var hash = hash
        constants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: constants.count) { schedule in
                for block in stride(from: 0, to: blocks.count, by: blockByteCount) {
                    for index in 0..<16 {
                        let word = blocks.loadUnaligned(fromByteOffset: block + index * 4, as: UInt32.self)
                        schedule[index] = UInt32(bigEndian: word)
                    }
                    for index in 16..<constants.count {
                        let (early, late) = (schedule[index - 15], schedule[index - 2])
                        let sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ early &>> 3
                        let sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ late &>> 10
                        schedule[index] = schedule[index - 16] &+ sigma0 &+ schedule[index - 7] &+ sigma1
                    }
                    hash &+= mixed(hash, schedule, constants)
                }
            }
        }
        return hash
    }

    /// Returns the working variables after the 64 rounds of a block.
    @inline(__always)
    private static func mixed(
        _ hash: SIMD8<UInt32>, _ schedule: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>
    ) -> SIMD8<UInt32> {
        var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
        var (e, f, g, h) = (hash[4], hash[5], hash[6], hash[7])
        for index in 0..<constants.count {
            let sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let choice = (e & f) ^ (~e & g)
            let first = h &+ sum1 &+ choice &+ constants[index] &+ schedule[index]
            let sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ sum0 &+ majority)
        }
        return SIMD8(a, b, c, d, e, f, g, h)
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &>> count | word &<< (32 &- count)
    }

    /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    private static let initialHash = SIMD8<UInt32>(
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19)

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]
}
