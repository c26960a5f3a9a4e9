extension JSONCursor {
    /// Scans and checks a string, eight bytes at a time. The next byte must be the opening quote.
    ///
    /// A byte stops the scan if it is a quote, a backslash, below U+0020 or above U+007F. One
    /// expression tests eight bytes for all four conditions. Subtracting 1 from each byte XORed
    /// with `"` sets the top bit of exactly the bytes that were `"`, because of the borrow; the
    /// other tests work alike. A borrow can also reach the bytes after the first match, so only the
    /// first match is used.
    @inline(__always)
    mutating func scanString() throws(JSONFault) -> JSONSlice {
        let start = position + 1
        var cursor = start
        while end - cursor >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
            let hits = Self.stops(word)
            if hits == 0 {
                cursor += 8
                continue
            }
            cursor += hits.trailingZeroBitCount &>> 3
            if cursor.pointee == ASCII.quote {
                position = cursor + 1
                return JSONSlice(start: start, count: cursor - start, isEscaped: false)
            }
            break
        }
        return try scanRest(start: start, from: cursor)
    }

    @inline(__always)
    private static func stops(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        /// The top bit of each byte that may stop the scan; only the lowest one set is reliable.
        let quotes = (word ^ (ones &* 0x22)) &- ones
        let backslashes = (word ^ (ones &* 0x5C)) &- ones
        let controls = word &- (ones &* 0x20)
        return (quotes | backslashes | controls | word) & (ones &* 0x80)
    }

    /// Scans the rest of a string with escapes, with characters above U+007F, or near the end of
    /// the input.
    @inline(never)
    private mutating func scanRest(
        start: UnsafePointer<UInt8>, from: UnsafePointer<UInt8>
    ) throws(JSONFault) -> JSONSlice {
        var cursor = from
        var isEscaped = false
        while cursor < end {
            let byte = cursor.pointee
            if byte >= 0x80 {
                cursor += try sequenceLength(at: cursor)
            } else if byte == ASCII.quote {
                position = cursor + 1
                return JSONSlice(start: start, count: cursor - start, isEscaped: isEscaped)
            } else if byte == ASCII.backslash {
                isEscaped = true
                cursor += try escapeLength(at: cursor)
            } else if byte < 0x20 {
                throw fault(.controlCharacter, at: cursor)
            } else {
                cursor += 1
                while end - cursor >= 8 {
                    let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
                    let hits = Self.stops(word)
                    if hits != 0 {
                        cursor += hits.trailingZeroBitCount &>> 3
                        break
                    }
                    cursor += 8
                }
            }
        }
        throw endFault()
    }

    /// The length in bytes of the UTF-8 sequence that starts here, checked against RFC 3629,
    /// section 4.
    @inline(__always)
    private mutating func sequenceLength(at cursor: UnsafePointer<UInt8>) throws(JSONFault) -> Int {
        let first = cursor.pointee
        let length: Int
        // The valid second bytes: E0 and F0 exclude overlong forms, ED excludes surrogates, and F4
        // excludes code points above U+10FFFF.
        var seconds: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF:
            length = 3
            if first == 0xE0 { seconds = 0xA0...0xBF } else if first == 0xED { seconds = 0x80...0x9F }
        case 0xF0...0xF4:
            length = 4
            if first == 0xF0 { seconds = 0x90...0xBF } else if first == 0xF4 { seconds = 0x80...0x8F }
        default: throw fault(.invalidUTF8, at: cursor)
        }
        let available = end - cursor
        guard available > 1 else { throw endFault() }
        guard seconds.contains(cursor[1]) else { throw fault(.invalidUTF8, at: cursor) }
        for index in 2..<max(length, 2) {
            guard index < available else { throw endFault() }
            guard cursor[index] & 0xC0 == 0x80 else { throw fault(.invalidUTF8, at: cursor) }
        }
        return length
    }

    /// The length in bytes of the escape that starts here: 2, 6, or 12 for a surrogate pair.
    @inline(never)
    private mutating func escapeLength(at cursor: UnsafePointer<UInt8>) throws(JSONFault) -> Int {
        guard end - cursor >= 2 else { throw endFault() }
        switch cursor[1] {
        case ASCII.quote, ASCII.backslash, ASCII.slash, ASCII.f, ASCII.n, ASCII.t, 0x62, 0x72: return 2
        case ASCII.u: break
        default: throw fault(.invalidEscape, at: cursor)
        }
        let unit = try hex4(at: cursor + 2, escape: cursor)
        guard unit & 0xF800 == 0xD800 else { return 6 }
        if unit & 0xFC00 == 0xD800 {
            // A high surrogate can be checked only with the bytes after it.
            guard end - cursor >= 7 else { throw endFault() }
            if cursor[6] == ASCII.backslash {
                guard end - cursor >= 8 else { throw endFault() }
                if cursor[7] == ASCII.u {
                    let partner = try hex4(at: cursor + 8, escape: cursor + 6)
                    if partner & 0xFC00 == 0xDC00 { return 12 }
                }
            }
        }
        guard replacesLoneSurrogates else { throw fault(.loneSurrogate, at: cursor) }
        return 6
    }

    private mutating func hex4(
        at digits: UnsafePointer<UInt8>, escape: UnsafePointer<UInt8>
    ) throws(JSONFault) -> UInt32 {
        var value: UInt32 = 0
        for index in 0..<4 {
            guard digits + index < end else { throw endFault() }
            guard let digit = ASCII.hexValue(digits[index]) else { throw fault(.invalidEscape, at: escape) }
            value = value << 4 | digit
        }
        return value
    }

    @inline(never)
    private func fault(_ reason: JSONError.Reason, at place: UnsafePointer<UInt8>) -> JSONFault {
        JSONFault(reason, byteOffset: place - base)
    }
}
