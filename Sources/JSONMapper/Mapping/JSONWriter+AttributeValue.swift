import Foundation
package import SyncModel

extension JSONWriter {
    /// Writes the value of an attribute.
    ///
    /// Dates are written as ISO 8601, UUIDs and URIs as strings, and decimals exactly. Binary data
    /// that is a JSON value is written unchanged, other data in Base64. JSON values are written in
    /// their canonical form.
    ///
    /// - Throws: ``JSONError/nonFiniteNumber`` if the value is infinite or NaN.
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
        case .json(let json): raw(json.text.utf8)
        }
    }

    /// Writes data that is a JSON value unchanged, and other data in Base64.
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

    /// Whether the bytes are exactly one JSON value, without white space around it.
    private static func isJSON(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = bytes.baseAddress, let first = bytes.first, JSONCursor.kind(startingWith: first) != nil else {
            return false
        }
        var cursor = JSONCursor(start: start, end: start + bytes.count, options: JSONReader.Options())
        do {
            try cursor.skipValue()
            return cursor.byteOffset == bytes.count
        } catch {
            return false
        }
    }
}
