/// A hash of a JSON value, independent of white space, key order and escapes in strings.
///
/// Numbers are hashed as they are written: `1` and `1.0` differ. The hash is the same in every
/// process and on every platform.
enum ContentHash {
    static let null: UInt64 = 0x9AE1_6A3B_2F90_404F
    static let object: UInt64 = 0xC3A5_C85C_97CB_3127
    static let array: UInt64 = 0xB492_B66F_BE98_F273

    /// The hash of some bytes, read eight at a time.
    @inline(__always)
    static func bytes(_ bytes: UnsafeBufferPointer<UInt8>, seed: UInt64 = 0) -> UInt64 {
        guard var cursor = bytes.baseAddress.map({ UnsafeRawPointer($0) }) else { return mixed(seed) }
        var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        var left = bytes.count
        while left >= 8 {
            hash = step(hash, UInt64(littleEndian: cursor.loadUnaligned(as: UInt64.self)))
            cursor += 8
            left -= 8
        }
        if left > 0 {
            var word: UInt64 = 0
            for index in 0..<left {
                word |= UInt64(cursor.load(fromByteOffset: index, as: UInt8.self)) << (8 * UInt64(index))
            }
            hash = step(hash, word)
        }
        return mixed(hash)
    }

    /// Adds an element to the hash of an array.
    @inline(__always)
    static func combined(_ hash: UInt64, _ element: UInt64) -> UInt64 {
        step(hash, element)
    }

    /// The hash of a key with its value, to be added to the hashes of the object's other members.
    @inline(__always)
    static func member(_ key: UInt64, _ value: UInt64) -> UInt64 {
        mixed(step(key, value))
    }

    @inline(__always)
    private static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word).multipliedFullWidth(by: 0x9FB2_1C65_1E98_DF25)
        return product.high ^ product.low &+ word
    }

    /// Spreads the bits of a hash (the finalizer of MurmurHash3).
    @inline(__always)
    static func mixed(_ hash: UInt64) -> UInt64 {
        var hash = hash
        hash = (hash ^ hash &>> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash &>> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash &>> 33
    }
}

extension JSONCursor {
    /// Reads a whole value and returns its ``ContentHash``.
    ///
    /// Recursive; the depth is at most ``JSONReader/Options/maximumDepth``.
    mutating func contentHash() throws(JSONFault) -> UInt64 {
        switch try kind() {
        case .string: return try readString().withUTF8 { ContentHash.bytes($0, seed: 1) }
        case .number: return ContentHash.bytes(try readNumber().text.bytes, seed: 2)
        case .boolean: return ContentHash.mixed(try readBool() ? 3 : 4)
        case .null:
            try readNull()
            return ContentHash.null
        case .array:
            var hash = ContentHash.array
            try beginArray()
            while try nextElement() { hash = ContentHash.combined(hash, try contentHash()) }
            return ContentHash.mixed(hash)
        case .object:
            var hash = ContentHash.object
            try beginObject()
            while let key = try nextKey() {
                let key = key.withUTF8 { ContentHash.bytes($0) }
                hash &+= ContentHash.member(key, try contentHash())
            }
            return ContentHash.mixed(hash)
        }
    }
}
