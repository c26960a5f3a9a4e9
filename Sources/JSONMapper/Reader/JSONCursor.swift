/// A forward-only parser for the tokens of one JSON value.
///
/// The caller requests the token that it expects, and the cursor checks the input: grammar, UTF-8,
/// escapes and nesting depth. It works directly on the bytes, without allocations or copies. Inside
/// an object, call ``nextKey()`` until it returns nil, and read or skip the value after each key.
/// Inside an array, call ``nextElement()`` until it returns false, and read or skip one value each
/// time:
///
///     try cursor.beginObject()
///     while let key = try cursor.nextKey() {
///         if key.equals(idKey) {
///             id = try cursor.readNumber().int64
///         } else {
///             try cursor.skipValue()
///         }
///     }
///
/// ``JSONReader/next(_:)`` passes a cursor to its closure. The cursor must not escape the closure,
/// because its memory belongs to the reader.
package struct JSONCursor {
    /// The first byte of the input. Byte offsets of faults count from here.
    ///
    /// The creator of the cursor owns the memory and keeps it unchanged for the lifetime of the
    /// cursor.
    let base: UnsafePointer<UInt8>
    var position: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    /// Becomes true when the cursor or a copy of it needs bytes that have not arrived yet. Any
    /// result or error is then invalid. Nil if the input ends at `end`.
    ///
    /// Copies share the flag, so a caller that reads ahead with a copy cannot lose it. The creator
    /// of the cursor owns the memory.
    private let shortage: UnsafeMutablePointer<Bool>?
    /// Whether a value has been read in the innermost container, so that the next one requires a
    /// comma.
    var needsComma = false
    private(set) var depth: Int
    private let maximumDepth: Int
    let replacesLoneSurrogates: Bool

    init(
        start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, shortage: UnsafeMutablePointer<Bool>? = nil,
        depth: Int = 0, options: JSONReader.Options
    ) {
        base = start
        position = start
        self.end = end
        self.shortage = shortage
        self.depth = depth
        maximumDepth = options.maximumDepth
        replacesLoneSurrogates = options.loneSurrogates == .replace
    }

    /// Whether the input ends at `end`. If false, a number that reaches `end` may continue.
    @inline(__always)
    var endIsFinal: Bool { shortage == nil }

    /// Whether exactly one whole value has been read.
    @inline(__always)
    var isComplete: Bool { depth == 0 && needsComma }

    /// The number of bytes read so far.
    @inline(__always)
    package var byteOffset: Int { position - base }

    // MARK: Structure

    /// Peeks at the next value and returns its kind, judged by its first byte.
    ///
    /// - Throws: ``JSONFault`` if no value starts here.
    package mutating func kind() throws(JSONFault) -> JSONKind {
        let byte = try significant()
        guard let kind = Self.kind(startingWith: byte) else { throw fault(.unexpectedByte) }
        return kind
    }

    /// Enters an object.
    ///
    /// - Throws: ``JSONFault`` if another kind of value comes next, or at the depth limit.
    @inline(__always)
    package mutating func beginObject() throws(JSONFault) {
        guard try significant() == ASCII.openBrace else { throw mismatch(.notAnObject) }
        try enter()
    }

    /// Reads the next key of the object and its colon.
    ///
    /// - Returns: The key; nil at the end of the object, which the cursor then leaves.
    /// - Throws: ``JSONFault`` if neither a key nor the end of the object comes next.
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
        return key
    }

    /// Consumes the next key if its bytes are exactly the expected ones.
    ///
    /// This is the fast path for objects with a uniform layout. It matches only a key without white
    /// space around it and without escapes.
    ///
    /// - Parameter quotedKey: The key as written, with its quotes and the colon: `"name":`.
    /// - Returns: Whether the key matched. If false, nothing has been consumed and ``nextKey()``
    ///   reads the actual key.
    @inline(__always)
    package mutating func takeKey(_ quotedKey: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let expected = quotedKey.baseAddress else { return false }
        let skipped = needsComma ? 1 : 0
        guard end - position >= quotedKey.count + skipped else {
            // The comparison needs bytes that have not arrived yet.
            shortage?.pointee = true
            return false
        }
        if needsComma && position.pointee != ASCII.comma { return false }
        guard areEqual(position + skipped, expected, count: quotedKey.count) else { return false }
        position += quotedKey.count + skipped
        return true
    }

    /// Enters an array.
    ///
    /// - Throws: ``JSONFault`` if another kind of value comes next, or at the depth limit.
    @inline(__always)
    package mutating func beginArray() throws(JSONFault) {
        guard try significant() == ASCII.openBracket else { throw mismatch(.notAnArray) }
        try enter()
    }

    /// Advances to the next element of the array.
    ///
    /// - Returns: Whether there is another element, which then comes next. If false, the cursor has
    ///   left the array.
    /// - Throws: ``JSONFault`` if neither an element nor the end of the array comes next.
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
            // The read of the element rejects a closing bracket after the comma.
        }
        return true
    }

    // MARK: Values

    /// Reads a string.
    ///
    /// - Returns: The string's bytes, without the quotes. They are valid only while the cursor is.
    /// - Throws: ``JSONFault`` if another kind of value comes next, or if the string is malformed.
    @inline(__always)
    package mutating func readString() throws(JSONFault) -> JSONSlice {
        guard try significant() == ASCII.quote else { throw mismatch(.notAString) }
        let slice = try scanString()
        needsComma = true
        return slice
    }

    /// Reads `true` or `false`.
    ///
    /// - Throws: ``JSONFault`` if another kind of value comes next, or if the literal is
    ///   misspelled.
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

    /// Reads `null`.
    ///
    /// - Throws: ``JSONFault`` if another kind of value comes next, or if the literal is
    ///   misspelled.
    package mutating func readNull() throws(JSONFault) {
        guard try takeNull() else { throw mismatch(.notNull) }
    }

    /// Consumes the next value if it is null.
    ///
    /// - Returns: Whether the value was null. If false, nothing has been consumed.
    /// - Throws: ``JSONFault`` at the end of the input, or if the literal is misspelled.
    @inline(__always)
    package mutating func takeNull() throws(JSONFault) -> Bool {
        guard try significant() == ASCII.n else { return false }
        try takeLiteral(0x6C6C_756E, count: 4)
        return true
    }

    /// Checks and consumes a whole value of any kind and returns its bytes as written.
    ///
    /// - Throws: ``JSONFault`` if the value is malformed.
    package mutating func rawValue() throws(JSONFault) -> JSONSlice {
        _ = try significant()
        let start = position
        try skipValue()
        return JSONSlice(start: start, count: position - start, isEscaped: false)
    }

    // MARK: Bytes

    /// Skips white space and peeks at the next byte.
    ///
    /// - Throws: ``JSONFault`` at the end of the input.
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

    /// Consumes a literal of four letters, given as its bytes in memory order.
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

    /// The fault for an unexpected kind: `reason` if a value starts here, otherwise an unexpected
    /// byte.
    @inline(never)
    func mismatch(_ reason: JSONError.Reason) -> JSONFault {
        fault(position < end && Self.kind(startingWith: position.pointee) != nil ? reason : .unexpectedByte)
    }

    @inline(never)
    func endFault() -> JSONFault {
        shortage?.pointee = true
        return JSONFault(.unexpectedEnd, byteOffset: end - base)
    }
}
