import Foundation
import HTTPSource
import HTTPTransfer

/// The arguments of `sync` that concern the server.
struct ServerArguments: Equatable {
    /// The pagination of the server's list.
    enum Pages: Hashable {
        case single
        case link
        case linkField(String)
        case cursor(keyPath: String, parameter: String)
        case page(parameter: String)

        /// Creates a pagination from a command-line value, or nil if the value is invalid.
        init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.allSatisfy({ !$0.isEmpty }) else { return nil }
            switch (parts[0], parts.count) {
            case ("link", 1): self = .link
            case ("link", 2): self = .linkField(parts[1])
            case ("cursor", 3): self = .cursor(keyPath: parts[1], parameter: parts[2])
            case ("page", 2): self = .page(parameter: parts[1])
            default: return nil
            }
        }

        /// The equivalent pagination of the HTTP source.
        var pages: HTTPPages {
            switch self {
            case .single: .single
            case .link: .link
            case .linkField(let keyPath): .linkField(keyPath: keyPath)
            case .cursor(let keyPath, let parameter): .cursor(keyPath: keyPath, parameter: parameter)
            case .page(let parameter): .page(parameter: parameter)
            }
        }
    }

    var pages = Pages.single
    /// The path of the field with an object's modification date; nil for full syncs only.
    var sinceKeyPath: String?
    /// The query parameter for changes since a date.
    var sinceParameter = "since"
    /// The pause between two syncs; nil for a single sync.
    var interval: Duration?
    /// The maximum number of requests per second; nil for no limit.
    var requestsPerSecond: Double?
    /// The headers of every request.
    var headers = HTTPHeaders()
    /// The server options that were given.
    private(set) var options: [String] = []

    /// Reads an option that concerns the server.
    ///
    /// - Returns: False if the option is not such an option.
    mutating func take(_ option: String, _ scanner: inout ArgumentScanner) throws(UsageError) -> Bool {
        switch option {
        case "--pages":
            pages = try scanner.value(
                of: option, as: "one of link, link:FIELD, cursor:FIELD:PARAM, page:PARAM", Pages.init)
        case "--since":
            let parts = try scanner.value(of: option, as: "FIELD or FIELD:PARAM, such as updated_at:since") { text in
                let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
                return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty } ? parts : nil
            }
            sinceKeyPath = parts[0]
            if parts.count == 2 { sinceParameter = parts[1] }
        case "--every":
            interval = try scanner.interval(of: option)
        case "--rate":
            let rate: Double = try scanner.value(of: option, as: "requests per second, such as 10/s") { text in
                let number = Double(text.hasSuffix("/s") ? String(text.dropLast(2)) : text)
                return number.flatMap { (0.001...1_000_000).contains($0) ? $0 : nil }
            }
            requestsPerSecond = rate
        case "--header":
            // The value can be a secret, so messages do not contain it.
            let text = try scanner.text(of: option, as: "a field such as 'Accept-Language: en'")
            guard let colon = text.firstIndex(of: ":"), colon > text.startIndex, !text.contains(where: \.isNewline)
            else {
                throw scanner.error("--header needs a field such as 'Accept-Language: en'")
            }
            let value = text[text.index(after: colon)...]
            headers[String(text[..<colon])] = value.trimmingCharacters(in: .whitespaces)
        default: return false
        }
        options.append(option)
        return true
    }
}
