/// A check for keys that occur more than once in an object.
enum JSONDuplicateKeys {
    /// Searches a value that has already been validated, including nested objects.
    ///
    /// - Parameters:
    ///   - start: The first byte of the value.
    ///   - byteCount: The length of the value in bytes.
    ///   - options: The options that the value was validated with.
    /// - Throws: ``JSONFault`` at the second occurrence of a key.
    static func check(_ start: UnsafePointer<UInt8>, byteCount: Int, options: JSONReader.Options) throws(JSONFault) {
        var cursor = JSONCursor(start: start, end: start + byteCount, options: options)
        try check(&cursor)
    }

    /// Recursive; the depth is at most ``JSONReader/Options/maximumDepth``.
    private static func check(_ cursor: inout JSONCursor) throws(JSONFault) {
        switch try cursor.kind() {
        case .object:
            // Compared by bytes: differently normalized spellings of a character are different
            // keys.
            var keys: Set<[UInt8]> = []
            try cursor.beginObject()
            while let key = try cursor.nextKey() {
                let offset = key.start - cursor.base - 1
                guard keys.insert(key.withUTF8 { Array($0) }).inserted else {
                    throw JSONFault(.duplicateKey, byteOffset: offset)
                }
                try check(&cursor)
            }
        case .array:
            try cursor.beginArray()
            while try cursor.nextElement() { try check(&cursor) }
        case .string, .number, .boolean, .null: try cursor.skipValue()
        }
    }
}
