public import Foundation
public import JSONMapper

/// A payload: JSON with an array of objects or one object, or objects that are no JSON.
public enum JSONSource: Sendable {
    /// A document in memory, as UTF-8.
    case bytes([UInt8])
    /// The path of a file, which is read in pieces.
    case file(String)
    /// A parsed document. It is mapped several times slower than bytes.
    case value(JSONValue)
    /// A document that arrives in pieces; create it with ``chunks(_:)``.
    case stream(Chunks)
    /// Objects that are no JSON; create it with `records`.
    case records(Records)

    /// A document in memory, as UTF-8.
    public static func bytes(_ data: Data) -> JSONSource { .bytes([UInt8](data)) }

    /// A document in memory, as text.
    public static func text(_ text: String) -> JSONSource { .bytes(Array(text.utf8)) }

    /// Whether the document is in memory.
    var isAtHand: Bool {
        switch self {
        case .bytes, .value: true
        case .file, .stream, .records: false
        }
    }

    /// A file, which is read in pieces.
    public static func file(_ url: URL) -> JSONSource { .file(url.path) }

    /// Returns a source from the pieces of a document, which can be of any size and cut anywhere.
    public static func chunks<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) -> JSONSource
    where Pieces.Element == [UInt8] {
        .stream(Chunks(pieces))
    }
}
