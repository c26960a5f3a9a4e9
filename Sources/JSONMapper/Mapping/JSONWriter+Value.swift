import Foundation
import SyncModel

extension JSONWriter {
    /// Writes what an attribute holds: dates as ISO 8601, UUIDs and URIs as strings, decimals exactly, bytes as they are where they are JSON
    /// and in Base64 otherwise.
    ///
    /// - Throws: ``JSONError/nonFiniteNumber``.
    mutating func value(_ value: Value) throws(JSONError) {
        switch value {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .int(let number): integer(number)
        case .double(let number): try double(number)
        case .decimal(let number):
            guard !number.isNaN else { throw .nonFiniteNumber }
            raw(number.description.utf8)
        case .string(let text), .uri(let text): string(text)
        case .date(let moment):
            date(milliseconds: Int64((Double(moment.microseconds) / 1000).rounded(.down)))
        case .binary(let data):
            let bytes = Array(data)
            if (try? JSONValue(parsing: bytes)) != nil { raw(bytes) } else { string(data.base64EncodedString()) }
        case .uuid(let uuid): string(uuid.uuidString)
        }
    }
}
