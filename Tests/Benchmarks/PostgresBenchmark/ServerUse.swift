#if Postgres
import Foundation
import OneWayBenchmarkSupport
import OneWayPostgresTestSupport

/// What the latest run of each case cost the server: bytes of its log, and processor time.
struct ServerUse {
    private let url: String
    private var costs: [String: (logByteCount: Int, processorSeconds: Double?)] = [:]

    init(_ url: String) {
        self.url = url
    }

    /// Runs a case.
    mutating func measure(_ name: String, _ body: () async throws -> Int) async throws -> Int {
        let (position, seconds) = (try await position(), try await processorSeconds())
        let result = try await body()
        let used = try await processorSeconds().flatMap { end in seconds.map { end - $0 } }
        costs[name] = (try await self.position() - position, used)
        return result
    }

    /// The costs of a case, as fields of a report.
    func fields(_ name: String) -> [(name: String, value: BenchmarkReport.Field)] {
        guard let cost = costs[name] else { return [] }
        return (cost.processorSeconds.map { [("server_cpu_seconds", .number($0))] } ?? [])
            + [("WAL bytes", .integer(cost.logByteCount))]
    }

    /// How far the server's log has been written, in bytes.
    private func position() async throws -> Int {
        let found = try await PostgresSession.run(url, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")
        return found.first?.first?.flatMap { Int($0) } ?? 0
    }

    /// The processor time of the server's present processes; nil where `/proc` does not tell.
    private func processorSeconds() async throws -> Double? {
        let found = try await PostgresSession.run(url, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")
        guard let server = found.first?.first ?? nil,
            let children = try? String(contentsOfFile: "/proc/\(server)/task/\(server)/children", encoding: .utf8)
        else { return nil }
        let nanoseconds = children.split(separator: " ").compactMap { child in
            (try? String(contentsOfFile: "/proc/\(child)/schedstat", encoding: .utf8))?
                .split(separator: " ").first.flatMap { Double($0) }
        }
        return nanoseconds.reduce(0, +) / 1e9
    }
}
#endif
