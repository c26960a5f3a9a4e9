/// Works out afterwards where in a value a fault lies, so that reading itself keeps no record of
/// the way it came.
enum JSONLocator {
    private struct Scope {
        var isObject: Bool
        var awaitsKey: Bool
        var key: JSONSlice?
        var index = 0
    }

    /// The key path from a value to the innermost value that holds a byte of it: `.name[2].zip`, or
    /// nothing for the value itself.
    ///
    /// - Parameters:
    ///   - start: first byte of the value; everything before `byteOffset` has passed the cursor.
    ///   - byteOffset: the byte in question, counted from `start`.
    static func keyPath(from start: UnsafePointer<UInt8>, to byteOffset: Int) -> String {
        let end = start + byteOffset
        var scopes: [Scope] = []
        var cursor = start
        while cursor < end {
            let byte = cursor.pointee
            cursor += 1
            switch byte {
            case ASCII.openBrace: scopes.append(Scope(isObject: true, awaitsKey: true))
            case ASCII.openBracket: scopes.append(Scope(isObject: false, awaitsKey: false))
            case ASCII.closeBrace, ASCII.closeBracket: _ = scopes.popLast()
            case ASCII.comma:
                guard let scope = scopes.indices.last else { break }
                scopes[scope].awaitsKey = scopes[scope].isObject
                scopes[scope].key = nil
                scopes[scope].index += 1
            case ASCII.quote:
                guard let text = string(&cursor, end: end) else { return describe(scopes) }
                guard let scope = scopes.indices.last, scopes[scope].awaitsKey else { break }
                scopes[scope].awaitsKey = false
                scopes[scope].key = text
            default: break
            }
        }
        return describe(scopes)
    }

    /// The string whose opening quote has just been passed; nil if it goes on beyond the end.
    private static func string(_ cursor: inout UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) -> JSONSlice? {
        let start = cursor
        var isEscaped = false
        while cursor < end {
            let byte = cursor.pointee
            cursor += 1
            if byte == ASCII.quote { return JSONSlice(start: start, count: cursor - start - 1, isEscaped: isEscaped) }
            guard byte == ASCII.backslash else { continue }
            isEscaped = true
            if cursor < end { cursor += 1 }
        }
        return nil
    }

    private static func describe(_ scopes: [Scope]) -> String {
        var path = ""
        for scope in scopes {
            if !scope.isObject {
                path += "[\(scope.index)]"
            } else if let key = scope.key {
                path += ".\(key.string)"
            }
        }
        return path
    }
}
