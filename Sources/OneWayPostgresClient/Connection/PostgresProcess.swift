#if Postgres
import Foundation
import OneWaySynchronizer

/// This process as other hosts see it.
package enum PostgresProcess {
    /// Such as `Demo[4711]@web-1`, at most 51 ASCII characters of the 63 that `pg_stat_activity`
    /// shows.
    package static let name = name(of: SyncLeaseHolder())

    private static func name(of holder: SyncLeaseHolder) -> String {
        "\(cut(holder.program, 15))[\(holder.processID)]@\(cut(holder.host, 24))"
    }

    /// The beginning of a name; the server would write other characters than ASCII as four each.
    private static func cut(_ name: String, _ length: Int) -> String {
        String(name.unicodeScalars.prefix(length).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}
#endif
