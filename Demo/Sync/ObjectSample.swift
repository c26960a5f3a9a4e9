import JSONMapper
import SyncBase

/// The objects of a list's first pages, from which a model is made: later pages may have attributes
/// that the first page lacks.
struct ObjectSample {
    private static let pageLimit = 50
    /// The size of the objects in bytes at which the sample is full.
    let byteLimit: Int
    /// The size of all bytes that were read, blanks and other values included, at which the sample
    /// is full. They are kept for the sync.
    let readByteLimit: Int

    private var objects: [UInt8] = []
    /// The field that the pages' reader added to each object; nil for none.
    private var addedKey: String?
    private var pageCount = 0
    private var readByteCount = 0

    init(byteLimit: Int = 16 << 20, readByteLimit: Int = 64 << 20) {
        self.byteLimit = byteLimit
        self.readByteLimit = readByteLimit
    }

    /// Whether more pages are not worth the requests.
    var isFull: Bool {
        pageCount >= Self.pageLimit || objects.count >= byteLimit || readByteCount >= readByteLimit
    }

    /// - Throws: ``NoObject`` if the sample is full without an object.
    func checkObjects() throws(NoObject) {
        if objects.isEmpty, readByteCount >= readByteLimit { throw NoObject(readByteCount: readByteCount) }
    }

    /// An error for a list that begins with too much else.
    struct NoObject: Error, CustomStringConvertible {
        let readByteCount: Int

        var description: String {
            "the first \(Quantity.megabytes(readByteCount)) of the JSON have no whole object, so no model can be "
                + "inferred; --model names one"
        }
    }

    /// A reader of the objects.
    var reader: JSONReader {
        let reader = JSONReader(bytes: Array("[".utf8) + objects + Array("]".utf8), layout: .array())
        reader.addedKey = addedKey
        return reader
    }

    /// Adds the objects of a page, until the sample is full.
    ///
    /// - Returns: The bytes of the page that were read.
    /// - Throws: `JSONError` unless there is an array at the key path; errors of the page.
    mutating func add(_ page: ErasedSequence<[UInt8]>.Iterator, layout: JSONReader.Layout) async throws -> [UInt8] {
        let reader = JSONReader(layout: layout)
        addedKey = reader.addedKey
        var found: [UInt8] = []
        var bytes: [UInt8] = []
        while objects.count + found.count < byteLimit, readByteCount < readByteLimit {
            guard let chunk = try await page.next() else {
                reader.finish()
                try Self.read(reader, into: &found)
                break
            }
            bytes += chunk
            readByteCount += chunk.count
            try reader.append(chunk)
            try Self.read(reader, into: &found)
        }
        if !objects.isEmpty, !found.isEmpty { objects.append(UInt8(ascii: ",")) }
        objects += found
        pageCount += 1
        return bytes
    }

    private static func read(_ reader: JSONReader, into found: inout [UInt8]) throws {
        while let object = try reader.next({ cursor in try cursor.rawValue().withUTF8 { Array($0) } }) {
            if !found.isEmpty { found.append(UInt8(ascii: ",")) }
            found += object
        }
    }
}
