import JSONMapper
import StoreSync

/// Converts bodies to what the mapper reads, piece by piece: open-ended formats to a value on each
/// line, and others to an array of objects.
struct BodyRecoder: Sendable {
    private enum Mode {
        /// Newline-delimited JSON whose last line may be the sign of the end.
        case lines
        /// Server-sent events of some types; all for an empty set.
        case events(types: Set<String>)
        /// A document of JSON:API.
        case jsonAPI
    }

    /// The maximum number of bytes of an event, and of a part of the body that is held back. The
    /// mapper refuses an element of this size.
    static let maximumByteCount = JSONReader.Options().maximumElementByteCount
    /// The type of events with which servers report errors.
    private static let errorType = "error"

    private let mode: Mode
    private let endSign: HTTPAPI.EndSign?
    /// The last line, which is held back until the next one begins, because it may be the sign of
    /// the end.
    private var held: [UInt8] = []
    /// Whether the line that is held back is complete.
    private var isLineComplete = false
    /// Whether the body ended with the sign of its end.
    private(set) var hasEndSign = false
    /// Whether the data of an event was returned.
    private var hasRows = false
    /// Whether the stream ended before its end.
    private var hasEnded = false
    private var events: EventParser
    private let limit: Int
    /// The data of the event that reports an error; nil if there is none.
    private(set) var failure: [UInt8]?
    /// The document of JSON:API so far, whose end may have what its beginning refers to.
    private var document: [UInt8] = []

    /// Creates a recoder; nil for a format that needs none.
    ///
    /// - Parameters:
    ///   - endSign: The element that is no object, and ends the body; nil for none.
    ///   - limit: The maximum number of bytes that are held back. More are passed on, so that the
    ///     mapper reports an element that is too large.
    init?(
        _ format: HTTPAPI.Format, endSign: HTTPAPI.EndSign? = nil,
        limit: Int = BodyRecoder.maximumByteCount
    ) {
        self.endSign = endSign
        self.limit = limit
        events = EventParser(limit: limit)
        switch format {
        case .array: return nil
        case .lines:
            // The mapper reads lines as they are.
            guard case .line = endSign else { return nil }
            mode = .lines
        case .events(let types): mode = .events(types: types)
        case .jsonAPI: mode = .jsonAPI
        }
    }

    /// Returns the next bytes for the mapper.
    mutating func recode(_ bytes: [UInt8]) -> [UInt8] {
        var written: [UInt8] = []
        written.reserveCapacity(bytes.count + 64)
        switch mode {
        case .lines: lines(bytes, &written)
        case .events(let types): event(bytes, types, &written)
        case .jsonAPI: document += bytes
        }
        return written
    }

    /// Returns the last bytes for the mapper. An incomplete document remains incomplete.
    mutating func finish() -> [UInt8] {
        switch mode {
        case .lines:
            hasEndSign = isEndSign(held)
            return hasEndSign ? [] : held
        case .events:
            if hasEnded { return [] }
            // An event without its blank line may be incomplete.
            if events.isInEvent { return Self.unfinished }
            // The mapper reports anything other than a stream, which may be JSON.
            return hasRows ? [] : events.foreignLine.map { [UInt8(ascii: "]")] + $0 } ?? []
        case .jsonAPI:
            // The mapper reports a document that is not valid.
            // The limits of elements do not apply to the document; the client limits it.
            var options = JSONReader.Options()
            (options.maximumElementByteCount, options.maximumDepth) = (.max, .max)
            guard let value = try? JSONValue(parsing: document, options: options, exactDecimals: true) else {
                return document
            }
            var writer = JSONWriter()
            do { try writer.value(JSONAPIDocument.flattened(value)) } catch { return document }
            document = []
            return writer.bytes
        }
    }

    /// A value without an end, which the mapper reports as a body that was cut off.
    private static let unfinished = Array("{".utf8)

    private mutating func lines(_ bytes: [UInt8], _ written: inout [UInt8]) {
        if let last = bytes.lastIndex(where: { $0 > 0x20 }) {
            var begin = bytes.startIndex
            if let newline = bytes[..<last].lastIndex(of: UInt8(ascii: "\n")) {
                begin = newline + 1
                written = held + bytes[..<begin]
                held = []
            } else if isLineComplete {
                written = held
                held = []
            }
            held += bytes[begin...]
            isLineComplete = bytes[last...].contains(UInt8(ascii: "\n"))
        } else if !isLineComplete {
            held += bytes
            isLineComplete = bytes.contains(UInt8(ascii: "\n"))
        }
        guard held.count > limit else { return }
        written += held
        held = []
    }

    /// Whether a line is the sign of the end.
    private func isEndSign(_ line: [UInt8]) -> Bool {
        guard case .line(let keyPath) = endSign, let value = try? JSONValue(parsing: line) else { return false }
        return JSONKeyPath.keys(of: keyPath).reduce(value as JSONValue?) { $0?[$1] }?.isSet ?? false
    }

    private func isEndSign(_ event: HTTPEventStream.Event) -> Bool {
        if case .event(let type) = endSign { event.type == type } else { false }
    }

    private static func isRow(_ event: HTTPEventStream.Event, _ types: Set<String>) -> Bool {
        types.contains(event.type) || types.isEmpty && event.type != errorType
    }

    private mutating func event(_ bytes: [UInt8], _ types: Set<String>, _ written: inout [UInt8]) {
        guard !hasEnded else { return }
        do {
            for item in try events.append(bytes) {
                switch item {
                case .event(let event) where isEndSign(event): hasEndSign = true
                case .event(let event) where Self.isRow(event, types):
                    guard event.data.contains(where: { $0 > 0x20 }) else { continue }
                    written += event.data + [UInt8(ascii: "\n")]
                    (hasRows, hasEndSign) = (true, false)
                case .event(let event) where event.type == Self.errorType:
                    failure = event.data
                    return end(&written)
                case .event, .retry: break
                case .tooLarge: return end(&written)
                }
            }
        } catch {
            end(&written)
        }
    }

    /// Ends a stream that is not complete.
    private mutating func end(_ written: inout [UInt8]) {
        written += Self.unfinished
        hasEnded = true
    }
}
