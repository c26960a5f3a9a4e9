import JSONMapper
import StoreSync

/// The chunks of an input as one JSON document, also if the input is newline-delimited JSON.
///
/// An input that begins with `{` is a sequence of objects, often only one. It becomes an array.
struct ElementChunks<Base: AsyncSequence<[UInt8], any Error> & Sendable>: AsyncSequence, Sendable {
    typealias Element = [UInt8]

    let base: Base

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: base.makeAsyncIterator())
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        /// The state of reading.
        private enum State {
            /// Only white space was read.
            case beginning
            /// The input is a document and is passed on.
            case document
            case lines(JSONReader)
            case ended
        }

        private var base: Base.AsyncIterator
        private var state = State.beginning

        fileprivate init(base: Base.AsyncIterator) {
            self.base = base
        }

        /// Returns the next chunk, or nil at the end.
        ///
        /// - Throws: `JSONError` for an object that is malformed; errors of the input.
        mutating func next() async throws -> [UInt8]? {
            if case .ended = state { return nil }
            while let chunk = try await base.next() {
                if case .beginning = state, let first = JSONStart(chunk) {
                    state = first == .object ? .lines(JSONReader(layout: .lines)) : .document
                }
                guard case .lines(let reader) = state else { return chunk }
                try reader.append(chunk)
                let objects = try Self.elements(of: reader)
                if !objects.isEmpty { return objects }
            }
            guard case .lines(let reader) = state else { return nil }
            state = .ended
            reader.finish()
            return try Self.elements(of: reader) + [UInt8(ascii: "]")]
        }

        /// Returns the elements that are complete, as a part of an array.
        private static func elements(of reader: JSONReader) throws -> [UInt8] {
            var array: [UInt8] = []
            while let element = try reader.next({ cursor in try cursor.rawValue().withUTF8 { Array($0) } }) {
                array.append(UInt8(ascii: reader.elementCount == 1 ? "[" : ","))
                array += element
            }
            return array
        }
    }
}

extension JSONSource {
    /// Returns the source of a document in memory.
    ///
    /// - Parameter keyPath: The keys that lead to the array. Without them, newline-delimited JSON
    ///   is accepted as well.
    static func document(_ bytes: [UInt8], at keyPath: String) -> JSONSource {
        guard keyPath.isEmpty, JSONStart(bytes) == .object else { return .bytes(bytes) }
        let (chunks, chunk) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        chunk.yield(bytes)
        chunk.finish()
        return .chunks(ElementChunks(base: chunks))
    }
}

/// The kind of a JSON input, by its first significant byte.
enum JSONStart: Equatable {
    /// An object, or newline-delimited objects.
    case object
    case other

    /// Creates the kind from the beginning of an input; nil if that is only white space.
    init?(_ bytes: some Sequence<UInt8>) {
        guard let first = Self.first(of: bytes) else { return nil }
        self = first == UInt8(ascii: "{") ? .object : .other
    }

    /// Returns the first byte that is neither white space nor part of a UTF-8 byte order mark.
    static func first(of bytes: some Sequence<UInt8>) -> UInt8? {
        bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
    }

    /// The layout of an input for inference.
    ///
    /// - Parameter keyPath: The keys that lead to the array.
    static func layout(_ bytes: some Sequence<UInt8>, at keyPath: String) -> JSONReader.Layout {
        keyPath.isEmpty && JSONStart(bytes) == .object
            ? .lines : .array(at: keyPath, acceptsSingleObject: true)
    }
}
