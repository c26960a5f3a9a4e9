import OneWaySynchronizer
import SyncBase

/// The place of a key's file: names of folders and, last, of the file.
///
/// Different keys have different places. Every name is what the key says, except where the system
/// cannot have such a name, or would read it as something else:
///
/// - `/` separates names. An empty name is `%_`, in the place of a key, or before, after or between
///   slashes.
/// - `.` is `%2E`, and `..` is `%2E.`.
/// - A control character (0x00 to 0x1F, 0x7F) is `%` and two hexadecimal digits.
/// - `%` is `%25` where two hexadecimal digits, `_` or `~` follow, so that it is not mistaken for
///   one of these forms.
/// - A name of more than 255 bytes is cut to at most 180, and `%~` and the SHA-256 of the name
///   follow.
/// - The names after the 128th, or after 3,072 bytes, are one name: `%~` and the SHA-256 of their
///   text.
/// - `.mirror`, in any case, as the first name begins with `%2E`, because the mirror uses it.
struct FilePath: Hashable, Sendable {
    /// The folder for the mirror's own files.
    static let internals = ".mirror"

    /// What most file systems allow.
    private static let nameByteCountLimit = 255
    private static let cutByteCount = 180
    /// The folders of a path are open at the same time.
    private static let nameCountLimit = 128
    /// A system call takes a path of 4,096 bytes on Linux, including that of the mirror.
    private static let pathByteCountLimit = 3_072

    /// The names, at least one.
    let names: [String]

    init(of key: SyncKey) {
        let bytes = key.text.utf8
        var names: [String] = []
        var byteCount = 0
        for part in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let name = Self.name(of: Array(part))
            byteCount += name.utf8.count + 1
            guard names.count < Self.nameCountLimit, byteCount <= Self.pathByteCountLimit else {
                names.append("%~" + Hexadecimal.text(of: SHA256.digest(of: bytes[part.startIndex...])))
                break
            }
            names.append(name)
        }
        if names[0].utf8.count == Self.internals.utf8.count, names[0].lowercased() == Self.internals {
            names[0] = "%2E" + names[0].dropFirst()
        }
        self.names = names
    }

    var folders: ArraySlice<String> { names.dropLast() }
    var name: String { names[names.count - 1] }
    var text: String { names.joined(separator: "/") }

    private static func name(of bytes: [UInt8]) -> String {
        switch String(decoding: bytes, as: UTF8.self) {
        case "": return "%_"
        case ".": return "%2E"
        case "..": return "%2E."
        default: break
        }
        var name: [UInt8] = []
        name.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let isEscaped = byte < 0x20 || byte == 0x7F || byte == percent && looksLikeEscape(bytes[(index + 1)...])
            if isEscaped { name += escaped(byte) } else { name.append(byte) }
        }
        return String(decoding: name.count > nameByteCountLimit ? cut(name, of: bytes) : name, as: UTF8.self)
    }

    private static let percent = UInt8(ascii: "%")

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        [percent] + Hexadecimal.text(of: [byte]).uppercased().utf8
    }

    private static func looksLikeEscape(_ rest: ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first else { return false }
        if first == UInt8(ascii: "_") || first == UInt8(ascii: "~") { return true }
        return rest.count >= 2
            && rest.prefix(2).allSatisfy { byte in
                UnicodeScalar(byte).properties.isASCIIHexDigit
            }
    }

    /// Cuts a name between scalars and outside of escapes, and adds its digest.
    private static func cut(_ name: [UInt8], of bytes: [UInt8]) -> [UInt8] {
        var end = cutByteCount
        while end > 0, name[end] & 0xC0 == 0x80 { end -= 1 }
        // An escape has three bytes.
        for start in max(0, end - 2)..<end where name[start] == percent { end = start; break }
        return Array(name[..<end]) + "%~".utf8 + Hexadecimal.text(of: SHA256.digest(of: bytes)).utf8
    }
}
