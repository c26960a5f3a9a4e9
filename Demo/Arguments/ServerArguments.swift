import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper

/// What `sync` was told about the server that has the JSON.
struct ServerArguments: Equatable {
    /// How the server hands out its list.
    enum Pages: Hashable {
        case single
        case link
        case linkField(String)
        case cursor(keyPath: String, parameter: String)
        case page(parameter: String)

        /// Reads what a person writes; nil where it is no way.
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

        /// The same in the source's words.
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

    /// The name of a common API; nil if none was named.
    var api: String?
    /// The body of each request as JSON; nil for GET requests.
    var body: String?
    /// How the list goes on; nil if it was not said.
    var pages: Pages?
    /// The field of each object that says when it changed; nil where the server cannot be asked for changes.
    var sinceKeyPath: String?
    /// The query parameter that it is asked by.
    var sinceParameter = "since"
    /// The pause between two syncs; nil for a single one.
    var interval: Duration?
    /// How many requests a second; nil for as many as there are.
    var requestsPerSecond: Double?
    /// How long a sync may take; nil for any time.
    var timeout: Duration?
    /// What is sent with each request.
    var headers = HTTPHeaders()
    /// The options that were given.
    private(set) var options: [String] = []

    /// Takes an option that is about a server.
    ///
    /// - Returns: Whether it is one.
    mutating func take(_ option: String, _ scanner: inout ArgumentScanner) throws(UsageError) -> Bool {
        switch option {
        case "--api":
            let names = HTTPAPI.all.map(\.name)
            api = try scanner.value(of: option, as: "one of \(names.joined(separator: ", "))") { text in
                names.first { $0 == text }
            }
        case "--body":
            body = try scanner.value(of: option, as: "JSON, or @FILE with JSON") { text in
                let json =
                    text.hasPrefix("@") ? try? String(contentsOfFile: String(text.dropFirst()), encoding: .utf8) : text
                return json.flatMap { (try? JSONValue(parsing: $0)) == nil ? nil : $0 }
            }
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
            requestsPerSecond = try scanner.rate(of: option)
        case "--timeout":
            timeout = try scanner.interval(of: option)
        default:
            guard try scanner.takeHeaders(of: option, into: &headers) else { return false }
        }
        options.append(option)
        return true
    }
}
