import Foundation
import JSONMapper
import StoreSync
import SyncBase

extension InputFile {
    /// Finds the list of objects of the input, and returns a source of them.
    ///
    /// An input that can be read only once, such as a pipe, is read as a whole only if it is one
    /// object.
    ///
    /// - Parameters:
    ///   - keyPath: The keys that lead to the list; empty to find it.
    ///   - willRead: Called before each chunk with the number of bytes read so far.
    ///   - find: Finds the list, from the first bytes and a function that opens the document with a
    ///     layout. It is called only if the key path is empty.
    /// - Throws: ``InputFileError``; `JSONError`; errors of `find`.
    func findList(
        at keyPath: String, willRead: @escaping @Sendable (Int) -> Void = { _ in },
        _ find: ([UInt8], (JSONReader.Layout) throws -> JSONReader) throws -> ListPlace
    ) async throws -> (place: ListPlace, source: JSONSource) {
        guard keyPath.isEmpty else {
            return (ListPlace(keyPath: keyPath), source(at: keyPath, willRead: willRead))
        }
        if case .file(let path) = self, byteCount != nil {
            let place = try find(Array(beginning())) { try JSONReader(file: path, layout: $0) }
            return (place, source(at: place.keyPath, willRead: willRead))
        }
        let rest = ErasedSequence(chunks(willRead: willRead)).makeAsyncIterator()
        let (bytes, isOneObject) = try await Self.beginning(of: rest)
        guard isOneObject else {
            let body = PartlyReadBody(beginning: bytes, rest: rest)
            return (ListPlace(keyPath: ""), .chunks(ElementChunks(base: body)))
        }
        let place = try find(bytes) { JSONReader(bytes: bytes, layout: $0) }
        return (place, .document(bytes, at: place.keyPath))
    }

    /// Reads the chunks of an input until they have a second object, or to the end if the input is
    /// one object. White space before the first value is left out.
    private static func beginning(
        of chunks: ErasedSequence<[UInt8]>.Iterator
    ) async throws -> (bytes: [UInt8], isOneObject: Bool) {
        var bytes: [UInt8] = []
        let objects = JSONReader(layout: .lines)
        while objects.elementCount < 2 {
            guard let chunk = try await chunks.next() else { return (bytes, !bytes.isEmpty) }
            if bytes.isEmpty, JSONStart(chunk) == nil { continue }
            bytes += chunk
            guard JSONStart(bytes) == .object else { break }
            try objects.append(chunk)
            while try objects.next({ cursor in try cursor.rawValue().withUTF8 { $0.count } }) != nil {}
        }
        return (bytes, false)
    }
}
