import JSONMapper
import SyncBase

/// The objects of a list's first pages, from which a model is made: later pages may have attributes
/// that the first page lacks.
///
/// An object that comes again unchanged on a later page is passed over: such pages overlap, which
/// says nothing against a key.
struct ObjectSample {
    /// The number of pages at which a sample is full. If a number of objects is asked for, only
    /// pages without a new object count, which a server may repeat for ever.
    static let pageLimit = 50
    /// The number of objects at which the sample is full; nil for a limit of pages.
    let objectLimit: Int?
    /// The size of the objects in bytes at which the sample is full.
    let byteLimit: Int
    /// The size of all bytes that were read, blanks and other values included, at which the sample
    /// is full. They are kept for the sync.
    let readByteLimit: Int

    private var objects = Objects()
    /// The field that the pages' reader added to each object; nil for none.
    private var addedKey: String?
    /// The number of pages that had only objects of earlier pages.
    private var repeatedPageCount = 0
    /// The number of pages that were read, at least in part.
    private(set) var pageCount = 0
    /// The number of bytes that were read.
    private(set) var readByteCount = 0
    /// Whether the list has no other objects.
    var isWhole = false

    init(objectLimit: Int? = nil, byteLimit: Int = 16 << 20, readByteLimit: Int = 64 << 20) {
        self.objectLimit = objectLimit
        self.byteLimit = byteLimit
        self.readByteLimit = readByteLimit
    }

    /// The number of objects in the sample.
    var objectCount: Int { objects.count }

    /// Whether more pages are not worth the requests.
    var isFull: Bool { reachedLimit != nil }

    /// The part of the list that is in the sample; nil if the sample has the whole list.
    var extent: SampleExtent? {
        guard !isWhole, let reachedLimit else { return nil }
        return SampleExtent(objectCount: objectCount, limit: reachedLimit)
    }

    /// The limit that the sample has reached; nil if it has room for another object.
    private var reachedLimit: SampleExtent.Limit? {
        if let objectLimit, objects.count >= objectLimit { return .objects }
        if objects.bytes.count >= byteLimit { return .bytes(objects.bytes.count) }
        if readByteCount >= readByteLimit { return .bytes(readByteCount) }
        return (objectLimit == nil ? pageCount : repeatedPageCount) >= Self.pageLimit ? .pages(pageCount) : nil
    }

    /// - Throws: ``NoObject`` if the sample is full without an object.
    func checkObjects() throws(NoObject) {
        if objects.count == 0, readByteCount >= readByteLimit { throw NoObject(readByteCount: readByteCount) }
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
        let reader = JSONReader(bytes: Array("[".utf8) + objects.bytes + Array("]".utf8), layout: .array())
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
        let room = (objectLimit ?? Int.max) - objects.count
        var found = Objects()
        var bytes: [UInt8] = []
        while found.count < room, objects.bytes.count + found.bytes.count < byteLimit, readByteCount < readByteLimit {
            guard let chunk = try await page.next() else {
                reader.finish()
                try found.read(reader, passingOver: objects, upTo: room)
                break
            }
            bytes += chunk
            readByteCount += chunk.count
            try reader.append(chunk)
            try found.read(reader, passingOver: objects, upTo: room)
        }
        objects.append(found)
        if found.count == 0, found.hasRepeats { repeatedPageCount += 1 }
        pageCount += 1
        return bytes
    }

    /// The JSON of objects, with commas between them.
    private struct Objects {
        private(set) var bytes: [UInt8] = []
        private(set) var count = 0
        /// The hash values of the objects.
        private var hashes: Set<Int> = []
        /// Whether objects of earlier pages were passed over.
        private(set) var hasRepeats = false

        mutating func append(_ others: Objects) {
            if count > 0, others.count > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += others.bytes
            count += others.count
            hashes.formUnion(others.hashes)
        }

        /// Adds the objects that a reader has, except those of earlier pages, until there are as
        /// many as a limit allows.
        mutating func read(_ reader: JSONReader, passingOver earlier: Objects, upTo limit: Int) throws {
            while count < limit,
                let object = try reader.next({ cursor in try cursor.rawValue().withUTF8 { Array($0) } })
            {
                let hash = object.hashValue
                if earlier.hashes.contains(hash) {
                    hasRepeats = true
                    continue
                }
                hashes.insert(hash)
                if count > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += object
                count += 1
            }
        }
    }
}
