#if Postgres
import Foundation
import OneWaySynchronizer

/// The name of this process for other hosts.
package enum PostgresProcess {
    /// A name such as `Demo[4711]@web-1`, with at most 51 ASCII characters. `pg_stat_activity`
    /// shows 63.
    package static let name = name(of: SyncLeaseHolder())

    private static func name(of holder: SyncLeaseHolder) -> String {
        "\(cut(holder.program, 15))[\(holder.processID)]@\(cut(holder.host, 24))"
    }

    /// The beginning of a name, in ASCII, because the server would write any other character as
    /// four each.
    private static func cut(_ name: String, _ length: Int) -> String {
        String(name.unicodeScalars.prefix(length).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}
#endif
