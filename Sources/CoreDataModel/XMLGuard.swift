import Foundation

/// Looks at the bytes of a file before an XML parser sees any of them, for what must not reach it.
///
/// - A document type, and with it every entity. It can stand nowhere but before the outermost element.
/// - Processing instructions: FoundationXML's parser reads past a null pointer at one without content, as in `<?a?>`. No
///   model file has any, so that `<?` is refused wherever it stands, comments included.
struct XMLGuard {
    private let bytes: Data
    private let file: String
    private var index: Data.Index
    private var line = 1

    /// Checks a file.
    ///
    /// - Throws: `ModelFileError.unsupportedEncoding` for anything but UTF-8, `documentType`, `processingInstruction`. What
    ///   else may be wrong is left to the XML parser.
    static func check(_ bytes: Data, file: String) throws(ModelFileError) {
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            throw .unsupportedEncoding(file: file)
        }
        var contents = XMLGuard(bytes: bytes, file: file, index: bytes.startIndex)
        try contents.check()
    }

    private init(bytes: Data, file: String, index: Data.Index) {
        self.bytes = bytes
        self.file = file
        self.index = index
    }

    private mutating func check() throws(ModelFileError) {
        if starts(with: "\u{FEFF}") {
            skip(3)
        }
        if starts(with: "<?xml ") || starts(with: "<?xml\t") || starts(with: "<?xml\n") || starts(with: "<?xml\r") {
            try checkEncoding()
            skip(past: "?>")
        }
        try checkInstructions()
        while index < bytes.endIndex {
            if starts(with: "<!--") {
                skip(past: "-->")
            } else if starts(with: "<!") {
                throw .documentType(file: file, line: line)
            } else if starts(with: "<") {
                return
            } else {
                skip(1)
            }
        }
    }

    private func checkInstructions() throws(ModelFileError) {
        var ahead = self
        while let next = bytes[ahead.index...].firstIndex(of: UInt8(ascii: "<")) {
            ahead.skip(next - ahead.index)
            guard !ahead.starts(with: "<?") else { throw .processingInstruction(file: file, line: ahead.line) }
            ahead.skip(1)
        }
    }

    /// The declaration must not announce another encoding than the one that was found.
    private func checkEncoding() throws(ModelFileError) {
        let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.endIndex
        let declaration = String(decoding: bytes[index..<end], as: UTF8.self).lowercased()
        guard let encoding = declaration.range(of: "encoding") else { return }
        let value = declaration[encoding.upperBound...].drop { " \t\r\n=\"'".contains($0) }
        guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(String(value.prefix { !" \t\r\n\"'?".contains($0) }))
        else { throw .unsupportedEncoding(file: file) }
    }

    private func starts(with text: String) -> Bool {
        bytes[index...].starts(with: text.utf8)
    }

    private mutating func skip(past text: String) {
        while index < bytes.endIndex, !starts(with: text) {
            skip(1)
        }
        skip(text.utf8.count)
    }

    private mutating func skip(_ count: Int) {
        let end = min(index + count, bytes.endIndex)
        line += bytes[index..<end].count { $0 == UInt8(ascii: "\n") }
        index = end
    }
}
