import OneWaySynchronizer
import SyncBase

/// A line of the index: one thing that happened.
///
/// A line is a letter and fields, separated by tabs. In a field, control characters, blanks and `%`
/// are `%` and two hexadecimal digits. A field `-` stands for nil, `%2D` for that text. The last
/// two fields of a content or part are left out if both are nil, as in older indexes.
enum IndexLine: Hashable, Sendable {
    /// The system that runs from here on.
    case boot(String)
    /// The key's files may change from here to the next ``synced``.
    case planned(SyncKey)
    /// See ``IndexEntry/isDoubtful``.
    case doubtful(SyncKey)
    /// A content file is about to be moved into place.
    case content(SyncKey, FileStamp, ContentVersion)
    /// A preview file is about to be moved into place; nil if it was removed.
    case preview(SyncKey, FileStamp?)
    /// A part is kept; nil if it no longer is.
    case part(SyncKey, DownloadPart?)
    /// The key's files were removed.
    case removed(SyncKey)
    /// Everything before this line is on the disk.
    case synced

    /// The bytes of the line, with its end.
    var bytes: [UInt8] {
        var fields: [String?]
        switch self {
        case .boot(let text): fields = ["b", text]
        case .planned(let key): fields = ["n", key.text]
        case .doubtful(let key): fields = ["u", key.text]
        case .content(let key, let stamp, let version):
            fields = [
                "c", key.text, String(stamp.byteCount), String(stamp.modified), version.revision, version.tag,
                version.modified, version.listed,
            ]
            if version.address != nil || version.sha256 != nil { fields += [version.address, version.sha256] }
        case .preview(let key, let stamp):
            fields = ["p", key.text, stamp.map { String($0.byteCount) }, stamp.map { String($0.modified) }]
        case .part(let key, let part):
            fields = [
                "d", key.text, part.map { String($0.number) }, part?.address, part?.tag,
                part?.byteCount.map { String($0) },
            ]
            if part?.revision != nil || part?.sha256 != nil { fields += [part?.revision, part?.sha256] }
        case .removed(let key): fields = ["r", key.text]
        case .synced: fields = ["s"]
        }
        var bytes: [UInt8] = []
        for field in fields {
            if !bytes.isEmpty { bytes.append(Self.tab) }
            Self.append(field, to: &bytes)
        }
        return bytes + [Self.lineEnd]
    }

    /// Parses a line without its end; nil if it is none.
    init?(_ bytes: ArraySlice<UInt8>) {
        let fields = bytes.split(separator: Self.tab, omittingEmptySubsequences: false)
        var texts: [String?] = []
        texts.reserveCapacity(fields.count)
        for field in fields {
            guard let text = Self.text(of: field) else { return nil }
            texts.append(text)
        }
        func number(_ index: Int) -> Int? { texts[index].flatMap { Int($0) } }
        func lastText(_ index: Int) -> String? { index < texts.count ? texts[index] : nil }
        guard let letter = texts[0], Self.fieldCounts[letter]?.contains(texts.count) == true else { return nil }
        guard letter != "s" else {
            self = .synced
            return
        }
        guard let text = texts[1] else { return nil }
        let key = SyncKey(text)
        switch letter {
        case "b": self = .boot(text)
        case "n": self = .planned(key)
        case "u": self = .doubtful(key)
        case "r": self = .removed(key)
        case "c":
            guard let byteCount = number(2), let modified = number(3) else { return nil }
            self = .content(
                key, FileStamp(byteCount: byteCount, modified: Int64(modified)),
                ContentVersion(
                    revision: texts[4], tag: texts[5], modified: texts[6], listed: texts[7], address: lastText(8),
                    sha256: lastText(9)))
        case "p":
            if texts[2...].allSatisfy({ $0 == nil }) {
                self = .preview(key, nil)
                return
            }
            guard let byteCount = number(2), let modified = number(3) else { return nil }
            self = .preview(key, FileStamp(byteCount: byteCount, modified: Int64(modified)))
        default:
            if texts[2...].allSatisfy({ $0 == nil }) {
                self = .part(key, nil)
                return
            }
            guard let name = number(2), name > 0, name <= DownloadPart.maximumNumber, let address = texts[3],
                let tag = texts[4], texts[5] == nil || number(5) != nil
            else { return nil }
            self = .part(
                key,
                DownloadPart(
                    number: name, address: address, tag: tag, byteCount: number(5), revision: lastText(6),
                    sha256: lastText(7)))
        }
    }

    // MARK: Fields

    private static let fieldCounts: [String: [Int]] = [
        "b": [2], "n": [2], "u": [2], "c": [8, 10], "p": [4], "d": [6, 8], "r": [2], "s": [1],
    ]
    private static let tab = UInt8(ascii: "\t")
    static let lineEnd = UInt8(ascii: "\n")
    private static let percent = UInt8(ascii: "%")

    private static func append(_ field: String?, to bytes: inout [UInt8]) {
        guard let field else { return bytes.append(UInt8(ascii: "-")) }
        if field == "-" {
            bytes += "%2D".utf8
            return
        }
        for byte in field.utf8 {
            if byte <= 0x20 || byte == 0x7F || byte == percent {
                bytes.append(percent)
                bytes += Hexadecimal.text(of: [byte]).utf8
            } else {
                bytes.append(byte)
            }
        }
    }

    /// Decodes a field; nil if it is damaged, `.some(nil)` if it stands for nil.
    private static func text(of field: ArraySlice<UInt8>) -> String?? {
        if field.elementsEqual([UInt8(ascii: "-")]) { return .some(nil) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(field.count)
        var rest = field
        while let byte = rest.popFirst() {
            guard byte == percent else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = Hexadecimal.bytes(of: digits)?.first else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self).map { .some($0) }
    }
}
