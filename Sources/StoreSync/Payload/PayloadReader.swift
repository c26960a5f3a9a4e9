import JSONMapper

/// Reads a payload for a sync: an actor, so that what comes next is mapped while what came before
/// is merged.
actor PayloadReader {
    /// How far a payload has been read.
    struct Progress {
        /// How many of its elements have been met.
        let elementCount: Int
        /// How many bytes of it have been read.
        let byteCount: Int
        /// What was found so far of the values that are wanted beside the elements, by their key
        /// paths.
        let captured: [String: JSONValue]
    }

    /// An element, taken out of the JSON.
    struct Element {
        var bytes: [UInt8]
        /// Whether its flag says that the object is gone.
        let isGone: Bool

        fileprivate init(_ cursor: inout JSONCursor, flag: JSONProbe?) throws {
            var isGone = false
            if let flag {
                let start = cursor
                isGone = try flag.read(&cursor)[0]?.isSet ?? false
                cursor = start
            }
            self.isGone = isGone
            bytes = try cursor.rawValue().withUTF8 { Array($0) }
        }
    }

    /// How many bytes of a document that comes in pieces are read at a time, at least.
    private static let pieceByteCount = 256 << 10

    private let json: JSONReader
    private let mapper: RecordMapper
    private let records: RecordReader
    private let keepsNestedJSON: Bool
    private let batchRowCount: Int
    private let flag: JSONProbe?
    /// What has not been read of a document that comes in pieces; nil where there is nothing more.
    private var chunks: (any AsyncIteratorProtocol<[UInt8], any Error>)?

    /// Opens a payload.
    ///
    /// - Parameters:
    ///   - source: Where it comes from.
    ///   - keyPath: The keys that lead to the array; empty for the document itself.
    ///   - entity: The entity of its objects.
    ///   - captures: Key paths beside the objects, of which the values are wanted.
    ///   - acceptsSingleObject: Whether an object in the array's place counts as an array of it.
    ///   - flag: The field of an element that says that the object is gone; nil where there is
    ///     none.
    ///   - keepsNestedJSON: Whether the JSON of nested objects is kept beside what was made of it;
    ///     false by default.
    /// - Throws: `MappingError.unknownEntity`; `JSONError` for a file that cannot be opened, or a
    ///   number that JSON has not.
    init(
        _ source: JSONSource, at keyPath: String, mapper: RecordMapper, entity: String, options: RecordReader.Options,
        capturing captures: [String] = [], acceptsSingleObject: Bool = true, flag: JSONProbe? = nil,
        keepsNestedJSON: Bool = false
    ) throws {
        let layout = JSONLayout.array(at: keyPath, acceptsSingleObject: acceptsSingleObject).capturing(captures)
        switch source {
        case .bytes(let bytes): json = JSONReader(bytes: bytes, layout: layout)
        case .file(let path): json = try JSONReader(file: path, layout: layout)
        case .value(let value):
            var writer = JSONWriter()
            try writer.value(value)
            json = JSONReader(bytes: writer.bytes, layout: layout)
        case .chunks(let source):
            json = JSONReader(layout: layout)
            chunks = source.makeAsyncIterator()
        }
        self.mapper = mapper
        records = try RecordReader(mapper, entity: entity, reader: json, options: options)
        batchRowCount = options.batchRowCount
        self.flag = flag
        self.keepsNestedJSON = keepsNestedJSON
    }

    /// How far it has been read.
    var progress: Progress {
        Progress(elementCount: json.elementCount, byteCount: json.byteCount, captured: json.captured)
    }

    /// The next objects, mapped with what is nested in them, and how far it has been read then; nil
    /// after the last.
    ///
    /// - Throws: What is wrong with the payload, and what its source throws.
    func nextBatch() async throws -> (objects: MappedObjects, progress: Progress)? {
        while true {
            if let batch = try records.next() {
                return (try MappedObjects(batch, mapper: mapper, keepsJSON: keepsNestedJSON), progress)
            }
            guard try await readOn() else { return nil }
        }
    }

    /// The next objects as they are written, and the place of the first one among all; nil after
    /// the last.
    ///
    /// - Throws: What is wrong with the payload, and what its source throws.
    func nextElements() async throws -> (first: Int, elements: [Element])? {
        while true {
            let first = json.elementCount
            var elements: [Element] = []
            while elements.count < batchRowCount,
                let element = try json.next({ cursor in try Element(&cursor, flag: flag) })
            {
                elements.append(element)
            }
            if !elements.isEmpty { return (first, elements) }
            guard try await readOn() else { return nil }
        }
    }

    /// Waits for the next piece of the document.
    ///
    /// - Returns: Whether there may be more to read.
    private func readOn() async throws -> Bool {
        guard var rest = chunks else { return false }
        chunks = nil
        // A batch is cut where the bytes end: small pieces would make small batches, which cost
        // more.
        var byteCount = 0
        while byteCount < Self.pieceByteCount {
            guard let chunk = try await rest.next(isolation: self) else {
                json.finish()
                return true
            }
            try json.append(chunk)
            byteCount += chunk.count
        }
        chunks = rest
        return true
    }
}

extension JSONValue {
    /// Whether it says yes: true, a number other than 0, or a text that is not empty.
    fileprivate var isSet: Bool {
        switch self {
        case .null, .bool(false), .integer(0), .unsigned(0), .double(0), .string(""): false
        case .decimal(let text): Double(text) != 0
        default: true
        }
    }
}
