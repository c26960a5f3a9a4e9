import JSONMapper

/// What came out of reading: the values before the end, or before the error.
private struct Outcome: Equatable {
    var values: [JSONValue] = []
    var error: JSONError?

    init(_ reader: JSONReader, appending pieces: [ArraySlice<UInt8>] = []) {
        do {
            for piece in pieces {
                try reader.append(piece)
                while let value = try reader.next({ try JSONValue(&$0) }) { values.append(value) }
            }
            if !pieces.isEmpty { reader.finish() }
            while let value = try reader.next({ try JSONValue(&$0) }) { values.append(value) }
        } catch {
            self.error = (error as? JSONError)?.withoutLists
        }
    }
}

extension JSONError {
    /// The same error without the lists that it names, which depend on how much of the document had
    /// arrived.
    fileprivate var withoutLists: JSONError {
        guard case .mismatched(let reason, var location) = self else { return self }
        location.lists = []
        return .mismatched(reason, location)
    }
}

/// Called by libFuzzer with every input it thinks up; without it, this program does nothing.
///
/// The last byte chooses layout and options, so that JSON files are useful seeds. Reading in small
/// pieces must give what reading at once gives, skipping must accept what building a tree accepts,
/// and what is written must read back as the same value.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    guard let choice = input.last else { return 0 }
    let bytes = Array(input.dropLast())
    let layouts: [JSONReader.Layout] = [
        .document, .array(), .array(at: "a.b"), .lines, .array(at: "a", acceptsSingleObject: true),
    ]
    let layout = layouts[Int(choice & 7) % layouts.count]
    var options = JSONReader.Options()
    if choice & 8 != 0 { options.loneSurrogates = .replace }
    if choice & 16 != 0 { options.duplicateKeys = .fail }
    if choice & 32 != 0 { options.maximumDepth = 3 }

    let whole = Outcome(JSONReader(bytes: bytes, layout: layout, options: options))
    var rest = bytes[...]
    let stride = Int(choice >> 6) + 1
    let pieces = Outcome(
        JSONReader(layout: layout, options: options, windowByteCount: 16) { buffer in
            let count = min(stride, buffer.count, rest.count)
            rest.prefix(count).withUnsafeBytes { buffer.copyMemory(from: $0) }
            rest = rest.dropFirst(count)
            return count
        })
    precondition(whole == pieces, "pieces give something else")
    let middle = bytes.count * Int(choice) / 256
    let halves = Outcome(
        JSONReader(layout: layout, options: options), appending: [bytes[..<middle], bytes[middle...]])
    precondition(whole == halves, "appended halves give something else")

    let skipping = JSONReader(bytes: bytes, layout: layout, options: options)
    var skipError: JSONError?
    do {
        while try skipping.next({ try $0.skipValue() }) != nil {}
    } catch {
        skipError = (error as? JSONError)?.withoutLists
    }
    precondition(
        skipError == whole.error && skipping.elementCount == whole.values.count, "skipping gives something else")

    for value in whole.values {
        var writer = JSONWriter(style: choice & 64 != 0 ? .pretty : .compact)
        precondition((try? writer.value(value)) != nil, "what was read cannot be written")
        precondition((try? JSONValue(parsing: writer.bytes)) == value, "what was written reads otherwise")
    }
    return 0
}
