import JSONMapper
import StoreSync

/// The objects of a list's first pages, from which a model is made: later pages may have attributes
/// that the first page lacks.
struct ObjectSample {
    private static let pageLimit = 50
    private static let byteLimit = 16 << 20

    private var objects: [UInt8] = []
    private var pageCount = 0

    /// Whether more pages are not worth the requests.
    var isFull: Bool { pageCount >= Self.pageLimit || objects.count >= Self.byteLimit }

    /// The objects as one array.
    var json: [UInt8] { Array("[".utf8) + objects + Array("]".utf8) }

    /// Adds the objects of a page.
    ///
    /// - Throws: `JSONError` unless there is an array at the key path; errors of the page.
    mutating func add(_ page: JSONSource.Chunks, at keyPath: String) async throws {
        let reader = JSONReader(layout: .array(at: keyPath))
        var found: [UInt8] = []
        for try await chunk in page {
            try reader.append(chunk)
            try Self.read(reader, into: &found)
        }
        reader.finish()
        try Self.read(reader, into: &found)
        if !objects.isEmpty, !found.isEmpty { objects.append(UInt8(ascii: ",")) }
        objects += found
        pageCount += 1
    }

    private static func read(_ reader: JSONReader, into found: inout [UInt8]) throws {
        while let object = try reader.next({ cursor in try cursor.rawValue().withUTF8 { Array($0) } }) {
            if !found.isEmpty { found.append(UInt8(ascii: ",")) }
            found += object
        }
    }
}
