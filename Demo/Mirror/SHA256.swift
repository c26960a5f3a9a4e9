/// The hash function SHA-256 (FIPS 180-4, section 6.2), for names without collisions, even
/// deliberate ones.
enum SHA256 {
    /// Returns the 32-byte digest of a message.
    static func digest(of message: [UInt8]) -> [UInt8] {
        var hash = initialHash
        var schedule = [UInt32](repeating: 0, count: 64)
        let padded = padded(message)
        for block in stride(from: 0, to: padded.count, by: 64) {
            for index in 0..<16 {
                let word = padded[(block + index * 4)..<(block + index * 4 + 4)]
                schedule[index] = word.reduce(0) { $0 << 8 | UInt32($1) }
            }
            for index in 16..<64 {
                let early = schedule[index - 15]
                let late = schedule[index - 2]
                let sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3
                let sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10
                schedule[index] = schedule[index - 16] &+ sigma0 &+ schedule[index - 7] &+ sigma1
            }
            hash = compress(hash, schedule)
        }
        return hash.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    private static func compress(_ hash: [UInt32], _ schedule: [UInt32]) -> [UInt32] {
        var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
        var (e, f, g, h) = (hash[4], hash[5], hash[6], hash[7])
        for index in 0..<64 {
            let sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            let choice = (e & f) ^ (~e & g)
            let first = h &+ sum1 &+ choice &+ constants[index] &+ schedule[index]
            let sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ sum0 &+ majority)
        }
        return zip(hash, [a, b, c, d, e, f, g, h]).map { $0 &+ $1 }
    }

    /// Returns the message with a one bit, zeros and its bit count, a multiple of 64 bytes long.
    private static func padded(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        padded += Array(repeating: 0, count: (120 - padded.count % 64) % 64)
        let bitCount = UInt64(message.count) * 8
        return padded + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bitCount >> UInt64($0)) }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }

    /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    private static let initialHash: [UInt32] = primes.prefix(8).map { fraction(of: Double($0).squareRoot()) }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = primes.map { fraction(of: cubeRoot(Double($0))) }

    private static let primes: [Int] = (2...311).filter { number in
        !(2..<number).contains { number.isMultiple(of: $0) }
    }

    private static func fraction(of root: Double) -> UInt32 {
        UInt32((root - root.rounded(.down)) * 0x1p32)
    }

    /// Computes a cube root by Newton's method, exactly enough for 32 bits of fraction.
    private static func cubeRoot(_ value: Double) -> Double {
        var root = value / 2
        for _ in 0..<60 { root -= (root * root * root - value) / (3 * root * root) }
        return root
    }
}
