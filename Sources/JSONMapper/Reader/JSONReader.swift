/// A streaming parser that reads JSON element by element.
///
/// Memory use depends on the largest element, not on the size of the input. Create a reader for an
/// array of bytes, a file or a function that fills a buffer, and pull the elements:
///
///     let reader = try JSONReader(file: "users.json", layout: .array(at: "data.users"))
///     while let user = try reader.nextValue() {
///         print(user["name"] ?? .null)
///     }
///
/// Alternatively, create a reader without a source, push the input with `append(_:)`, and pull
/// elements until ``nextValue(exactDecimals:)`` returns nil. Call ``finish()`` after the last
/// bytes. The reader keeps the current element in a window of memory. An element that extends
/// beyond the window is read again from its start when more bytes have arrived.
///
/// A reader is not thread-safe: only one task may use it at a time.
public final class JSONReader {
    /// A function that fills a buffer and returns the number of bytes written.
    ///
    /// The buffer is never empty. 0 marks the end of the input.
    public typealias Source = (UnsafeMutableRawBufferPointer) throws -> Int

    enum Phase {
        case start, root
        /// Inside an object of the path.
        case key(level: Int, KeyPlace)
        case colon(level: Int, isMatch: Bool, probe: JSONProbe.Node?)
        case skipped(level: Int, probe: JSONProbe.Node?)
        case target(level: Int)
        case separator(isFirst: Bool)
        /// Inside an object whose members are the elements.
        case member(KeyPlace)
        case memberColon
        /// Before an element whose key is its index, unless it is null.
        case indexed
        /// Before a document that is null.
        case null
        case element, single
        /// Before a line. Only the first one needs no newline before it.
        case betweenLines(hasNewline: Bool)
        case trailing, finished
        case failed(JSONError)
    }

    enum KeyPlace { case first, afterComma, afterValue }

    enum Peek { case byte(UInt8), ended, starved }

    /// The parsing choices and limits of the reader.
    public let options: JSONReader.Options
    /// The number of elements read so far.
    public private(set) var elementCount = 0

    /// The captured values found so far, by key path.
    ///
    /// ``JSONReader/Layout/capturing(_:)`` selects them. Values may precede or follow the elements,
    /// so all are known only at the end of the document.
    public internal(set) var captured: [String: JSONValue] = [:]
    /// The values found so far by the names of their keys.
    ///
    /// ``JSONReader/Layout/capturing(named:)`` selects them.
    package internal(set) var namedValues: JSONNameProbe.Values = [:]
    /// The number of input bytes received so far.
    public var byteCount: Int { window.totalByteCount }

    let layout: JSONReader.Layout
    /// The first other keys of the innermost entered object of the path, for an error.
    var passedKeys: [String] = []
    /// The latest key that is not on the path; nil if it is long.
    var passedKey: String?
    /// The latest key that is not on the path, with what to capture by name from its value; nil for
    /// nothing.
    var passedName: (key: String, node: JSONNameProbe.Node)?
    /// The first lists of the document, as far as it was read, in place of the one at the key path.
    package internal(set) var lists: [JSONError.List] = []
    /// The field that each element has in addition, with the key of its member; nil for a list.
    package var addedKey: String?
    /// Whether the elements are the members of an object.
    private let hasMembers: Bool
    /// The values to capture from the object at each level of the path; nil for none.
    let probes: [JSONProbe.Node?]
    /// The values to capture by name from the object at each level of the path; nil for none.
    let nameProbes: [JSONNameProbe.Node?]
    private let source: Source?
    var phase = Phase.start
    var hasFoundTarget = false
    /// The key of the current element with its quotes, if the layout has members.
    var memberKey: [UInt8] = []
    /// The index of the current element of an array in place of an object with members; nil
    /// elsewhere.
    var memberIndex: Int?
    private var framer = JSONFramer()
    private var isReading = false
    /// Whether a cursor of the current element ran out of bytes; the cursors write it.
    private let shortage: UnsafeMutablePointer<Bool> = {
        let flag = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
        flag.initialize(to: false)
        return flag
    }()

    /// Cursors point into the window only while `isReading` is true. The window is not modified
    /// then.
    var window: JSONWindow
    var inputEnded = false

    /// The number of bytes requested from a source at a time.
    static let windowByteCount = 256 << 10

    /// Creates a reader for the output of a function.
    ///
    /// - Parameters:
    ///   - layout: The location of the elements; an array that is the whole document by default.
    ///   - options: Parsing choices and limits.
    ///   - windowByteCount: The number of bytes requested at a time; 256 KiB by default. A longer
    ///     element makes the window grow, up to ``JSONReader/Options/maximumElementByteCount``.
    ///   - source: Fills a buffer. Its errors are rethrown unchanged when elements are read.
    public init(
        layout: JSONReader.Layout = .array(), options: JSONReader.Options = JSONReader.Options(),
        windowByteCount: Int = 256 << 10,
        source: @escaping Source
    ) {
        self.layout = layout
        self.options = options
        self.source = source
        probes = layout.probes
        nameProbes = layout.nameProbes
        hasMembers = layout.members != nil
        addedKey = layout.members?.key
        window = JSONWindow(capacity: windowByteCount)
    }

    /// Creates a reader without a source. Push its input with `append(_:)` and then call
    /// ``finish()``.
    ///
    /// - Parameters:
    ///   - layout: The location of the elements; an array that is the whole document by default.
    ///   - options: Parsing choices and limits.
    public init(layout: JSONReader.Layout = .array(), options: JSONReader.Options = JSONReader.Options()) {
        self.layout = layout
        self.options = options
        source = nil
        probes = layout.probes
        nameProbes = layout.nameProbes
        hasMembers = layout.members != nil
        addedKey = layout.members?.key
        window = JSONWindow(capacity: 4096)
    }

    deinit { shortage.deallocate() }

    // MARK: Pulling

    /// Reads the next element as a tree.
    ///
    /// - Parameter exactDecimals: Whether a number with a fraction or an exponent is kept as text;
    ///   false by default.
    /// - Returns: The element, or nil at the end. A reader without a source also returns nil until
    ///   more input is appended.
    /// - Throws: ``JSONError`` with the location in the whole input, or an error of the source.
    public func nextValue(exactDecimals: Bool = false) throws -> JSONValue? {
        try next { cursor in try JSONValue(&cursor, exactDecimals: exactDecimals) }
    }

    /// Reads the next element with a function.
    ///
    /// The function may be called more than once for an element whose last bytes had not arrived.
    /// It should build its result and have no side effects, unless `isWhole` is true. The reader
    /// skips any rest of the element that the function leaves unread, but still validates it.
    ///
    /// - Parameters:
    ///   - isWhole: Whether the function is called only when the whole element has arrived, once
    ///     for each element. It may then have side effects. False by default, which is faster.
    ///   - body: Reads the element. The cursor is valid only during the call.
    /// - Returns: The result of the function; nil at the end. A reader without a source also
    ///   returns nil until more input is appended.
    /// - Throws: ``JSONError`` with the location in the whole input, or an error of the source or
    ///   the function. After malformed or oversized input, every later call throws the same error.
    ///   After a mismatch or any other error of the function, the next call reads the same element
    ///   again.
    package func next<Result>(
        isWhole: Bool = false, _ body: (inout JSONCursor) throws -> Result
    ) throws -> Result? {
        precondition(!isReading, "a reader is not to be used from inside its own element")
        while true {
            switch phase {
            case .element:
                guard let result = try readObject(isWhole: isWhole, body) else { return nil }
                phase = hasMembers && memberIndex == nil ? .member(.afterValue) : .separator(isFirst: false)
                elementCount += 1
                return result
            case .single:
                guard let result = try readObject(isWhole: isWhole, body) else { return nil }
                switch layout.kind {
                case .lines: phase = .betweenLines(hasNewline: false)
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

    /// Whether the input has been read completely and without an error.
    public var isFinished: Bool {
        if case .finished = phase { true } else { false }
    }

    // MARK: Pushing

    /// Appends input. The reader must have no source, and ``finish()`` must not have been called.
    ///
    /// - Throws: ``JSONError/exceeded(_:_:)`` if the input exceeds
    ///   ``JSONReader/Options/maximumTotalByteCount``.
    public func append(_ bytes: some Collection<UInt8>) throws {
        let handled: Void? = try bytes.withContiguousStorageIfAvailable { try append(UnsafeRawBufferPointer($0)) }
        if handled == nil { try Array(bytes).withUnsafeBytes { try append($0) } }
    }

    /// Appends input. The reader must have no source, and ``finish()`` must not have been called.
    ///
    /// - Throws: ``JSONError/exceeded(_:_:)`` if the input exceeds
    ///   ``JSONReader/Options/maximumTotalByteCount``.
    public func append(_ bytes: UnsafeRawBufferPointer) throws {
        precondition(!isReading && source == nil && !inputEnded, "this reader takes no input")
        window.append(bytes)
        try checkTotal()
    }

    /// Marks the end of the input. Nothing may be appended afterwards.
    public func finish() {
        inputEnded = true
    }

    /// Consumes white space and peeks at the next byte.
    @inline(__always)
    func peek() throws -> Peek {
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

    /// Reads the value at the first unread byte, again each time more of it has arrived.
    ///
    /// - Parameter isWhole: Whether to wait for all bytes of the value.
    /// - Returns: The result of `body`; nil if more input is needed first.
    func readElement<Result>(
        isWhole: Bool = false, _ body: (inout JSONCursor) throws -> Result
    ) throws -> Result? {
        while window.count == 0, !inputEnded {
            guard try fill() else { return nil }
        }
        if case .element = phase, case .starved = try peek() { return nil }
        while true {
            if framer.isClosed || inputEnded || !(isWhole || framer.isActive) {
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

    /// Calls `body` with a cursor over the unread bytes.
    ///
    /// - Returns: The result of `body`; nil if the value continues beyond the unread bytes.
    @inline(__always)
    private func attempt<Result>(_ body: (inout JSONCursor) throws -> Result) throws -> Result? {
        let first = window.first
        let whole = JSONCursor(
            start: first, end: first + (framer.isClosed ? framer.byteCount : window.count),
            shortage: inputEnded || framer.isClosed ? nil : shortage, options: options)
        var cursor = whole
        shortage.pointee = false
        do {
            isReading = true
            defer { isReading = false }
            let result = try body(&cursor)
            if !shortage.pointee, !cursor.isComplete {
                cursor = whole
                try cursor.skipValue()
            }
            if shortage.pointee { return nil }
            let byteCount = cursor.byteOffset
            if byteCount > options.maximumElementByteCount { throw JSONFault(.elementSizeLimit, byteOffset: 0) }
            if options.duplicateKeys == .fail {
                try JSONDuplicateKeys.check(first, byteCount: byteCount, options: options)
            }
            window.start += byteCount
            return result
        } catch {
            if shortage.pointee { return nil }
            guard let fault = error as? JSONFault else { throw error }
            throw fail(fault.reason, byteOffset: fault.byteOffset)
        }
    }

    /// Reads the object in the element at the first unread byte; see ``readElement(isWhole:_:)``.
    @inline(__always)
    private func readObject<Result>(
        isWhole: Bool, _ body: (inout JSONCursor) throws -> Result
    ) throws -> Result? {
        if hasMembers, case .element = phase, let members = layout.members { return try readMember(members, body) }
        guard !layout.objectPath.isEmpty else { return try readElement(isWhole: isWhole, body) }
        return try readElement(isWhole: isWhole) { try Self.enter(layout.objectPath[...], &$0, body) }
    }

    /// Calls `body` with the cursor at the value that keys within an element lead to, or at null
    /// where an object on the way is null.
    private static func enter<Result>(
        _ keys: ArraySlice<[UInt8]>, _ cursor: inout JSONCursor, _ body: (inout JSONCursor) throws -> Result
    ) throws -> Result {
        guard let key = keys.first, try cursor.kind() != .null else { return try body(&cursor) }
        try cursor.beginObject()
        while let found = try cursor.nextKey() {
            guard found.equals(key) else {
                try cursor.skipValue()
                continue
            }
            var value = cursor
            let result = try enter(keys.dropFirst(), &value, body)
            try cursor.skipValue()
            while let other = try cursor.nextKey() {
                // Which of the two objects is meant is not to be guessed.
                if other.equals(key) { throw cursor.fault(.duplicateKey) }
                try cursor.skipValue()
            }
            return result
        }
        throw cursor.fault(.keyPathNotFound)
    }

    // MARK: Input

    /// Requests more input from the source.
    ///
    /// - Returns: Whether there is a source. If false, input has to be appended.
    func fill() throws -> Bool {
        guard let source else { return false }
        if try window.fill(from: source) == 0 { inputEnded = true }
        try checkTotal()
        return true
    }

    private func checkTotal() throws {
        if window.totalByteCount > options.maximumTotalByteCount { throw fail(.totalSizeLimit) }
    }

    // MARK: Errors

    /// The error for a byte that starts a value of another kind, or no value.
    func failUnexpected(_ byte: UInt8, _ reason: JSONError.Reason) -> JSONError {
        fail(JSONCursor.kind(startingWith: byte) == nil ? .unexpectedByte : reason)
    }

    /// Creates an error with its location in the whole input.
    ///
    /// Ends reading, unless the error is a mismatch inside an element.
    @inline(never)
    func fail(_ reason: JSONError.Reason, byteOffset: Int = 0) -> JSONError {
        var location = window.location(of: byteOffset)
        location.keyPath = keyPath(to: byteOffset)
        if reason == .keyPathNotFound { location.missing = missing(at: location) }
        if reason == .keyPathNotFound || reason == .notAnArray { location.lists = lists }
        let error = JSONError(reason, location)
        switch (phase, error) {
        case (.element, .mismatched), (.single, .mismatched): break
        default: phase = .failed(error)
        }
        return error
    }

    private func missing(at location: JSONError.Location) -> JSONError.Missing {
        guard case .key = phase else {
            let rest = layout.objectPath.map { String(decoding: $0, as: UTF8.self) }
            let isWithinElement = !rest.isEmpty && location.keyPath != layout.pathText
            return JSONError.Missing(
                keyPath: isWithinElement ? ([location.keyPath] + rest).joined(separator: ".") : layout.pathText)
        }
        return JSONError.Missing(keyPath: layout.pathText, presentKeys: passedKeys)
    }

    private func keyPath(to byteOffset: Int) -> String {
        let outer: String
        switch phase {
        case .element where hasMembers:
            outer = layout.pathText + "." + String(decoding: memberKey.dropFirst().dropLast(), as: UTF8.self)
        case .element: outer = layout.pathText + "[\(elementCount)]"
        case .separator, .member, .memberColon, .indexed, .null: outer = layout.pathText
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
