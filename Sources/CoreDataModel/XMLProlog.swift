import Foundation

/// Looks at what precedes the outermost element, before an XML parser sees any of it.
///
/// A document type can stand nowhere else, so that refusing it here keeps entities of any kind from the parser.
struct XMLProlog {
    private let bytes: Data
    private let file: String
    private var index: Data.Index
    private var line = 1

    /// Checks the start of a file.
    ///
    /// - Throws: `ModelFileError.unsupportedEncoding` for anything but UTF-8, `documentType` for a document type. What
    ///   else may be wrong is left to the XML parser.
    static func check(_ bytes: Data, file: String) throws(ModelFileError) {
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            throw .unsupportedEncoding(file: file)
        }
        var prolog = XMLProlog(bytes: bytes, file: file, index: bytes.startIndex)
        try prolog.check()
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
        if starts(with: "<?xml") {
            try checkEncoding()
        }
        while index < bytes.endIndex {
            if starts(with: "<?") {
                skip(past: "?>")
            } else if starts(with: "<!--") {
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
