import SyncBase

/// Basic parts of SQL text.
package enum SQLText {
    /// A name in double quotes, which may contain any characters.
    package static func name(_ name: String) -> String {
        "\"\(name.replacing(byte: UInt8(ascii: "\""), with: "\"\""))\""
    }

    /// Names in double quotes, separated by commas.
    package static func names(_ names: some Sequence<String>) -> String {
        names.map(name).joined(separator: ", ")
    }

    /// Bytes as hexadecimal digits.
    package static func hexadecimal(_ data: some Sequence<UInt8>) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A text as a literal.
    package static func literal(_ text: String) -> String {
        "'\(text.replacing(byte: UInt8(ascii: "'"), with: "''"))'"
    }
}
