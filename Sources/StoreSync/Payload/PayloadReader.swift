package import JSONMapper
import SyncBase

/// Reads and maps the objects of one payload.
///
/// An actor, so that the next objects are mapped while earlier ones are merged.
actor PayloadReader {
    /// The progress of reading a payload.
    struct Progress {
        /// The number of elements read.
        let elementCount: Int
        /// The number of bytes read.
        let byteCount: Int
        /// The captured values found so far, by key path.
        let captured: [String: JSONValue]
        /// The first lists in an object that was read in place of a list.
        var lists: [JSONError.List] = []
    }

    /// A field of an element that marks the object as gone.
    struct Flag {
        /// A flag that every element has.
        static let always = Flag(probe: nil)

        /// Reads the field of an element; nil if every element has the flag.
        let probe: JSONProbe?
        /// The text or number that sets the flag; nil for any value that is set.
        var value: String?

        fileprivate func isRaised(_ found: JSONValue?) -> Bool {
            guard let value else { return found?.isSet ?? false }
            return switch found {
            case .string(let text): text == value
            case .integer(let number): String(number) == value
            case .bool(let flag): String(flag) == value
            default: false
            }
        }
    }

    /// The JSON of an element.
    struct Element {
        var bytes: [UInt8]
        /// Whether the flag of the element marks the object as gone.
        let isGone: Bool
        /// The field that the reader of members added; nil for none.
        let addedKey: String?

        fileprivate init(_ cursor: inout JSONCursor, flag: Flag?, addedKey: String?) throws {
            self.addedKey = addedKey
            var isGone = false
            if let flag {
                let start = cursor
                isGone = try flag.probe.map { flag.isRaised(try $0.read(&cursor)[0]) } ?? true
                cursor = start
            }
            self.isGone = isGone
            bytes = try cursor.rawValue().withUTF8 { Array($0) }
        }
    }

    /// The minimum number of bytes to read at a time from a document in pieces: more for a store
    /// that asks for large batches.
    private var pieceByteCount: Int { min(max(256 << 10, batchRowCount << 7), 1 << 22) }

    /// The JSON, and its objects as records; nil if the objects are no JSON.
    private let json: (elements: JSONReader, records: RecordMapper.Reader)?
    private let entity: String
    private let batchRowCount: Int
    private let flag: Flag?
    /// Maps objects that are no JSON; nil for JSON.
    private var rows: RecordCollector?
    private var rowCount = 0
    /// The unread rest of these objects; nil after the last one.
    private var fills: ErasedSequence<JSONSource.Records.Fill>.Iterator?
    /// The unread rest of a document in pieces; nil after the last piece.
    private var chunks: ErasedSequence<[UInt8]>.Iterator?

    /// Opens a payload.
    ///
    /// - Parameters:
    ///   - source: The JSON.
    ///   - keyPath: The keys that lead to the array; empty if the document is the array.
    ///   - entity: The entity of the objects.
    ///   - elementByteLimit: The maximum size of an element in bytes; 64 MiB by default.
    ///   - captures: The key paths of values to capture in addition to the objects.
    ///   - acceptsSingleObject: Whether a single object is read as an array of one.
    ///   - isOpenEnded: Whether there is an object on each line in place of an array.
    ///   - flag: The field that marks an object as gone; nil if there is none.
    /// - Throws: `MappingError.unknownEntity`; `JSONError` if a file cannot be opened, or for a
    ///   number that JSON cannot express.
    init(
        _ source: JSONSource, at keyPath: String, mapper: RecordMapper, entity: String,
        options: RecordMapper.Reader.Options, elementByteLimit: Int = JSONReader.Options().maximumElementByteCount,
        capturing captures: [String] = [], acceptsSingleObject: Bool = true, isOpenEnded: Bool = false,
        flag: Flag? = nil
    ) throws {
        let list: JSONReader.Layout =
            isOpenEnded ? .lines(at: keyPath) : .array(at: keyPath, acceptsSingleObject: acceptsSingleObject)
        let layout = list.capturing(captures)
        var jsonOptions = JSONReader.Options()
        jsonOptions.maximumElementByteCount = elementByteLimit
        var reader: JSONReader?
        switch source {
        case .bytes(let bytes): reader = JSONReader(bytes: bytes, layout: layout, options: jsonOptions)
        case .file(let path): reader = try JSONReader(file: path, layout: layout, options: jsonOptions)
        case .value(let value):
            var writer = JSONWriter()
            try writer.value(value)
            reader = JSONReader(bytes: writer.bytes, layout: layout, options: jsonOptions)
        case .stream(let source):
            reader = JSONReader(layout: layout, options: jsonOptions)
            chunks = source.pieces.makeAsyncIterator()
        case .records(let source): fills = source.fills.makeAsyncIterator()
        }
        json = try reader.map { reader in
            (reader, try RecordMapper.Reader(mapper, entity: entity, reader: reader, options: options))
        }
        rows = reader == nil ? try RecordCollector(mapper, entity: entity, options: options) : nil
        self.entity = entity
        batchRowCount = options.batchRowCount
        self.flag = flag
    }

    /// The progress of reading.
    var progress: Progress {
        guard let json = json?.elements else { return Progress(elementCount: rowCount, byteCount: 0, captured: [:]) }
        return Progress(
            elementCount: json.elementCount, byteCount: json.byteCount, captured: json.captured, lists: json.lists)
    }

    /// Returns the next mapped objects with their nested objects, and the progress; nil after the
    /// last.
    ///
    /// - Throws: Errors of the payload and of its source.
    func nextBatch() async throws -> (objects: MappedBatch, progress: Progress)? {
        guard let records = json?.records else { return try await nextRows().map { ($0, progress) } }
        while true {
            if let batch = try records.next() { return (batch, progress) }
            guard try await readOn() else { return nil }
        }
    }

    /// Returns the next objects that are no JSON; nil after the last.
    private func nextRows() async throws -> MappedBatch? {
        while rows?.isFull() == false, let rest = fills {
            fills = nil
            guard let fill = try await rest.next() else { break }
            fills = rest
            _ = try rows?.addRow(index: rowCount, fill)
            rowCount += 1
        }
        return try rows?.takeBatch()
    }

    /// Returns the JSON of the next objects, and the index of the first one; nil after the last.
    ///
    /// - Throws: Errors of the payload and of its source; `StoreSyncError.noJSON`.
    func nextElements() async throws -> (first: Int, elements: [Element])? {
        guard let json = json?.elements else { throw StoreSyncError.noJSON(entity: entity) }
        let addedKey = json.addedKey
        while true {
            let first = json.elementCount
            var elements: [Element] = []
            while elements.count < batchRowCount,
                let element = try json.next({ cursor in try Element(&cursor, flag: flag, addedKey: addedKey) })
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
        guard let json = json?.elements, let rest = chunks else { return false }
        chunks = nil
        // A batch ends where the available bytes end, and small batches cost more.
        var byteCount = 0
        while byteCount < pieceByteCount {
            guard let chunk = try await rest.next() else {
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
    /// Whether the value is true, a number other than 0, or a text that is not empty.
    package var isSet: Bool {
        switch self {
        case .null, .bool(false), .integer(0), .unsigned(0), .double(0), .string(""): false
        case .decimal(let text): Double(text) != 0
        default: true
        }
    }
}
