import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper

/// The arguments of `sync` that concern the server.
struct ServerArguments: Equatable {
    /// The name of a common API; nil if none was named.
    var api: String?
    /// The body of each request, which may be `null`; nil for GET requests.
    var body: JSONValue?
    /// How the next page is found; nil if it was not said.
    var pages: String?
    /// The signs of the last page.
    var ends: [HTTPAPI.Pages.End] = []
    /// Whether absent objects are kept if the server counts more objects than it lists.
    var isTotalExact = true
    /// Whether all pages show the same state, and may repeat objects.
    var isSnapshot = false
    /// How many objects a page is requested with; nil for the server's default.
    var pageSize: HTTPAPI.Pages.Size?
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
    /// How long the server may be away; 30 s by default.
    var outage = Duration.seconds(30)
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
            let names = HTTPAPI.all.map(\.name) + ["elasticsearch:FIELD", "graphql:CONNECTION"]
            let name: String = try scanner.value(
                of: option, as: "one of \(names.joined(separator: ", "))"
            ) { HTTPAPI.common($0) == nil ? nil : $0 }
            api = name
        case "--body":
            let json: JSONValue = try scanner.value(of: option, as: "JSON, or @FILE with JSON") { text in
                let content =
                    text.hasPrefix("@") ? try? String(contentsOfFile: String(text.dropFirst()), encoding: .utf8) : text
                return content.flatMap { try? JSONValue(parsing: $0) }
            }
            body = json
        case "--pages":
            let ways = "auto, link, link:FIELD, links:FIELD, cursor:FIELD:PARAM, header:NAME[:PARAM], body:FIELD:FIELD"
            let way: String = try scanner.value(
                of: option, as: "one of \(ways), last:FIELD:PARAM, parameters:FIELD, page:PARAM, offset:PARAM"
            ) { HTTPAPI.Pages(argument: $0) == nil ? nil : $0 }
            pages = way
        case "--last-page":
            ends.append(
                try scanner.value(
                    of: option, as: "one of short, set:FIELD, unset:FIELD, total:FIELD, status:N",
                    HTTPAPI.Pages.End.init(argument:)))
        case "--inexact-total":
            isTotalExact = try !scanner.flag(option)
        case "--snapshot":
            isSnapshot = try scanner.flag(option)
        case "--page-size":
            let size: HTTPAPI.Pages.Size = try scanner.value(of: option, as: "PARAM:N, such as per_page:100") { text in
                let parts = text.split(separator: ":", omittingEmptySubsequences: false)
                guard parts.count == 2, !parts[0].isEmpty, let count = Int(parts[1]), count > 0 else { return nil }
                return HTTPAPI.Pages.Size(parameter: String(parts[0]), count: count)
            }
            pageSize = size
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
        case "--outlast":
            outage = try scanner.interval(of: option)
        default:
            guard try scanner.takeHeaders(of: option, into: &headers) else { return false }
        }
        options.append(option)
        return true
    }
}
