import Foundation

extension URL {
    func setting(_ size: HTTPPages.Size?) -> URL {
        size.map { setting($0.parameter, to: String($0.count)) } ?? self
    }

    /// The same address with one parameter of the query set. What is not a letter, a digit or one
    /// of `-._~` is escaped: a plus sign means a space to most servers.
    func setting(_ parameter: String, to value: String) -> URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        let name = Self.escaped(parameter)
        let others = (parts.percentEncodedQuery ?? "").split(separator: "&").filter { item in
            item != name && !item.hasPrefix("\(name)=")
        }
        parts.percentEncodedQuery = (others + ["\(name)=\(Self.escaped(value))"]).joined(separator: "&")
        return parts.url ?? self
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII,
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-._~".unicodeScalars.contains(scalar)
            {
                escaped.unicodeScalars.append(scalar)
            } else {
                escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return escaped
    }
}
