import Foundation

/// Looks at the bytes of a file before an XML parser sees any of them, for what must not reach it.
///
/// - Document types, and with them every entity.
/// - Processing instructions: FoundationXML's parser follows a null pointer at one without content,
///   as in `<?a?>`.
/// - Other encodings than UTF-8. The XML declaration is read here and hidden from the parser, so
///   that the two cannot disagree on where it ends or what it says.
///
/// No model file has any of these, so that `<?`, and `<!` that starts neither a comment nor
/// character data, are refused wherever they stand, comments included: no text can be read as a
/// comment here and as something else there.
enum XMLGuard {
    /// The bytes for the parser: those of the file, with spaces for the XML declaration.
    ///
    /// - Throws: `ModelFileError.unsupportedEncoding`, `documentType`, `processingInstruction`.
    ///   What else may be wrong is left to the XML parser.
    static func checked(_ data: Data, file: String) throws(ModelFileError) -> Data {
        guard !data.contains(0), String(validating: data, as: UTF8.self) != nil else {
            throw .unsupportedEncoding(file: file)
        }
        var bytes = [UInt8](data)
        let start = bytes.starts(with: "\u{FEFF}".utf8) ? 3 : 0
        if let end = endOfDeclaration(bytes, from: start) {
            guard announcesUTF8(bytes[start..<end]) else { throw .unsupportedEncoding(file: file) }
            for index in start..<end where bytes[index] != UInt8(ascii: "\n") {
                bytes[index] = UInt8(ascii: " ")
            }
        }
        var line = 1
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "\n") {
                line += 1
            } else if byte == UInt8(ascii: "<") {
                let rest = bytes[(index + 1)...]
                if rest.first == UInt8(ascii: "?") {
                    throw .processingInstruction(file: file, line: line)
                }
                if rest.first == UInt8(ascii: "!"), !rest.starts(with: "!--".utf8), !rest.starts(with: "![CDATA[".utf8)
                {
                    throw .documentType(file: file, line: line)
                }
            }
        }
        return Data(bytes)
    }

    /// The index after an XML declaration; nil where there is none.
    private static func endOfDeclaration(_ bytes: [UInt8], from start: Int) -> Int? {
        let opening = Array("<?xml".utf8)
        guard bytes[start...].starts(with: opening) else { return nil }
        let first = start + opening.count
        guard first < bytes.count, " \t\r\n".utf8.contains(bytes[first]) else { return nil }
        let closing = bytes[first...].indices.dropLast().first {
            bytes[$0] == UInt8(ascii: "?") && bytes[$0 + 1] == UInt8(ascii: ">")
        }
        return closing.map { $0 + 2 }
    }

    /// Whether a declaration names the encoding that was found, or none.
    private static func announcesUTF8(_ declaration: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: declaration, as: UTF8.self).lowercased()
        guard let encoding = text.range(of: "encoding") else { return true }
        let value = text[encoding.upperBound...].drop { " \t\r\n=\"'".contains($0) }
        return ["utf-8", "utf8", "us-ascii", "ascii"].contains(String(value.prefix { !" \t\r\n\"'?".contains($0) }))
    }
}
