/// Walks the tokens of one JSON value, forwards, straight over its bytes.
///
/// The caller says what comes next, and the cursor checks it: grammar, UTF-8, escapes, depth.
/// Nothing is allocated and nothing is copied. Inside an object, ask for ``nextKey()`` until it is
/// nil and take or skip the value after each key; inside an array, ask ``nextElement()`` until it
/// is false and take or skip one value each time:
///
///     try cursor.beginObject()
///     while let key = try cursor.nextKey() {
///         if key.equals(idKey) { id = try cursor.readNumber().int64 } else { try cursor.skipValue() }
///     }
///
/// A cursor is handed to a closure by ``JSONReader/next(_:)`` and must not leave it: its memory is
/// the reader's.
package struct JSONCursor {
    /// First byte of the value's input; offsets in faults count from here. The memory belongs to
    /// whoever made the cursor, who keeps it unchanged for as long as the cursor lives.
    let base: UnsafePointer<UInt8>
    var position: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// Whether nothing follows `end`; otherwise a number that touches it may go on.
    let endIsFinal: Bool
    /// Whether the cursor ran out of bytes that may still come: whatever was thrown or returned
    /// then is void.
    var hitEnd = false
    /// Whether a value has been read since the innermost container began, so that a comma must come
    /// before the next.
    var needsComma = false
    private(set) var depth: Int
    private let maximumDepth: Int
    let replacesLoneSurrogates: Bool

    init(
        start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, endIsFinal: Bool = true, depth: Int = 0,
        options: JSONOptions
    ) {
        base = start
        position = start
        self.end = end
        self.endIsFinal = endIsFinal
        self.depth = depth
        maximumDepth = options.maximumDepth
        replacesLoneSurrogates = options.loneSurrogates == .replace
    }

    /// Whether one whole value has been read.
    @inline(__always)
    var isComplete: Bool { depth == 0 && needsComma }

    /// Bytes read so far.
    @inline(__always)
    package var byteOffset: Int { position - base }

    // MARK: Structure

    /// The kind of the value that comes next, by its first byte.
    ///
    /// - Throws: ``JSONFault`` if no value starts here.
    package mutating func kind() throws(JSONFault) -> JSONKind {
        let byte = try significant()
        guard let kind = Self.kind(startingWith: byte) else { throw fault(.unexpectedByte) }
        return kind
    }

    /// Steps into an object.
    ///
    /// - Throws: ``JSONFault`` if another value is here, or the depth limit is reached.
    @inline(__always)
    package mutating func beginObject() throws(JSONFault) {
        guard try significant() == ASCII.openBrace else { throw mismatch(.notAnObject) }
        try enter()
    }

    /// The next key of the object, or nil at its end, which is then left.
    ///
    /// - Throws: ``JSONFault`` if something else is here.
    @inline(__always)
    package mutating func nextKey() throws(JSONFault) -> JSONSlice? {
        var byte = try significant()
        if byte == ASCII.closeBrace {
            leave()
            return nil
        }
        if needsComma {
            guard byte == ASCII.comma else { throw fault(.unexpectedByte) }
            position += 1
            byte = try significant()
        }
        guard byte == ASCII.quote else { throw fault(.unexpectedByte) }
        let key = try scanString()
        guard try significant() == ASCII.colon else { throw fault(.unexpectedByte) }
        position += 1
        needsComma = true
        return key
    }

    /// Takes the next key if it is the expected one, written without white space and without
    /// escapes: the fast way through objects that all look alike.
    ///
    /// - Parameter quotedKey: the key as it is written, with its quotes and the colon: `"name":`.
    /// - Returns: whether it was there; if not, nothing has been read and ``nextKey()`` tells what
    ///   is.
    @inline(__always)
    package mutating func takeKey(_ quotedKey: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let expected = quotedKey.baseAddress else { return false }
        let skipped = needsComma ? 1 : 0
        guard end - position >= quotedKey.count + skipped else {
            // Whether it is there cannot be told before more has come.
            if !endIsFinal { hitEnd = true }
            return false
        }
        if needsComma && position.pointee != ASCII.comma { return false }
        guard areEqual(position + skipped, expected, count: quotedKey.count) else { return false }
        position += quotedKey.count + skipped
        needsComma = true
        return true
    }

    /// Steps into an array.
    ///
    /// - Throws: ``JSONFault`` if another value is here, or the depth limit is reached.
    @inline(__always)
    package mutating func beginArray() throws(JSONFault) {
        guard try significant() == ASCII.openBracket else { throw mismatch(.notAnArray) }
        try enter()
    }

    /// Whether the array has another element, which then comes next; at its end the array is left.
    ///
    /// - Throws: ``JSONFault`` if something else is here.
    @inline(__always)
    package mutating func nextElement() throws(JSONFault) -> Bool {
        let byte = try significant()
        if byte == ASCII.closeBracket {
            leave()
            return false
        }
        if needsComma {
            guard byte == ASCII.comma else { throw fault(.unexpectedByte) }
            position += 1
            // A bracket after the comma is refused by whatever reads the element.
        }
        needsComma = true
        return true
    }

    // MARK: Values

    /// A string.
    ///
    /// - Throws: ``JSONFault`` if another value is here, or the string is not a legal one.
    @inline(__always)
    package mutating func readString() throws(JSONFault) -> JSONSlice {
        guard try significant() == ASCII.quote else { throw mismatch(.notAString) }
        let slice = try scanString()
        needsComma = true
        return slice
    }

    /// True or false.
    ///
    /// - Throws: ``JSONFault`` if another value is here.
    package mutating func readBool() throws(JSONFault) -> Bool {
        switch try significant() {
        case ASCII.t:
            try takeLiteral(0x6575_7274, count: 4)
            return true
        case ASCII.f:
            position += 1
            do {
                try takeLiteral(0x6573_6C61, count: 4)
            } catch {
                position -= 1
                throw error
            }
            return false
        default: throw mismatch(.notABoolean)
        }
    }

    /// Null, or an error.
    ///
    /// - Throws: ``JSONFault`` if another value is here.
    package mutating func readNull() throws(JSONFault) {
        guard try takeNull() else { throw mismatch(.notNull) }
    }

    /// Takes a null if that is what comes next.
    ///
    /// - Returns: whether it was there; if not, nothing has been read.
    /// - Throws: ``JSONFault`` if no value starts here.
    @inline(__always)
    package mutating func takeNull() throws(JSONFault) -> Bool {
        guard try significant() == ASCII.n else { return false }
        try takeLiteral(0x6C6C_756E, count: 4)
        return true
    }

    /// The bytes of a whole value of any kind, checked, as they are written.
    ///
    /// - Throws: ``JSONFault`` if the value is not a legal one.
    package mutating func rawValue() throws(JSONFault) -> JSONSlice {
        _ = try significant()
        let start = position
        try skipValue()
        return JSONSlice(start: start, count: position - start, isEscaped: false)
    }

    // MARK: Bytes

    /// Skips white space and looks at the next byte.
    @inline(__always)
    mutating func significant() throws(JSONFault) -> UInt8 {
        if position < end {
            let byte = position.pointee
            if byte > ASCII.space { return byte }
        }
        return try significantAfterWhitespace()
    }

    @inline(never)
    private mutating func significantAfterWhitespace() throws(JSONFault) -> UInt8 {
        while position < end {
            let byte = position.pointee
            guard ASCII.isWhitespace(byte) else { return byte }
            position += 1
        }
        throw endFault()
    }

    /// Takes a word of four letters, given as its bytes in memory order.
    @inline(__always)
    mutating func takeLiteral(_ word: UInt32, count: Int) throws(JSONFault) {
        if end - position >= 4,
            UInt32(littleEndian: UnsafeRawPointer(position).loadUnaligned(as: UInt32.self)) == word
        {
            position += 4
            needsComma = true
            return
        }
        throw literalFault(word)
    }

    @inline(never)
    private mutating func literalFault(_ word: UInt32) -> JSONFault {
        var rest = word
        let start = position
        defer { position = start }
        while position < end {
            guard position.pointee == UInt8(truncatingIfNeeded: rest) else { return fault(.invalidLiteral) }
            rest >>= 8
            position += 1
        }
        return endFault()
    }

    @inline(__always)
    mutating func enter() throws(JSONFault) {
        guard depth < maximumDepth else { throw fault(.depthLimit) }
        depth += 1
        position += 1
        needsComma = false
    }

    @inline(__always)
    mutating func leave() {
        depth -= 1
        position += 1
        needsComma = true
    }

    static func kind(startingWith byte: UInt8) -> JSONKind? {
        switch byte {
        case ASCII.openBrace: .object
        case ASCII.openBracket: .array
        case ASCII.quote: .string
        case ASCII.minus, ASCII.zero...ASCII.nine: .number
        case ASCII.t, ASCII.f: .boolean
        case ASCII.n: .null
        default: nil
        }
    }

    @inline(never)
    func fault(_ reason: JSONError.Reason) -> JSONFault {
        JSONFault(reason, byteOffset: position - base)
    }

    /// A legal value of another kind is a mismatch; anything else is malformed.
    @inline(never)
    func mismatch(_ reason: JSONError.Reason) -> JSONFault {
        fault(position < end && Self.kind(startingWith: position.pointee) != nil ? reason : .unexpectedByte)
    }

    @inline(never)
    mutating func endFault() -> JSONFault {
        if !endIsFinal { hitEnd = true }
        return JSONFault(.unexpectedEnd, byteOffset: end - base)
    }
}
