/// Reads JSON element by element, in memory that does not grow with the input.
///
/// Give it an array of bytes, a file or a function that fills a buffer, and pull:
///
///     let reader = try JSONReader(file: "users.json", layout: .array(at: "data.users"))
///     while let user = try reader.nextValue() {
///         print(user["name"] ?? .null)
///     }
///
/// Or make it without a source, ``append(_:)`` what arrives, and pull until ``nextValue(exactDecimals:)`` is nil.
/// One window of memory holds the element at hand; an element that is cut by the window's end is
/// read again from its start when more has come.
///
/// A reader is used by one task at a time.
public final class JSONReader {
    /// Fills the buffer it is given, which is never empty, and returns how many bytes it wrote; 0
    /// is the end.
    public typealias Source = (UnsafeMutableRawBufferPointer) throws -> Int

    private enum Phase {
        case start, root
        /// Inside an object of the path.
        case key(level: Int, KeyPlace)
        case colon(level: Int, isMatch: Bool, probe: JSONProbe.Node?)
        case skipped(level: Int, probe: JSONProbe.Node?)
        case target(level: Int)
        case separator(isFirst: Bool)
        case element, single
        case betweenLines(isFirst: Bool, hasNewline: Bool)
        case trailing, finished
        case failed(JSONError)
    }

    private enum KeyPlace { case first, afterComma, afterValue }

    private enum Peek { case byte(UInt8), ended, starved }

    /// What the reader accepts.
    public let options: JSONOptions
    /// How many elements have been read.
    public private(set) var elementCount = 0

    /// The values that the layout's ``JSONLayout/capturing(_:)`` asked for, by their key paths, as
    /// far as they have come; each may be before or after the elements.
    public private(set) var captured: [String: JSONValue] = [:]
    /// How many bytes of the input have come so far.
    public var byteCount: Int { window.totalByteCount }

    private let layout: JSONLayout
    /// What is wanted of the object at each level of the path.
    private let probes: [JSONProbe.Node?]
    private let source: Source?
    private var phase = Phase.start
    private var hasFoundTarget = false
    private var framer = JSONFramer()
    private var isReading = false

    /// Cursors point into it only while `isReading`, when nothing fills it.
    private var window: JSONWindow
    private var inputEnded = false

    /// How many bytes are asked of a source at a time.
    static let windowByteCount = 256 << 10

    /// Creates a reader of what a function supplies.
    ///
    /// - Parameters:
    ///   - layout: where the elements are; the array that is the document by default.
    ///   - options: what is accepted, and how much.
    ///   - windowByteCount: how many bytes are asked for at a time; 256 KiB by default. An element
    ///     that is longer makes the window grow, up to ``JSONOptions/maximumElementByteCount``.
    ///   - source: fills a buffer; what it throws comes out of ``nextValue(exactDecimals:)`` as it is.
    public init(
        layout: JSONLayout = .array(), options: JSONOptions = JSONOptions(), windowByteCount: Int = 256 << 10,
        source: @escaping Source
    ) {
        self.layout = layout
        self.options = options
        self.source = source
        probes = layout.probes
        window = JSONWindow(capacity: windowByteCount)
    }

    /// Creates a reader that is handed its input piece by piece, by ``append(_:)`` and then
    /// ``finish()``.
    public init(layout: JSONLayout = .array(), options: JSONOptions = JSONOptions()) {
        self.layout = layout
        self.options = options
        source = nil
        probes = layout.probes
        window = JSONWindow(capacity: 4096)
    }

    // MARK: Pulling

    /// Reads the next element as a tree.
    ///
    /// - Parameter exactDecimals: Whether a number with a fraction or an exponent is kept as text;
    ///   false by default.
    /// - Returns: The element, or nil at the end. A reader without a source also returns nil until
    ///   more is appended.
    /// - Throws: ``JSONError`` with the location in the whole input, and what the source throws.
    public func nextValue(exactDecimals: Bool = false) throws -> JSONValue? {
        try next { cursor in try JSONValue(&cursor, exactDecimals: exactDecimals) }
    }

    /// Reads the next element.
    ///
    /// The function may be called more than once for one element, when its last bytes had not come:
    /// it should build its result and leave everything else alone. What it leaves unread of the
    /// element is skipped, and checked all the same.
    ///
    /// - Parameter body: reads the element; the cursor is valid only during the call.
    /// - Returns: what the function returned; nil at the end, or, for a reader without a source,
    ///   until more is appended.
    /// - Throws: ``JSONError`` with the place in the whole input, what the source throws, and what
    ///   the function throws. After malformed input every further call throws the same; after any
    ///   other error of the function the reader stands before the element again.
    package func next<Result>(_ body: (inout JSONCursor) throws -> Result) throws -> Result? {
        precondition(!isReading, "a reader is not to be used from inside its own element")
        while true {
            switch phase {
            case .element:
                guard let result = try readElement(body) else { return nil }
                phase = .separator(isFirst: false)
                elementCount += 1
                return result
            case .single:
                guard let result = try readElement(body) else { return nil }
                switch layout.kind {
                case .lines: phase = .betweenLines(isFirst: false, hasNewline: false)
                case .array, .arrayOrSingle, .document: leaveTarget()
                }
                elementCount += 1
                return result
            case .finished: return nil
            case .failed(let error): throw error
            default: guard try step() else { return nil }
            }
        }
    }

    /// Whether everything has been read and the end of the input was as it must be.
    public var isFinished: Bool {
        if case .finished = phase { true } else { false }
    }

    // MARK: Pushing

    /// Adds input; only for a reader without a source.
    ///
    /// - Throws: ``JSONError/exceeded(_:_:)`` beyond ``JSONOptions/maximumTotalByteCount``.
    public func append(_ bytes: some Collection<UInt8>) throws {
        let handled: Void? = try bytes.withContiguousStorageIfAvailable { try append(UnsafeRawBufferPointer($0)) }
        if handled == nil { try Array(bytes).withUnsafeBytes { try append($0) } }
    }

    /// Adds input; only for a reader without a source.
    ///
    /// - Throws: ``JSONError/exceeded(_:_:)`` beyond ``JSONOptions/maximumTotalByteCount``.
    public func append(_ bytes: UnsafeRawBufferPointer) throws {
        precondition(!isReading && source == nil && !inputEnded, "this reader takes no input")
        window.append(bytes)
        try checkTotal()
    }

    /// Says that nothing more will be appended.
    public func finish() {
        inputEnded = true
    }

    // MARK: Steps through the document

    /// Takes one token around the elements.
    ///
    /// - Returns: false if more input is needed first.
    private func step() throws -> Bool {
        if case .start = phase { return try skipByteOrderMark() }
        let byte: UInt8
        if case .betweenLines(let isFirst, let hasNewline) = phase {
            return try stepBetweenLines(isFirst: isFirst, hasNewline: hasNewline)
        }
        switch try peek() {
        case .starved: return false
        case .ended:
            guard case .trailing = phase else { throw fail(.unexpectedEnd) }
            phase = .finished
            return true
        case .byte(let next): byte = next
        }
        switch phase {
        case .root: try enter(level: 0, byte)
        case .target(let level): try enter(level: level, byte)
        case .key(let level, let place): return try stepKey(level: level, place, byte)
        case .colon(let level, let isMatch, let probe):
            guard byte == ASCII.colon else { throw fail(.unexpectedByte) }
            window.start += 1
            phase = isMatch ? .target(level: level + 1) : .skipped(level: level, probe: probe)
        case .skipped(let level, let probe):
            guard try readElement({ try self.skip(&$0, probe) }) != nil else { return false }
            phase = .key(level: level, .afterValue)
        case .separator(let isFirst):
            if byte == ASCII.closeBracket {
                window.start += 1
                leaveTarget()
            } else if isFirst {
                phase = .element
            } else {
                guard byte == ASCII.comma else { throw fail(.unexpectedByte) }
                window.start += 1
                // A bracket after the comma is refused as the element it is not.
                phase = .element
            }
        case .trailing: throw fail(.trailingContent)
        case .start, .betweenLines, .element, .single, .finished, .failed: return true
        }
        return true
    }

    /// Enters the value reached so far: the next object on the path, or the array at its end.
    private func enter(level: Int, _ byte: UInt8) throws {
        guard layout.kind != .document else { return phase = .single }
        guard level == layout.path.count else {
            guard byte == ASCII.openBrace else { throw failUnexpected(byte, .notAnObject) }
            window.start += 1
            return phase = .key(level: level, .first)
        }
        hasFoundTarget = true
        if byte == ASCII.openBracket {
            window.start += 1
            phase = .separator(isFirst: true)
        } else if byte == ASCII.openBrace, layout.kind == .arrayOrSingle {
            phase = .single
        } else if byte == ASCII.n, !layout.path.isEmpty {
            throw fail(.keyPathNotFound)
        } else {
            throw failUnexpected(byte, .notAnArray)
        }
    }

    /// Leaves the array, or the value that stood for it: the objects around it are still open.
    private func leaveTarget() {
        phase = layout.path.isEmpty ? .trailing : .key(level: layout.path.count - 1, .afterValue)
    }

    private func stepKey(level: Int, _ place: KeyPlace, _ byte: UInt8) throws -> Bool {
        if byte == ASCII.closeBrace, place != .afterComma {
            guard hasFoundTarget else { throw fail(.keyPathNotFound) }
            window.start += 1
            phase = level == 0 ? .trailing : .key(level: level - 1, .afterValue)
            return true
        }
        if place == .afterValue {
            guard byte == ASCII.comma else { throw fail(.unexpectedByte) }
            window.start += 1
            phase = .key(level: level, .afterComma)
            return true
        }
        guard byte == ASCII.quote else { throw fail(.unexpectedByte) }
        let keyOffset = window.readByteCount
        var probe: JSONProbe.Node?
        let match: Bool? = try readElement { cursor in
            let key = try cursor.readString()
            probe = self.probes[level]?.child(key)
            return key.equals(self.layout.path[level])
        }
        guard let isMatch = match else { return false }
        if isMatch, hasFoundTarget {
            window.start -= window.readByteCount - keyOffset
            throw fail(.duplicateKey)
        }
        phase = .colon(level: level, isMatch: isMatch, probe: probe)
        return true
    }

    /// Skips a value beside the path, and keeps what is wanted of it.
    private func skip(_ cursor: inout JSONCursor, _ probe: JSONProbe.Node?) throws {
        guard let probe else { return try cursor.skipValue() }
        let keyPaths = layout.probe.keyPaths
        var values = [JSONValue?](repeating: nil, count: keyPaths.count)
        try probe.read(&cursor, into: &values)
        // The same value may come again, more of it: what is kept is replaced then.
        for (keyPath, value) in zip(keyPaths, values) where value != nil { captured[keyPath] = value }
    }

    private func stepBetweenLines(isFirst: Bool, hasNewline: Bool) throws -> Bool {
        while window.count > 0 {
            let byte = window[0]
            guard ASCII.isWhitespace(byte) else {
                guard isFirst || hasNewline else { throw fail(.trailingContent) }
                phase = .single
                return true
            }
            window.start += 1
            if byte == ASCII.newline, !hasNewline {
                phase = .betweenLines(isFirst: isFirst, hasNewline: true)
                return true
            }
        }
        if inputEnded {
            phase = .finished
            return true
        }
        return try fill()
    }

    private func skipByteOrderMark() throws -> Bool {
        while window.count < 3, !inputEnded {
            guard try fill() else { return false }
        }
        if window.count >= 3, window[0] == 0xEF, window[1] == 0xBB, window[2] == 0xBF { window.start += 3 }
        phase = layout.kind == .lines ? .betweenLines(isFirst: true, hasNewline: false) : .root
        return true
    }

    /// Skips white space for good and looks at the next byte.
    @inline(__always)
    private func peek() throws -> Peek {
        while true {
            while window.count > 0 {
                let byte = window[0]
                guard ASCII.isWhitespace(byte) else { return .byte(byte) }
                window.start += 1
            }
            if inputEnded { return .ended }
            guard try fill() else { return .starved }
        }
    }

    // MARK: Elements

    /// Reads the value that starts at the first unread byte, trying again when more of it has come.
    ///
    /// - Returns: nil if more input is needed first.
    private func readElement<Result>(_ body: (inout JSONCursor) throws -> Result) throws -> Result? {
        while window.count == 0, !inputEnded {
            guard try fill() else { return nil }
        }
        if case .element = phase, case .starved = try peek() { return nil }
        while true {
            if !framer.isActive || framer.isClosed || inputEnded {
                if let result = try attempt(body) {
                    framer = JSONFramer()
                    return result
                }
            }
            framer.advance(window.first, available: window.count)
            if framer.isClosed { continue }
            if window.count > options.maximumElementByteCount { throw fail(.elementSizeLimit) }
            guard try fill() else { return nil }
        }
    }

    /// Hands a cursor over the unread bytes to the function.
    ///
    /// - Returns: nil if the value goes on beyond them.
    @inline(__always)
    private func attempt<Result>(_ body: (inout JSONCursor) throws -> Result) throws -> Result? {
        let first = window.first
        let whole = JSONCursor(
            start: first, end: first + (framer.isClosed ? framer.byteCount : window.count),
            endIsFinal: inputEnded || framer.isClosed, options: options)
        var cursor = whole
        do {
            isReading = true
            defer { isReading = false }
            let result = try body(&cursor)
            if !cursor.hitEnd, !cursor.isComplete {
                cursor = whole
                try cursor.skipValue()
            }
            if cursor.hitEnd { return nil }
            let byteCount = cursor.byteOffset
            if byteCount > options.maximumElementByteCount { throw JSONFault(.elementSizeLimit, byteOffset: 0) }
            if options.duplicateKeys == .fail {
                try JSONDuplicateKeys.check(first, byteCount: byteCount, options: options)
            }
            window.start += byteCount
            return result
        } catch {
            if cursor.hitEnd { return nil }
            guard let fault = error as? JSONFault else { throw error }
            throw fail(fault.reason, byteOffset: fault.byteOffset)
        }
    }

    // MARK: Input

    /// Asks the source for more; with nothing to ask, the input has to be appended.
    ///
    /// - Returns: false if there is no source.
    private func fill() throws -> Bool {
        guard let source else { return false }
        if try window.fill(from: source) == 0 { inputEnded = true }
        try checkTotal()
        return true
    }

    private func checkTotal() throws {
        if window.totalByteCount > options.maximumTotalByteCount { throw fail(.totalSizeLimit) }
    }

    // MARK: Errors

    /// The error for a byte that starts a value of another kind, or none.
    private func failUnexpected(_ byte: UInt8, _ reason: JSONError.Reason) -> JSONError {
        fail(JSONCursor.kind(startingWith: byte) == nil ? .unexpectedByte : reason)
    }

    /// Creates an error with its place in the whole input and, unless the value alone is at fault,
    /// ends reading.
    @inline(never)
    private func fail(_ reason: JSONError.Reason, byteOffset: Int = 0) -> JSONError {
        var location = window.location(of: byteOffset)
        location.keyPath = keyPath(to: byteOffset)
        let error = JSONError(reason, location)
        switch (phase, error) {
        case (.element, .mismatched), (.single, .mismatched): break
        default: phase = .failed(error)
        }
        return error
    }

    private func keyPath(to byteOffset: Int) -> String {
        let outer: String
        switch phase {
        case .element: outer = layout.pathText + "[\(elementCount)]"
        case .separator: outer = layout.pathText
        case .single: outer = layout.kind == .lines ? "[\(elementCount)]" : layout.pathText
        case .key(let level, _), .colon(let level, _, _), .skipped(let level, _), .target(let level):
            outer = layout.path.prefix(level).map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
        case .start, .root, .betweenLines, .trailing, .finished, .failed: outer = ""
        }
        guard byteOffset > 0, byteOffset <= window.count else { return outer }
        let path = outer + JSONLocator.keyPath(from: window.first, to: byteOffset)
        return path.hasPrefix(".") ? String(path.dropFirst()) : path
    }
}
