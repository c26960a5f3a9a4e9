/// The keyed message authentication code HMAC with SHA-256, computed incrementally.
///
/// Source: RFC 2104, section 2; FIPS 198-1.
package struct HMACSHA256: Sendable {
    private var inner = SHA256()
    private var outer = SHA256()

    /// Creates the code of an empty message.
    package init(key: some Sequence<UInt8>) {
        var block = Array(key)
        if block.count > SHA256.blockByteCount { block = SHA256.digest(of: block) }
        block += Array(repeating: 0, count: SHA256.blockByteCount - block.count)
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5C })
    }

    /// Appends bytes to the message.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        inner.update(bytes)
    }

    /// Returns the 32-byte code of the message so far.
    package func code() -> [UInt8] {
        var outer = outer
        outer.update(inner.digest())
        return outer.digest()
    }

    /// Reports whether bytes are the code of the message so far.
    ///
    /// The time of the comparison does not depend on which bytes differ.
    package func isValid(_ candidate: [UInt8]) -> Bool {
        let code = code()
        guard candidate.count == code.count else { return false }
        return zip(code, candidate).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
