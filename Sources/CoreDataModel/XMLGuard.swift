import Foundation

/// A check of a file's bytes before they reach the XML parser.
///
/// It rejects:
///
/// - Document types, and with them all entity declarations.
/// - Processing instructions. FoundationXML's parser dereferences a null pointer for one without
///   content, such as `<?a?>`.
/// - Elements with more attributes than `ModelFile.maximumElementAttributeCount`. A quotation mark
///   after `=` counts as an attribute, also inside a value or a comment.
/// - Encodings other than UTF-8. The guard reads the XML declaration and replaces it with spaces,
///   so that the parser cannot interpret it differently.
///
/// Model files contain none of these. `<?`, and `<!` that starts neither a comment nor character
/// data, are therefore rejected everywhere, even inside comments. This way, the guard and the
/// parser cannot disagree on the extent of a comment.
enum XMLGuard {
    /// Returns the bytes for the parser, with spaces in place of the XML declaration.
    ///
    /// - Throws: `ModelFile.Failure.unsupportedEncoding`, `documentType`, `processingInstruction`
    ///   or `tooManyElementAttributes`. The XML parser reports all other errors.
    static func checked(_ data: Data, file: String) throws(ModelFile.Failure) -> Data {
        guard !data.contains(0), String(data: data, encoding: .utf8) != nil else {
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
        var attributeCount = 0
        var isAfterEqualSign = false
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "="): isAfterEqualSign = true
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): break
            case UInt8(ascii: "<"): (attributeCount, isAfterEqualSign) = (0, false)
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if isAfterEqualSign { attributeCount += 1 }
                isAfterEqualSign = false
            default: isAfterEqualSign = false
            }
            guard attributeCount <= ModelFile.maximumElementAttributeCount else {
                throw .tooManyElementAttributes(file: file, line: line)
            }
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

    /// Returns the index after the XML declaration, or nil if there is none.
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

    /// Returns whether a declaration names UTF-8 or ASCII, or no encoding.
    private static func announcesUTF8(_ declaration: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: declaration, as: UTF8.self).lowercased()
        guard let encoding = text.range(of: "encoding") else { return true }
        // As bytes, because "\r\n" is one character.
        let value = text[encoding.upperBound...].utf8.drop { " \t\r\n=\"'".utf8.contains($0) }
        let name = value.prefix { !" \t\r\n\"'?".utf8.contains($0) }
        return ["utf-8", "utf8", "us-ascii", "ascii"].contains(String(Substring(name)))
    }
}
