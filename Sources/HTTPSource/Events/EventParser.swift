import HTTPTransfer

/// Reads a stream of server-sent events (HTML Standard, section 9.2.6) in bounded memory.
struct EventParser: Sendable {
    /// An item of a stream.
    enum Item: Sendable, Equatable {
        case event(HTTPEventStream.Event)
        /// The wait before the next connection.
        case retry(Duration)
        /// An event that was longer than the limit and was omitted.
        case tooLarge(id: String?)
    }

    /// The multiple of the limit at which an event without an end stops the stream.
    private static let patience = 16
    /// The maximum length of an identifier in bytes, because it is sent as a header field.
    private static let identifierByteCount = 1_024

    private let limit: Int
    /// The current line, up to the limit of the event.
    private var line: [UInt8] = []
    private var lineByteCount = 0
    private var data: [UInt8] = []
    private var hasData = false
    private var type = ""
    private var isFirstLine = true
    private var isAfterCarriageReturn = false
    private var isComment = false
    /// The number of bytes of the current event, without comments.
    private var byteCount = 0
    private var isTooLarge: Bool { byteCount > limit }
    /// Whether the blank line after an event is still missing.
    var isInEvent: Bool { byteCount > 0 }
    /// The identifier of the last event.
    private(set) var lastID: String?
    private var nextID: String?
    /// The first line without a known field name; nil if there is none. A body with only such lines
    /// is not an event stream.
    private(set) var foreignLine: [UInt8]?

    /// - Parameters:
    ///   - limit: The maximum number of bytes of an event.
    ///   - lastID: The identifier of the last event of the previous connection; nil if there was
    ///     none.
    init(limit: Int, lastID: String? = nil) {
        self.limit = limit
        self.lastID = lastID
        nextID = lastID
    }

    /// Returns the items that the next bytes complete.
    ///
    /// - Throws: ``TooLarge`` if an event appears to have no end.
    mutating func append(_ bytes: some Sequence<UInt8>) throws -> [Item] {
        var items: [Item] = []
        for byte in bytes {
            switch byte {
            case 0x0A where isAfterCarriageReturn: isAfterCarriageReturn = false
            case 0x0A, 0x0D:
                isAfterCarriageReturn = byte == 0x0D
                if let item = endLine() { items.append(item) }
            default:
                isAfterCarriageReturn = false
                if lineByteCount == 0, byte == UInt8(ascii: ":") { isComment = true }
                guard !isComment else { continue }
                lineByteCount += 1
                byteCount += 1
                if !isTooLarge { line.append(byte) } else if byteCount / Self.patience > limit { throw TooLarge() }
            }
        }
        return items
    }

    /// An event appears to have no end.
    struct TooLarge: Error {}

    private mutating func endLine() -> Item? {
        defer {
            line.removeAll(keepingCapacity: line.count < 4_096)
            lineByteCount = 0
            isComment = false
        }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) {
                line.removeFirst(3)
                lineByteCount -= 3
                byteCount -= 3
                isComment = line.first == UInt8(ascii: ":")
            }
        }
        if isComment { return nil }
        if lineByteCount == 0 { return dispatch() }
        // The rest of a too large event is not needed.
        guard !isTooLarge else { return nil }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line.dropFirst(name.count + 1)
        if value.first == 0x20 { value = value.dropFirst() }
        return field(String(decoding: name, as: UTF8.self), value)
    }

    private mutating func field(_ name: String, _ value: ArraySlice<UInt8>) -> Item? {
        switch name {
        case "event": type = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(0x0A) }
            hasData = true
            data += value
        case "id":
            // The identifier is sent back in a header field.
            let id = String(decoding: value, as: UTF8.self)
            if HTTPHeaders.isValue(id), value.count <= Self.identifierByteCount { nextID = id.isEmpty ? nil : id }
        case "retry":
            let isNumber = !value.isEmpty && value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isNumber else { return nil }
            // A longer wait counts as a day.
            let wait = Int(String(decoding: value, as: UTF8.self)) ?? .max
            return .retry(.milliseconds(min(wait, 86_400_000)))
        default: foreignLine = foreignLine ?? line
        }
        return nil
    }

    /// Ends an event.
    private mutating func dispatch() -> Item? {
        defer {
            (data, hasData, type, byteCount) = ([], false, "", 0)
        }
        lastID = nextID
        if isTooLarge { return .tooLarge(id: lastID) }
        guard hasData else { return nil }
        return .event(HTTPEventStream.Event(type: type.isEmpty ? "message" : type, id: lastID, data: data))
    }
}
