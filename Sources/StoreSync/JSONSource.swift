public import JSONMapper

/// Where JSON comes from: an array of objects, or one object.
public enum JSONSource: Sendable {
    /// A document in memory, as UTF-8.
    case bytes([UInt8])
    /// A file, read a piece at a time.
    case file(String)
    /// A document that has been parsed already; mapped several times slower than bytes.
    case value(JSONValue)
    /// A document in pieces of any size, cut anywhere, as they arrive.
    case chunks(any AsyncSequence<[UInt8], any Error> & Sendable)
}
