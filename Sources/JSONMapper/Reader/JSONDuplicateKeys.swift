/// Finds a key that occurs twice in one object.
enum JSONDuplicateKeys {
    /// Looks through a value that has already been checked.
    ///
    /// - Parameters:
    ///   - start: its first byte.
    ///   - byteCount: its length.
    ///   - options: those it was checked with.
    /// - Throws: ``JSONFault`` at the second occurrence of a key.
    static func check(_ start: UnsafePointer<UInt8>, byteCount: Int, options: JSONOptions) throws(JSONFault) {
        var cursor = JSONCursor(start: start, end: start + byteCount, options: options)
        try check(&cursor)
    }

    /// Recursive as deep as ``JSONOptions/maximumDepth``, which is bounded.
    private static func check(_ cursor: inout JSONCursor) throws(JSONFault) {
        switch try cursor.kind() {
        case .object:
            // By their bytes: two spellings of one character are two keys.
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
