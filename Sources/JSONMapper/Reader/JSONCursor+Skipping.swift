extension JSONCursor {
    /// Skips a whole value of any kind, with the same checks as reading it.
    ///
    /// - Throws: ``JSONFault`` if the value is malformed.
    @inline(__always)
    package mutating func skipValue() throws(JSONFault) {
        let byte = try significant()
        if byte == ASCII.openBrace || byte == ASCII.openBracket {
            try skipContainer()
        } else {
            try skipScalar(byte)
        }
    }

    @inline(__always)
    private mutating func skipScalar(_ byte: UInt8) throws(JSONFault) {
        switch byte {
        case ASCII.quote:
            _ = try scanString()
            needsComma = true
        case ASCII.minus, ASCII.zero...ASCII.nine: _ = try scanNumber()
        case ASCII.t, ASCII.f: _ = try readBool()
        case ASCII.n: _ = try takeNull()
        default: throw fault(.unexpectedByte)
        }
    }

    /// Skips an array or object.
    ///
    /// One 64-bit word stores the kinds of 64 nested containers as bits. Containers that are nested
    /// deeper are skipped by a recursive call, so the call stack grows by one frame per 64 levels.
    @inline(never)
    private mutating func skipContainer() throws(JSONFault) {
        // The lowest bit is the innermost container: 1 for an object, 0 for an array.
        var kinds: UInt64 = 0
        var openCount = 0
        while true {
            // A value comes next.
            let byte = try significant()
            if byte == ASCII.openBrace || byte == ASCII.openBracket {
                if openCount == 64 {
                    try skipContainer()
                } else {
                    try enter()
                    openCount += 1
                    kinds = kinds &<< 1
                    if byte == ASCII.openBrace {
                        kinds |= 1
                        if try significant() != ASCII.closeBrace {
                            try skipKey()
                            continue
                        }
                    } else if try significant() != ASCII.closeBracket {
                        continue
                    }
                    leave()
                    openCount -= 1
                    kinds = kinds &>> 1
                }
            } else {
                try skipScalar(byte)
            }
            // A value has ended.
            while true {
                guard openCount > 0 else { return }
                let byte = try significant()
                let isObject = kinds & 1 == 1
                if byte == ASCII.comma {
                    position += 1
                    if isObject {
                        _ = try significant()
                        try skipKey()
                    }
                    break
                }
                guard byte == (isObject ? ASCII.closeBrace : ASCII.closeBracket) else { throw fault(.unexpectedByte) }
                leave()
                openCount -= 1
                kinds = kinds &>> 1
            }
        }
    }

    @inline(__always)
    private mutating func skipKey() throws(JSONFault) {
        guard position.pointee == ASCII.quote else { throw fault(.unexpectedByte) }
        _ = try scanString()
        guard try significant() == ASCII.colon else { throw fault(.unexpectedByte) }
        position += 1
    }
}
