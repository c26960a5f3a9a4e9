import Foundation
package import OneWaySynchronizer

extension SyncLeaseHolder {
    /// A holder that differs from this process in every part.
    package static let web = SyncLeaseHolder(
        host: "web-1", program: "Demo", processID: 4711, since: Date(timeIntervalSince1970: 1_763_730_000))
}

extension SyncLease {
    /// Acquires the lease, which nobody may hold.
    package func grant(to holder: SyncLeaseHolder = SyncLeaseHolder()) async throws -> any SyncLeaseGrant {
        guard case .granted(let grant) = try await tryAcquire(for: holder) else { throw TestError("not granted") }
        return grant
    }

    /// Whether nobody holds the lease, rather than a given holder.
    ///
    /// - Throws: `TestError` if another holder has the lease.
    package func isFree(ratherThanOf holder: SyncLeaseHolder) async throws -> Bool {
        switch try await tryAcquire(for: SyncLeaseHolder()) {
        case .granted(let grant):
            await grant.release()
            return true
        case .held(holder): return false
        case .held(let other): throw TestError("held by \(other.map { "\($0)" } ?? "somebody")")
        case .unavailable(let error): throw error
        }
    }

    /// Runs under the lease forty times, in eight tasks.
    ///
    /// - Returns: How often it ran, and the greatest number of runs at one time.
    package func runInManyTasks() async throws -> (count: Int, atOnce: Int) {
        let runs = Watched((now: 0, count: 0, atOnce: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5 {
                        try await withLease(waiting: .forever) {
                            runs.update { runs in
                                runs.now += 1
                                runs.count += 1
                                runs.atOnce = max(runs.atOnce, runs.now)
                            }
                            await Task.yield()
                            runs.update { $0.now -= 1 }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return (runs.value.count, runs.value.atOnce)
    }
}
