#if Postgres
import COneWayLibpq
import Foundation

/// Texts as C wants them: an array of pointers that ends with null. They live as long as this does.
final class CStringArray {
    private let storage: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String]) {
        storage = texts.map { strdup($0) }
    }

    deinit {
        for pointer in storage { free(pointer) }
    }

    var pointers: [UnsafePointer<CChar>?] {
        storage.map { $0.map { UnsafePointer($0) } } + [nil]
    }
}

/// Runs a function with parameters as libpq takes them: their number, types, values, lengths and formats.
func withPointers<Result>(
    to parameters: [PostgresParameter],
    _ body: (Int32, [Oid], [UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
) -> Result {
    // One block for all, each with an end mark, since libpq takes the text of a value up to there.
    var block: [UInt8] = []
    var offsets: [Int?] = []
    for parameter in parameters {
        offsets.append(parameter.bytes == nil ? nil : block.count)
        guard let bytes = parameter.bytes else { continue }
        block.append(contentsOf: bytes)
        block.append(0)
    }
    return block.withUnsafeBytes { bytes in
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        return body(
            Int32(parameters.count), parameters.map(\.type),
            offsets.map { offset in offset.flatMap { start?.advanced(by: $0) } },
            parameters.map { Int32(clamping: $0.bytes?.count ?? 0) }, parameters.map { $0.isBinary ? 1 : 0 })
    }
}
#endif
