public import JSONMapper

/// A JSON payload: an array of objects, or one object.
public enum JSONSource: Sendable {
    /// A document in memory, as UTF-8.
    case bytes([UInt8])
    /// The path of a file, which is read in pieces.
    case file(String)
    /// A parsed document. It is mapped several times slower than bytes.
    case value(JSONValue)
    /// A document in pieces of any size, cut anywhere.
    case chunks(any AsyncSequence<[UInt8], any Error> & Sendable)
}
