import Foundation
package import SyncModel

extension JSONWriter {
    /// Writes what an attribute holds: dates as ISO 8601, UUIDs and URIs as strings, decimals
    /// exactly, bytes as they are where they are JSON and in Base64 otherwise.
    ///
    /// - Throws: ``JSONError/nonFiniteNumber``.
    @inline(__always)
    package mutating func value(_ value: AttributeValue) throws(JSONError) {
        switch value {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .int(let number): integer(number)
        case .double(let number): try double(number)
        case .decimal(let number):
            guard number.isFinite else { throw .nonFiniteNumber }
            raw(number.description.utf8)
        case .string(let text), .uri(let text): string(text)
        case .date(let moment): date(moment)
        case .binary(let data): binary(data)
        case .uuid(let uuid): string(uuid.uuidString)
        }
    }

    /// JSON as it is, anything else in Base64.
    private mutating func binary(_ data: Data) {
        let isJSON = data.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: UInt8.self) { bytes in
                guard Self.isJSON(bytes) else { return false }
                raw(bytes)
                return true
            }
        }
        if !isJSON { string(data.base64EncodedString()) }
    }

    /// Whether bytes are one JSON value, with nothing before or after it.
    private static func isJSON(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = bytes.baseAddress, let first = bytes.first, JSONCursor.kind(startingWith: first) != nil else {
            return false
        }
        var cursor = JSONCursor(start: start, end: start + bytes.count, options: JSONOptions())
        do {
            try cursor.skipValue()
            return cursor.byteOffset == bytes.count
        } catch {
            return false
        }
    }
}
