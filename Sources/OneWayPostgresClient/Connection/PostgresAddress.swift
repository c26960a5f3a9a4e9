#if Postgres
import COneWayLibpq
import Foundation

/// The address of a server: a connection string that is never included in descriptions, dumps or
/// errors.
package struct PostgresAddress: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The original string, which may contain a password.
    let connectionString: String

    /// Creates an address from a connection string.
    ///
    /// Source: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
    package init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    package var description: String { "PostgresAddress" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }

    /// One of the hosts that a connection string lists.
    struct Host: Sendable, Hashable {
        /// The keywords that select this host; empty if the string lists only one host.
        var settings: [String: String]
    }

    /// The hosts of a connection string, and how to choose among them.
    struct Hosts: Sendable {
        var list: [Host]
        /// The required kind of server, such as `read-write`; nil without a requirement.
        var targetSessionAttributes: String?
        /// The time to wait for each host; nil if the string does not set it.
        var timeout: Duration?
    }

    /// The hosts in the order in which to try them.
    ///
    /// - Throws: ``PostgresError`` with code `08001` for a string that libpq cannot parse, and for
    ///   a URI whose password has characters that must be percent-encoded. The messages do not
    ///   quote the string.
    func hosts() throws(PostgresError) -> Hosts {
        guard !hasUnescapedPassword else {
            throw PostgresError(
                code: .cannotConnect,
                message: "the user name or password in the connection URI has a character that must be "
                    + "percent-encoded: %40 for @, %2F for /, %3A for a colon")
        }
        // libpq's message for an unreadable string can quote a password.
        guard let options = PQconninfoParse(connectionString, nil) else {
            if let name = unknownParameter {
                throw PostgresError(
                    code: .cannotConnect,
                    message: "libpq knows no parameter \"\(name)\" of a connection URI",
                    hint: "a schema is an option of the store, the lease or the queue")
            }
            throw PostgresError(
                code: .cannotConnect,
                message: "the connection string is neither a postgres:// URI nor a list of libpq's keywords and values")
        }
        defer { PQconninfoFree(options) }
        var given: [String: String] = [:]
        var option = options
        while let name = option.pointee.keyword {
            if let value = option.pointee.val { given[String(cString: name)] = String(cString: value) }
            option += 1
        }
        let environment = ProcessInfo.processInfo.environment
        func value(_ keyword: String, _ variable: String) -> String? { given[keyword] ?? environment[variable] }
        let hosts = Self.list(value("host", "PGHOST"))
        let addresses = Self.list(value("hostaddr", "PGHOSTADDR"))
        let ports = Self.list(value("port", "PGPORT"))
        let count = max(hosts.count, addresses.count)
        var list = [Host(settings: [:])]
        if count > 1, [0, count].contains(hosts.count), [0, count].contains(addresses.count),
            [0, 1, count].contains(ports.count)
        {
            list = (0..<count).map { index in
                var settings: [String: String] = [:]
                if !hosts.isEmpty { settings["host"] = hosts[index] }
                if !addresses.isEmpty { settings["hostaddr"] = addresses[index] }
                if ports.count > 1 { settings["port"] = ports[index] }
                return Host(settings: settings)
            }
        }
        let seconds = value("connect_timeout", "PGCONNECT_TIMEOUT").flatMap { Int64($0) } ?? 0
        return Hosts(
            list: list, targetSessionAttributes: value("target_session_attrs", "PGTARGETSESSIONATTRS"),
            // As in libpq, one second is rounded up to two.
            timeout: seconds > 0 ? .seconds(max(seconds, 2)) : nil)
    }

    private static func list(_ text: String?) -> [String] {
        text.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
    }

    /// Whether a URI has an unescaped `@` or `/` in its user name or password, which splits it
    /// wrongly.
    private var hasUnescapedPassword: Bool {
        guard let scheme = connectionString.firstMatch(of: /^postgres(ql)?:\/\//) else { return false }
        // An unescaped `?` in a password is harmless. The query therefore begins at the last `?`
        // that follows an `@`.
        let rest = connectionString[scheme.range.upperBound...]
        let lastAt = rest.prefix { $0 != "?" }.lastIndex(of: "@") ?? rest.startIndex
        let authority = rest.prefix(upTo: rest[lastAt...].firstIndex(of: "?") ?? rest.endIndex)
        let at = authority.lastIndex(of: "@")
        let credentials = authority[..<(at ?? authority.startIndex)]
        if credentials.contains("@") || credentials.contains("/") { return true }
        // The part that libpq would parse as a port and quote, although it is the start of a
        // password.
        let hosts = (at.map { authority[authority.index(after: $0)...] } ?? authority).prefix { !"/?".contains($0) }
        guard !hosts.contains("[") else { return false }
        return hosts.split(separator: ",").contains { host in
            guard let colon = host.firstIndex(of: ":") else { return false }
            return !host[host.index(after: colon)...].allSatisfy(\.isNumber) && !host.contains("%")
        }
    }

    /// The first parameter of a URI that libpq does not know; nil if there is none, or if its name
    /// may be a part of a password.
    private var unknownParameter: String? {
        guard let scheme = connectionString.firstMatch(of: /^postgres(ql)?:\/\//),
            let mark = connectionString[scheme.range.upperBound...].lastIndex(of: "?")
        else { return nil }
        let query = connectionString[connectionString.index(after: mark)...]
        guard !query.contains("@") else { return nil }
        let known = Self.keywords
        for parameter in query.split(separator: "&") {
            let name = String(parameter.prefix { $0 != "=" })
            if name == "password" { return nil }
            if name.wholeMatch(of: /[A-Za-z_]{1,40}/) != nil, !known.contains(name), name != "ssl" { return name }
        }
        return nil
    }

    /// The keywords of libpq.
    private static var keywords: Set<String> {
        guard let options = PQconndefaults() else { return [] }
        defer { PQconninfoFree(options) }
        var names: Set<String> = []
        var option = options
        while let name = option.pointee.keyword {
            names.insert(String(cString: name))
            option += 1
        }
        return names
    }

    /// The password in the string, as libpq reads it; nil if it has none.
    var password: String? {
        guard let options = PQconninfoParse(connectionString, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var option = options
        while let name = option.pointee.keyword {
            if String(cString: name) == "password" { return option.pointee.val.map { String(cString: $0) } }
            option += 1
        }
        return nil
    }
}
#endif
