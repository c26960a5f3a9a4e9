#if Postgres
import SyncBase
import Foundation
import SyncStoreSQL

/// The SQL of a queue; what is asked of the server is written here and nowhere else.
///
/// An item is `waiting`, then `running`, then `done` or `failed`, when the holder takes it out; or `aside` when its workers died.
/// Times are the server's alone.
struct WorkQueueStatements {
    private let work: String
    private let aside: String
    private let schema: String
    /// Where workers listen.
    let workerChannel: String
    /// Where the holder listens.
    let holderChannel: String
    /// What a worker is told when items are withdrawn.
    static let withdrawal = "withdrawn"

    init(_ queue: PostgresWorkQueue) {
        schema = SQLText.name(queue.options.schema)
        work = "\(schema).sync_work"
        aside = "\(schema).sync_work_aside"
        // Names of channels are at most 63 bytes long; two queues whose numbers are the same only wake each other.
        var fingerprint = Fingerprint()
        fingerprint.combine(bytes: "\(queue.options.schema)\0\(queue.name)".utf8)
        workerChannel = "sync_work_\(fingerprint.text)"
        holderChannel = "sync_work_\(fingerprint.text)_done"
    }

    // MARK: Tables

    /// Makes what is missing; one process at a time, since `IF NOT EXISTS` does not help those that come at the same moment.
    var tables: String {
        """
        BEGIN;
        SELECT pg_advisory_xact_lock(hashtextextended('sync_work tables', 1));
        \(schema == "\"public\"" ? "" : "CREATE SCHEMA IF NOT EXISTS \(schema);")
        CREATE UNLOGGED TABLE IF NOT EXISTS \(work) (
            queue text NOT NULL, holder text NOT NULL, number bigint NOT NULL, stage text NOT NULL, item text NOT NULL,
            state text NOT NULL, is_withdrawn boolean NOT NULL DEFAULT false, attempts integer NOT NULL DEFAULT 0,
            worker text, worker_name text, visible_at timestamptz, error text, PRIMARY KEY (holder, number)
        );
        CREATE INDEX IF NOT EXISTS sync_work_waiting ON \(work) (queue, number) WHERE state = 'waiting';
        CREATE TABLE IF NOT EXISTS \(aside) (
            queue text NOT NULL, stage text NOT NULL, item text NOT NULL, attempts integer NOT NULL, worker text,
            since timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        CREATE UNIQUE INDEX IF NOT EXISTS sync_work_aside_item ON \(aside) (queue, stage, md5(item));
        COMMIT
        """
    }

    /// Whether the tables are there, so that a role that may not make any can use them.
    var hasTables: String {
        "SELECT to_regclass(\(SQLText.literal(work))) IS NOT NULL AND to_regclass(\(SQLText.literal(aside))) IS NOT NULL"
    }

    // MARK: The holder's

    /// Takes what an earlier pass left out of the queue, as far as nobody works on it: `queue`.
    var takeOver: String {
        """
        WITH ended AS (
            DELETE FROM \(work) WHERE queue = $1 AND (state <> 'running' OR visible_at < clock_timestamp())
        )
        UPDATE \(work) SET is_withdrawn = true WHERE queue = $1 AND state = 'running' AND visible_at >= clock_timestamp()
        """
    }

    /// How many items of earlier passes are still worked on: `queue`.
    var leftCount: String {
        "SELECT count(*) FROM \(work) WHERE queue = $1"
    }

    /// Puts items into the queue: `queue, holder, numbers, stages, items, seconds for which items are set aside`.
    var offer: String {
        """
        INSERT INTO \(work) (queue, holder, number, stage, item, state, attempts, worker_name)
        SELECT $1, $2, number, stage, item, CASE WHEN a.attempts IS NULL THEN 'waiting' ELSE 'aside' END,
            coalesce(a.attempts, 0), a.worker
        FROM unnest($3::bigint[], $4::text[], $5::text[]) AS o (number, stage, item)
        LEFT JOIN LATERAL (
            SELECT attempts, worker FROM \(aside) a
            WHERE a.queue = $1 AND a.stage = o.stage AND md5(a.item) = md5(o.item)
                AND since > clock_timestamp() - $6::float8 * interval '1 second'
        ) a ON true
        """
    }

    /// Takes items out that nobody has begun: `holder, numbers`; returns their numbers.
    var withdrawWaiting: String {
        "DELETE FROM \(work) WHERE holder = $1 AND number = ANY($2) AND state = 'waiting' RETURNING number"
    }

    /// Tells workers to stop what they have begun: `holder, numbers`.
    var withdrawRunning: String {
        "UPDATE \(work) SET is_withdrawn = true WHERE holder = $1 AND number = ANY($2) AND state = 'running'"
    }

    /// Gives the items of workers that died to others, or sets them aside: `holder, attempts`.
    var sweep: String {
        """
        WITH swept AS (
            UPDATE \(work) SET
                state = CASE WHEN is_withdrawn THEN 'failed' WHEN attempts >= $2::int THEN 'aside' ELSE 'waiting' END,
                worker = NULL
            WHERE holder = $1 AND state = 'running' AND visible_at < clock_timestamp()
            RETURNING queue, stage, item, attempts, worker_name, state
        )
        INSERT INTO \(aside) (queue, stage, item, attempts, worker)
        SELECT queue, stage, item, attempts, worker_name FROM swept WHERE state = 'aside'
        ON CONFLICT (queue, stage, md5(item)) DO UPDATE
            SET attempts = excluded.attempts, worker = excluded.worker, since = excluded.since
        """
    }

    /// Takes out what has ended: `holder`; returns number, state, error, attempts and the worker's name.
    var collect: String {
        """
        DELETE FROM \(work) WHERE holder = $1 AND state IN ('done', 'failed', 'aside')
        RETURNING number, state, error, attempts, worker_name
        """
    }

    /// Whether something of a holder is left: `holder, numbers`; returns the numbers that are.
    var present: String {
        "SELECT number FROM \(work) WHERE holder = $1 AND number = ANY($2)"
    }

    // MARK: The workers'

    /// Notes how items ended that a worker still has: `worker, holders, numbers, attempts, states, errors`.
    ///
    /// Items that it gives back, as `waiting`, were no attempt.
    var finish: String {
        """
        UPDATE \(work) w SET state = CASE WHEN f.state = 'waiting' AND w.is_withdrawn THEN 'failed' ELSE f.state END,
            error = nullif(f.error, ''), attempts = attempts - CASE WHEN f.state = 'waiting' THEN 1 ELSE 0 END
        FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[]) AS f (holder, number, attempt, state, error)
        WHERE w.holder = f.holder AND w.number = f.number AND w.attempts = f.attempt AND w.worker = $1 AND w.state = 'running'
        """
    }

    /// Takes the next items for a worker: `queue, worker, its name, how many, seconds`.
    var claim: String {
        """
        WITH next AS MATERIALIZED (
            SELECT holder, number FROM \(work) WHERE queue = $1 AND state = 'waiting'
            ORDER BY number LIMIT $4::bigint FOR UPDATE SKIP LOCKED
        )
        UPDATE \(work) w SET state = 'running', worker = $2, worker_name = $3, attempts = attempts + 1,
            visible_at = clock_timestamp() + $5::float8 * interval '1 second'
        FROM next WHERE w.holder = next.holder AND w.number = next.number
        RETURNING w.holder, w.number, w.attempts, w.stage, w.item
        """
    }

    /// Says that a worker lives: `worker, seconds`; returns what it still has, and whether it is withdrawn.
    var prolong: String {
        """
        UPDATE \(work) SET visible_at = clock_timestamp() + $2::float8 * interval '1 second'
        WHERE worker = $1 AND state = 'running' RETURNING holder, number, attempts, is_withdrawn
        """
    }

    /// Wakes whoever listens: `channel, payload`.
    static let notify = "SELECT pg_notify($1, $2)"

    // MARK: Items set aside

    /// What is set aside: `queue`.
    var itemsSetAside: String {
        "SELECT item, stage, attempts, worker FROM \(aside) WHERE queue = $1 ORDER BY since"
    }

    /// Forgets what is set aside: `queue`.
    var releaseItemsSetAside: String {
        "DELETE FROM \(aside) WHERE queue = $1"
    }
}
#endif
