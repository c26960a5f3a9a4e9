/// A reconstruction of key paths after an error, so that reading does not have to track them.
enum JSONLocator {
    private struct Scope {
        var isObject: Bool
        var awaitsKey: Bool
        var key: JSONSlice?
        var index = 0
    }

    /// The key path from a value to the innermost value at a byte, such as `.name[2].zip`. Empty
    /// for the value itself.
    ///
    /// - Parameters:
    ///   - start: The first byte of the value. A cursor has accepted all bytes before `byteOffset`.
    ///   - byteOffset: The position of the byte, counted from `start`.
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

    /// Scans the string after its opening quote; nil if it continues beyond `end`.
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
