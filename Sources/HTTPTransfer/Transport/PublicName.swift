import Foundation
import SyncBase

/// Names of hosts all of whose addresses are public.
///
/// For sessions, which do not report to which address they connect before they have sent a request.
enum PublicName {
    /// Checks all addresses of a host.
    ///
    /// - Throws: ``HTTPError/Problem``; `CancellationError` as soon as the caller's task is
    ///   cancelled.
    static func check(_ url: URL) async throws {
        let host = url.host ?? ""
        let resolved = Promise<[IPAddress?]>()
        // A resolver cannot be interrupted.
        DispatchQueue.global().async { resolved.settle(.success(Self.addresses(of: host))) }
        let addresses = try await resolved.value()
        guard !addresses.isEmpty else { throw HTTPError.Problem.unreachable("no such host", isLasting: false) }
        for address in addresses where address?.isPublic != true {
            let shown = address.map { "\($0)" } ?? "a local socket"
            throw HTTPError.Problem.forbiddenDestination("\(shown), which is not a public address")
        }
    }

    /// The addresses of a host, nil for those of an unknown kind; empty if there is no such host.
    private static func addresses(of host: String) -> [IPAddress?] {
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, nil, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: [IPAddress?] = []
        var next = first
        while let entry = next?.pointee {
            found.append(address(of: entry))
            next = entry.ai_next
        }
        return found
    }

    private static func address(of entry: addrinfo) -> IPAddress? {
        guard let socket = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return socket.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { IPAddress(bytes: $0) }
            }
        case AF_INET6:
            return socket.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { IPAddress(bytes: $0) }
            }
        default: return nil
        }
    }
}
