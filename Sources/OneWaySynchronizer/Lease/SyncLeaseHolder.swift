#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The holder of a lease: a process on a host.
public struct SyncLeaseHolder: Hashable, Sendable, Codable {
    /// The host's own name.
    public let host: String

    /// The name of the program.
    public let program: String

    /// The process identifier on the host.
    public let processID: Int32

    /// When the holder requested the lease, by the host's clock.
    public let since: Date

    /// Creates a holder; by default this process.
    public init(
        host: String? = nil, program: String? = nil,
        processID: Int32 = ProcessInfo.processInfo.processIdentifier, since: Date = Date()
    ) {
        self.host = host ?? Self.thisHost
        self.program = program ?? ProcessInfo.processInfo.processName
        self.processID = processID
        self.since = since
    }

    /// From the system itself, because Foundation may query the network.
    private static let thisHost: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown host" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()
}

extension SyncLeaseHolder: CustomStringConvertible {
    /// The holder as text, such as `Demo (process 4711 on web-1) since 2026-11-21T13:00:00Z`.
    public var description: String {
        "\(program) (process \(processID) on \(host)) since \(since.formatted(.iso8601))"
    }
}
