import SyncBase

/// The lease of a service that drives a synchronizer: under it, or not at all, run the passes that
/// others request.
final class ServiceLease: Sendable {
    let name: String
    /// The lease while the service holds it.
    let held = Locked<HeldLease?>(nil)

    init(name: String) {
        self.name = name
    }

    /// Runs the work of the service, which holds the lease.
    func whileHeld<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        held.withLock { $0 = HeldLease.surrounding.last }
        defer { held.withLock { $0 = nil } }
        return try await body()
    }
}

/// The leases of the services that drive a synchronizer.
struct ServiceLeases: Sendable {
    private struct Member: Sendable {
        weak var lease: ServiceLease?
    }

    private let members = Locked<[Member]>([])

    func add(_ lease: ServiceLease) {
        members.withLock { members in
            members.removeAll { $0.lease == nil }
            members.append(Member(lease: lease))
        }
    }

    /// The leases under which a pass runs that the current task requests.
    ///
    /// - Throws: ``SyncLeaseError/notHeld(name:)`` if a service does not hold its lease.
    func scope() throws(SyncLeaseError) -> [HeldLease] {
        var scope = HeldLease.surrounding
        for lease in members.withLock({ $0.compactMap(\.lease) }) {
            guard let held = lease.held.withLock(\.self) else { throw .notHeld(name: lease.name) }
            if !scope.contains(where: { $0 === held }) { scope.append(held) }
        }
        return scope
    }
}
