/// A request as received.
package struct LoopbackRequest: Sendable {
    /// The method as sent, such as `GET`.
    package let method: String
    /// The request target as sent, such as `/items/a%20b?page=2`.
    package let target: String
    /// The header fields in the order received, with lowercase names and trimmed values.
    package let headers: [(name: String, value: String)]
    /// The body; empty if there is none.
    package internal(set) var body: [UInt8] = []

    /// Returns the value of the first field with a case-insensitive name; nil if there is none.
    package func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name == name }?.value
    }

    /// The percent-decoded target up to the question mark, such as `/items/a b`.
    package var path: String {
        Self.percentDecoded(target.prefix { $0 != "?" })
    }

    /// Returns the percent-decoded value of the first query item with a name.
    ///
    /// The result is nil if there is no such item, and empty if the item has no value.
    package func query(_ name: String) -> String? {
        guard let mark = target.firstIndex(of: "?") else { return nil }
        for pair in target[target.index(after: mark)...].split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let first = parts.first, Self.percentDecoded(first) == name {
                return parts.count == 2 ? Self.percentDecoded(parts[1]) : ""
            }
        }
        return nil
    }

    /// Creates a request from its request line and header fields (RFC 9112, sections 3 and 5).
    ///
    /// - Parameter head: The bytes before the empty line, with lines separated by CR LF.
    /// - Returns: Nil if the bytes are not an HTTP/1 request.
    init?(head: some Sequence<UInt8>) {
        let lines = String(decoding: Array(head), as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        let start = lines.first?.split(separator: " ") ?? []
        guard start.count == 3, start[2].hasPrefix("HTTP/1."), start[1].hasPrefix("/") else { return nil }
        var headers: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            let end = value.lastIndex { $0 != " " && $0 != "\t" }.map(value.index(after:)) ?? value.startIndex
            headers.append((line[..<colon].lowercased(), String(value[..<end])))
        }
        self.method = String(start[0])
        self.target = String(start[1])
        self.headers = headers
    }

    private static func percentDecoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
