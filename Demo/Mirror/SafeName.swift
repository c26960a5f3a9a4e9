import SyncBase

/// A mapping from arbitrary keys to safe file names.
///
/// Different keys have different names, even if the file system ignores case or normalizes Unicode,
/// because names are lowercase ASCII. No name begins with a dot, is a device name, or leads out of
/// its folder.
///
/// - The letters a…z, digits, `-`, `_` and `.` are unchanged, except at the beginning or end of a
///   name where they are special.
/// - A capital letter becomes `!` and its lowercase letter: `README.md` becomes `!r!e!a!d!m!e.md`.
/// - Every other byte of the key's UTF-8 becomes `%` and two hexadecimal digits: `a/b` becomes
///   `a%2fb`.
/// - A name of more than 200 bytes is truncated, and `~` and the key's SHA-256 digest are appended.
/// - The empty key becomes `%_`.
enum SafeName {
    /// The maximum length of a name in bytes. Most file systems allow 255, which leaves room for an
    /// extension.
    static let byteCountLimit = 200

    /// The number of bytes kept of a truncated name.
    private static let cutByteCount = 100

    /// The names that the mirror uses itself.
    private static let reservedNames: Set<String> = ["previews"]

    /// Names of devices on some systems, with any extension.
    private static let deviceNames: Set<String> = Set(
        ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] })

    /// Returns the file name for a key: 1 to 200 bytes of ASCII.
    static func of(_ key: MirrorKey) -> String {
        let bytes = Array(key.text.utf8)
        if bytes.isEmpty { return "%_" }
        let isSpecial = isReserved(bytes)
        var name = ""
        for (index, byte) in bytes.enumerated() {
            let piece = index == 0 && isSpecial ? escaped(byte) : piece(for: byte, at: index, of: bytes.count)
            if name.utf8.count + piece.utf8.count > byteCountLimit { return cut(name, of: bytes) }
            name += piece
        }
        return name
    }

    private static func piece(for byte: UInt8, at index: Int, of count: Int) -> String {
        let isFirst = index == 0
        let isLast = index == count - 1
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            return String(UnicodeScalar(byte))
        case UInt8(ascii: "-") where !isFirst:
            return "-"
        case UInt8(ascii: ".") where !isFirst && !isLast:
            return "."
        case UInt8(ascii: "A")...UInt8(ascii: "Z"):
            return "!" + String(UnicodeScalar(byte + 0x20))
        default:
            return escaped(byte)
        }
    }

    private static func escaped(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return byte < 0x10 ? "%0\(digits)" : "%\(digits)"
    }

    private static func isReserved(_ bytes: [UInt8]) -> Bool {
        let stem = bytes.prefix { $0 != UInt8(ascii: ".") }
        return reservedNames.contains(String(decoding: bytes, as: UTF8.self))
            || deviceNames.contains(String(decoding: stem, as: UTF8.self))
    }

    /// Returns a truncated name, without a partial escape, and a digest that makes it unique. No
    /// other name contains `~`.
    private static func cut(_ name: String, of bytes: [UInt8]) -> String {
        var beginning = name.prefix(cutByteCount)
        if let escape = beginning.lastIndex(where: { $0 == "%" || $0 == "!" }) {
            let isWhole = beginning.distance(from: escape, to: beginning.endIndex) > 2
            if !isWhole { beginning = beginning[..<escape] }
        }
        return beginning + "~" + Hexadecimal.text(of: SHA256.digest(of: bytes))
    }
}
