import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper

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
            guard parts.allSatisfy({ !$0.isEmpty && $0 != "?" }) else { return nil }
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
            case .linkField(let field): Self.pages(by: field) { .linkField(keyPath: $0) }
            case .cursor(let field, let parameter): Self.pages(by: field) { .cursor(keyPath: $0, parameter: parameter) }
            case .page(let parameter): .page(parameter: parameter)
            }
        }

        /// The pages that a field leads through. A question mark behind it means that the last page
        /// may lack it.
        private static func pages(by field: String, _ pages: (_ keyPath: String) -> HTTPPages) -> HTTPPages {
            field.hasSuffix("?") ? pages(String(field.dropLast())).omittingLastPointer() : pages(field)
        }
    }

    /// The name of a common API; nil if none was named.
    var api: String?
    /// The body of each request as JSON; nil for GET requests.
    var body: String?
    /// How the list goes on; nil if it was not said.
    var pages: Pages?
    /// The field of each object that says when it changed; nil where the server cannot be asked for
    /// changes.
    var sinceKeyPath: String?
    /// The query parameter for changes since a date.
    var sinceParameter = "since"
    /// The pause between two syncs; nil for a single sync.
    var interval: Duration?
    /// The maximum number of requests per second; nil for no limit.
    var requestsPerSecond: Double?
    /// How long a sync may take; nil for any time.
    var timeout: Duration?
    /// What is sent with each request.
    var headers = HTTPHeaders()
    /// The server options that were given.
    private(set) var options: [String] = []

    /// Reads an option that concerns the server.
    ///
    /// - Returns: False if the option is not such an option.
    mutating func take(_ option: String, _ scanner: inout ArgumentScanner) throws(UsageError) -> Bool {
        switch option {
        case "--api":
            let names = HTTPAPI.all.map(\.name) + ["elasticsearch:FIELD"]
            api = try scanner.value(of: option, as: "one of \(names.joined(separator: ", "))") { text in
                HTTPAPI.common(text) == nil ? nil : text
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
