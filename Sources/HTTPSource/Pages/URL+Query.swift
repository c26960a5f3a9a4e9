import Foundation
import HTTPTransfer

extension URL {
    func setting(_ size: HTTPAPI.Pages.Size?) -> URL {
        size.map { setting($0.parameter, to: String($0.count)) } ?? self
    }

    /// The same address with one query parameter set.
    ///
    /// Everything except letters, digits and `-._~` is escaped, because most servers read a plus
    /// sign as a space.
    func setting(_ parameter: String, to value: String) -> URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        let name = HTTPAddress.escaped(parameter, allowing: "", keepsEscapes: false)
        let escapedValue = HTTPAddress.escaped(value, allowing: "", keepsEscapes: false)
        // A parameter may be written with or without escapes.
        let others = (parts.percentEncodedQuery ?? "").split(separator: "&").filter { item in
            let written = item.prefix { $0 != "=" }
            return written != name && written.removingPercentEncoding != parameter
        }
        parts.percentEncodedQuery = (others + ["\(name)=\(escapedValue)"]).joined(separator: "&")
        return parts.url ?? self
    }
}
