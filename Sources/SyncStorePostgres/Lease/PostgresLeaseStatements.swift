#if Postgres
import Foundation
import SyncStoreSQL

/// The SQL of leases.
///
/// Every name is qualified, so that functions and operators that a user created in `public` are
/// never called. Each call is a single statement, because consecutive statements may reach
/// different sessions behind a pooler.
struct PostgresLeaseStatements {
    /// The first half of the advisory locks of grants; the second half is the number of the grant.
    static let lockSpace: Int32 = 0x4F57_5350

    private let table: String
    private let schema: String

    init(schema: String) {
        self.schema = SQLText.name(schema)
        table = "\(self.schema)._sync_leases"
    }

    /// Creates the table. The lock is required because `IF NOT EXISTS` does not protect against
    /// concurrent creation.
    var creation: String {
        """
        BEGIN;
        SET LOCAL search_path TO pg_catalog, pg_temp;
        SELECT pg_catalog.pg_advisory_xact_lock(
            pg_catalog.hashtextextended('_sync_leases tables'::pg_catalog.text, 1::pg_catalog.int8));
        \(schema == "\"public\"" ? "" : "CREATE SCHEMA IF NOT EXISTS \(schema);")
        CREATE TABLE IF NOT EXISTS \(table) (
            name pg_catalog.text PRIMARY KEY, generation pg_catalog.int8 NOT NULL, token pg_catalog.text,
            process_number pg_catalog.int8 NOT NULL, host pg_catalog.text NOT NULL, program pg_catalog.text NOT NULL,
            process pg_catalog.int8 NOT NULL, since pg_catalog.float8 NOT NULL, expires_at pg_catalog.timestamptz NOT NULL,
            backend pg_catalog.int4, server_start pg_catalog.timestamptz NOT NULL
        );
        COMMIT
        """
    }

    private static let now = "pg_catalog.clock_timestamp()"

    private static let expiry =
        "\(now) OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => $3::pg_catalog.float8)"

    /// Takes a lease if it is free: `name, token, seconds, number of the grant, host, program,
    /// process, since, backend`.
    ///
    /// A lease is free if it was released, has expired, or was held by a session that has ended on
    /// this server. Returns the new generation, or null; the number of a former grant that was not
    /// released, in the column `process_number`; and the host, program, process and time of the
    /// former holder.
    var take: String {
        let columns =
            "name, generation, token, expires_at, process_number, host, program, process, since, backend, server_start"
        let former =
            "CASE WHEN former.token IS NOT NULL THEN former.process_number END, "
            + ["host", "program", "process", "since"].map { "former.\($0)" }.joined(separator: ", ")
        let updates = columns.components(separatedBy: ", ").dropFirst(2).map { "\($0) = excluded.\($0)" }
        return """
            WITH former AS MATERIALIZED (
                SELECT * FROM \(table) WHERE name OPERATOR(pg_catalog.=) $1::pg_catalog.text FOR UPDATE
            ), taken AS (
                INSERT INTO \(table) AS l (\(columns))
                SELECT $1::pg_catalog.text, 1, $2::pg_catalog.text, \(Self.expiry), $4::pg_catalog.int8,
                    $5::pg_catalog.text, $6::pg_catalog.text, $7::pg_catalog.int8, $8::pg_catalog.float8,
                    $9::pg_catalog.int4, pg_catalog.pg_postmaster_start_time()
                FROM (SELECT pg_catalog.count(*) FROM former) afterwards
                ON CONFLICT (name) DO UPDATE SET generation = l.generation OPERATOR(pg_catalog.+) 1::pg_catalog.int8,
                    \(updates.joined(separator: ", "))
                WHERE l.token IS NULL OR l.expires_at OPERATOR(pg_catalog.<=) \(Self.now)
                    OR (l.backend IS NOT NULL
                        AND l.server_start OPERATOR(pg_catalog.=) pg_catalog.pg_postmaster_start_time()
                        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_stat_activity a
                            WHERE a.pid OPERATOR(pg_catalog.=) l.backend))
                RETURNING generation
            )
            SELECT taken.generation, \(former) FROM (SELECT 1) one LEFT JOIN taken ON TRUE LEFT JOIN former ON TRUE
            """
    }

    /// Extends a lease that has not expired: `name, token, seconds`. Returns a row unless the lease
    /// is lost.
    var renew: String {
        """
        UPDATE \(table) SET expires_at = \(Self.expiry)
        WHERE name OPERATOR(pg_catalog.=) $1::pg_catalog.text AND token OPERATOR(pg_catalog.=) $2::pg_catalog.text
            AND expires_at OPERATOR(pg_catalog.>) \(Self.now)
        RETURNING generation
        """
    }

    /// Releases a lease: `name, token`. The row stays to preserve the generation.
    var release: String {
        """
        UPDATE \(table) SET token = NULL
        WHERE name OPERATOR(pg_catalog.=) $1::pg_catalog.text AND token OPERATOR(pg_catalog.=) $2::pg_catalog.text
        """
    }

    /// Ends the sessions with transactions under a grant, given its number; see
    /// `PostgresLeaseSession.number`.
    static let endOfTransactions = """
        SELECT pg_catalog.pg_terminate_backend(l.pid) FROM pg_catalog.pg_locks l
        WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory'::pg_catalog.text
            AND l.objsubid OPERATOR(pg_catalog.=) 2::pg_catalog.int2
            AND l.classid OPERATOR(pg_catalog.=) \(lockSpace)::pg_catalog.oid
            AND l.objid::pg_catalog.int8 OPERATOR(pg_catalog.=) ($1::pg_catalog.int8 OPERATOR(pg_catalog.&) 4294967295::pg_catalog.int8)
        """
}
#endif
