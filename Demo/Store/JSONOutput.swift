import JSONMapper

/// A writer of exported objects to standard output.
///
/// An actor, because an export hands out its pieces concurrently.
actor JSONOutput {
    /// The layout of the objects.
    enum Layout: Equatable {
        /// A JSON array with an object on each line.
        case array
        /// Newline-delimited JSON: an object on each line, and nothing else.
        case lines
        /// An indented JSON array.
        case pretty
    }

    private let layout: Layout
    private let console: Console
    private let reader = JSONReader(layout: .array())

    init(_ layout: Layout, console: Console) {
        self.layout = layout
        self.console = console
    }

    /// The style in which the objects must be exported.
    nonisolated var style: JSONWriter.Style { layout == .pretty ? .pretty : .compact }

    /// Writes the next piece of an exported array.
    ///
    /// - Throws: ``ConsoleError`` if standard output fails.
    func write(_ piece: [UInt8]) throws {
        if layout == .pretty {
            // A piece ends between two objects, so no character is split.
            console.write(String(decoding: piece, as: UTF8.self))
        } else {
            try reader.append(piece)
            try writeObjects()
        }
        try console.checkOutput()
    }

    /// Writes the end.
    func finish() throws {
        if layout == .pretty {
            console.print()
        } else {
            reader.finish()
            try writeObjects()
            if layout == .array { console.print(reader.elementCount == 0 ? "[]" : "\n]") }
        }
        try console.checkOutput()
    }

    private func writeObjects() throws {
        var text: [UInt8] = []
        while let object = try reader.next({ cursor in try cursor.rawValue().withUTF8 { Array($0) } }) {
            if layout == .array { text += (reader.elementCount == 1 ? "[\n" : ",\n").utf8 }
            text += object
            if layout == .lines { text.append(UInt8(ascii: "\n")) }
        }
        if !text.isEmpty { console.write(String(decoding: text, as: UTF8.self)) }
    }
}
