#if Postgres
import SyncBase

/// The SQL of a queue.
///
/// An item is `waiting`, then `running`, then `done` or `failed` until its holder removes it, or
/// `aside` if its workers died. Only the server's clock counts. A statement that changes several
/// rows first locks them in the order of their keys, to prevent deadlocks. Sessions look up names
/// only in `pg_catalog`; see `WorkQueueLink`.
struct WorkQueueStatements {
    private let work: String
    private let passes: String
    private let aside: String
    private let schema: String
    /// The channel of the workers.
    let workerChannel: String
    /// The channel of the holder.
    let holderChannel: String
    /// The message to workers when items are withdrawn.
    static let withdrawal = "withdrawn"

    init(_ queue: PostgresWorkQueue) {
        schema = Self.quoted(queue.options.schema)
        work = "\(schema)._sync_work"
        passes = "\(schema)._sync_work_passes"
        aside = "\(schema)._sync_work_aside"
        // Names of channels have at most 63 bytes. Two queues with the same fingerprint only wake
        // each other.
        var fingerprint = Fingerprint()
        fingerprint.combine(bytes: "\(queue.options.schema)\0\(queue.name)".utf8)
        workerChannel = "_sync_work_\(fingerprint.text)"
        holderChannel = "_sync_work_\(fingerprint.text)_done"
    }

    private static func quoted(_ name: String) -> String {
        "\"\(name.replacing(byte: UInt8(ascii: "\""), with: "\"\""))\""
    }

    private static func literal(_ text: String) -> String {
        "'\(text.replacing(byte: UInt8(ascii: "'"), with: "''"))'"
    }

    // MARK: Tables

    /// Creates the tables. The lock is required because `IF NOT EXISTS` does not
    /// protect against concurrent creation.
    var tables: String {
        """
        BEGIN;
        SELECT pg_advisory_xact_lock(hashtextextended('_sync_work tables'::text, 1::bigint));
        \(schema == "\"public\"" ? "" : "CREATE SCHEMA IF NOT EXISTS \(schema);")
        CREATE UNLOGGED TABLE IF NOT EXISTS \(work) (
            queue text NOT NULL, holder text NOT NULL, number bigint NOT NULL, stage text NOT NULL, item text NOT NULL,
            state text NOT NULL, is_withdrawn boolean NOT NULL DEFAULT false, attempts integer NOT NULL DEFAULT 0,
            worker text, worker_name text, visible_at timestamptz, error text, key text NOT NULL DEFAULT '',
            generation bigint NOT NULL DEFAULT 0, is_suspect boolean NOT NULL DEFAULT false,
            version bigint NOT NULL DEFAULT 0, PRIMARY KEY (holder, number)
        );
        CREATE INDEX IF NOT EXISTS _sync_work_waiting ON \(work) (queue, number) WHERE state = 'waiting';
        CREATE INDEX IF NOT EXISTS _sync_work_suspect ON \(work) (queue, number) WHERE state = 'waiting' AND is_suspect;
        CREATE TABLE IF NOT EXISTS \(passes) (
            queue text PRIMARY KEY, generation bigint NOT NULL, holder text NOT NULL
        );
        CREATE TABLE IF NOT EXISTS \(aside) (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            queue text NOT NULL, stage text NOT NULL, item text NOT NULL, attempts integer NOT NULL, worker text,
            since timestamptz NOT NULL DEFAULT clock_timestamp(), key text NOT NULL DEFAULT '',
            is_released boolean NOT NULL DEFAULT false
        );
        CREATE UNIQUE INDEX IF NOT EXISTS _sync_work_aside_key ON \(aside) (queue, stage, md5(key));
        COMMIT
        """
    }

    /// Whether the tables exist, so that a role without the privilege to create tables can use
    /// them.
    var hasTables: String {
        """
        SELECT to_regclass(\(Self.literal(passes))) IS NOT NULL
            AND to_regclass(\(Self.literal("\(schema)._sync_work_aside_key"))) IS NOT NULL
        """
    }

    /// A CTE `locked` with the keys of the items that satisfy a condition, locked in order.
    private func locked(_ condition: String) -> String {
        "locked AS MATERIALIZED (SELECT holder, number FROM \(work) WHERE \(condition) ORDER BY holder, number FOR UPDATE)"
    }

    private static let isLocked = "w.holder = l.holder AND w.number = l.number"

    // MARK: The holder's statements

    /// Begins a pass: `queue, holder`; returns its generation. Earlier passes then have lost the
    /// queue. The generation of a holder that has begun already is the same.
    var begin: String {
        """
        INSERT INTO \(passes) AS p (queue, generation, holder) VALUES ($1, 1, $2)
        ON CONFLICT (queue) DO UPDATE SET holder = excluded.holder,
            generation = p.generation + CASE WHEN p.holder = excluded.holder THEN 0::bigint ELSE 1::bigint END
        RETURNING generation
        """
    }

    /// Removes items of earlier passes that no worker has, and withdraws the others: `queue,
    /// generation`. Does nothing if another pass has begun.
    var clear: String {
        """
        WITH \(locked("""
            queue = $1 AND generation <> $2::bigint
                AND EXISTS (SELECT FROM \(passes) p WHERE p.queue = $1 AND p.generation = $2::bigint)
            """)),
        ended AS (
            DELETE FROM \(work) w USING locked l
            WHERE \(Self.isLocked) AND (w.state <> 'running' OR w.visible_at < clock_timestamp())
        )
        UPDATE \(work) w SET is_withdrawn = true FROM locked l
        WHERE \(Self.isLocked) AND w.state = 'running' AND w.visible_at >= clock_timestamp()
        """
    }

    /// The generation of the latest pass, and the number of items of other passes that workers
    /// still have: `queue, generation`.
    var left: String {
        """
        SELECT (SELECT generation FROM \(passes) WHERE queue = $1), count(*)
        FROM \(work) WHERE queue = $1 AND generation <> $2::bigint
        """
    }

    /// Offers items, and wakes the workers: `queue, holder, generation, numbers, stages, keys,
    /// items, seconds for which items are set aside, the version of their form, the workers'
    /// channel`.
    ///
    /// Offers nothing if another pass has begun, and no item twice. An item that killed workers
    /// before is a suspect. The second column tells whether an item was set aside.
    var offer: String {
        """
        WITH offered AS (
            INSERT INTO \(work) (queue, holder, generation, number, stage, key, item, state, attempts, worker_name,
                is_suspect, visible_at, version)
            SELECT $1, $2, p.generation, o.number, o.stage, o.key, o.item,
                CASE WHEN a.is_aside THEN 'aside' ELSE 'waiting' END, CASE WHEN a.is_aside THEN a.attempts ELSE 0 END,
                a.worker, a.key IS NOT NULL, clock_timestamp(), $9::bigint
            FROM \(passes) p, unnest($4::bigint[], $5::text[], $6::text[], $7::text[]) AS o (number, stage, key, item)
            LEFT JOIN LATERAL (
                SELECT a.key, a.attempts, a.worker, NOT a.is_released AND a.item = o.item
                    AND a.since > clock_timestamp() - make_interval(secs => $8::float8) AS is_aside
                FROM \(aside) a WHERE a.queue = $1 AND a.stage = o.stage AND md5(a.key) = md5(o.key) AND a.key = o.key
            ) a ON true
            WHERE p.queue = $1 AND p.generation = $3::bigint
            ON CONFLICT (holder, number) DO NOTHING RETURNING state
        ) SELECT pg_notify($10, ''), EXISTS (SELECT FROM offered WHERE state = 'aside')
        """
    }

    /// Removes items that no worker has begun: `holder, numbers`; returns the numbers that are not
    /// there any more.
    var withdrawWaiting: String {
        """
        WITH \(locked("holder = $1 AND number = ANY($2::bigint[]) AND state = 'waiting'")),
        removed AS (DELETE FROM \(work) w USING locked l WHERE \(Self.isLocked) RETURNING w.number)
        SELECT n.number FROM unnest($2::bigint[]) AS n (number)
        WHERE EXISTS (SELECT FROM removed r WHERE r.number = n.number)
            OR NOT EXISTS (SELECT FROM \(work) w WHERE w.holder = $1 AND w.number = n.number)
        """
    }

    /// Withdraws items that workers have begun: `holder, numbers`.
    var withdrawRunning: String {
        """
        WITH \(locked("holder = $1 AND number = ANY($2) AND state = 'running'"))
        UPDATE \(work) w SET is_withdrawn = true FROM locked l WHERE \(Self.isLocked)
        """
    }

    /// Takes the items of dead workers back, or sets them aside: `holder, attempts`.
    ///
    /// Because any of a worker's items may have killed it, all of them become suspects.
    var sweep: String {
        """
        WITH \(locked("holder = $1 AND state = 'running' AND visible_at < clock_timestamp()")),
        swept AS (
            UPDATE \(work) w SET
                state = CASE WHEN is_withdrawn THEN 'failed' WHEN attempts >= $2::int THEN 'aside' ELSE 'waiting' END,
                worker = NULL, is_suspect = true, visible_at = clock_timestamp()
            FROM locked l WHERE \(Self.isLocked)
            RETURNING w.queue, w.stage, w.key, w.item, w.attempts, w.worker_name, w.state
        )
        INSERT INTO \(aside) (queue, stage, key, item, attempts, worker)
        SELECT DISTINCT ON (queue, stage, key) queue, stage, key, item, attempts, worker_name
        FROM swept WHERE state = 'aside' ORDER BY queue, stage, key, attempts DESC
        ON CONFLICT (queue, stage, md5(key)) DO UPDATE SET key = excluded.key, item = excluded.item,
            attempts = excluded.attempts, worker = excluded.worker, since = excluded.since, is_released = false
        """
    }

    /// Removes the items whose results were received, and reads the results of the others that have
    /// ended: `holder, queue, numbers of those received, the lowest number without a result`.
    ///
    /// Returns the queue's generation, which differs from the pass's if the queue was taken over,
    /// then number, state, error, attempts and the worker's name, or nulls.
    var collect: String {
        """
        WITH \(locked("holder = $1 AND number = ANY($3::bigint[])")),
        removed AS (DELETE FROM \(work) w USING locked l WHERE \(Self.isLocked))
        SELECT p.generation, e.number, e.state, e.error, e.attempts, e.worker_name
        FROM \(passes) p LEFT JOIN \(work) e ON e.holder = $1 AND e.state IN ('done', 'failed', 'aside')
            AND e.number >= $4::bigint AND e.number <> ALL ($3::bigint[])
        WHERE p.queue = $2
        """
    }

    /// Removes all items of a pass: `holder`.
    var leave: String {
        """
        WITH \(locked("holder = $1")) DELETE FROM \(work) w USING locked l WHERE \(Self.isLocked)
        """
    }

    // MARK: The workers' statements

    /// Records the outcomes of items that the worker still has, and wakes the holder: `worker,
    /// holders, numbers, attempts, states, errors, the holder's channel, the workers' channel`.
    ///
    /// Returning an item, as `waiting`, does not count as an attempt, and wakes the other workers.
    /// An item that succeeds is no longer set aside.
    var finish: String {
        """
        WITH f AS MATERIALIZED (
            SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
                AS f (holder, number, attempt, state, error)
        ), locked AS MATERIALIZED (
            SELECT w.holder, w.number, f.state, f.error FROM \(work) w JOIN f ON w.holder = f.holder
                AND w.number = f.number AND w.attempts = f.attempt
            WHERE w.worker = $1 AND w.state = 'running' ORDER BY w.holder, w.number FOR UPDATE OF w
        ), finished AS (
            UPDATE \(work) w SET
                state = CASE WHEN l.state = 'waiting' AND w.is_withdrawn THEN 'failed' ELSE l.state END,
                error = nullif(l.error, ''), attempts = attempts - CASE WHEN l.state = 'waiting' THEN 1 ELSE 0 END
            FROM locked l WHERE \(Self.isLocked)
            RETURNING w.queue, w.stage, w.key, w.is_suspect, w.state
        ), succeeded AS (
            DELETE FROM \(aside) a USING finished f
            WHERE f.is_suspect AND f.state = 'done' AND a.queue = f.queue AND a.stage = f.stage
                AND md5(a.key) = md5(f.key) AND a.key = f.key
        )
        SELECT pg_notify($7, ''),
            CASE WHEN EXISTS (SELECT FROM finished WHERE state = 'waiting') THEN pg_notify($8, '') END
        """
    }

    /// Claims items for a worker: `queue, worker, its name, how many, seconds, whether it has
    /// none, the highest version of the items' form that it can read`.
    ///
    /// Only a worker without other items can claim a suspect, and only alone. When a suspect has
    /// waited for the visibility timeout, workers claim nothing, so that one of them becomes free
    /// for it.
    var claim: String {
        """
        WITH suspect AS MATERIALIZED (
            SELECT w.holder, w.number, w.visible_at FROM \(work) w JOIN \(passes) p USING (queue, generation)
            WHERE queue = $1 AND state = 'waiting' AND is_suspect AND version <= $7::bigint ORDER BY number LIMIT 1
        ), alone AS MATERIALIZED (
            SELECT w.holder, w.number FROM \(work) w JOIN suspect s USING (holder, number)
            WHERE w.state = 'waiting' AND $6::boolean FOR UPDATE OF w SKIP LOCKED
        ), others AS MATERIALIZED (
            SELECT w.holder, w.number FROM \(work) w JOIN \(passes) p USING (queue, generation)
            WHERE queue = $1 AND state = 'waiting' AND NOT is_suspect AND version <= $7::bigint
                AND NOT EXISTS (SELECT 1 FROM alone)
                AND NOT EXISTS (SELECT 1 FROM suspect
                    WHERE suspect.visible_at < clock_timestamp() - make_interval(secs => $5::float8))
            ORDER BY number LIMIT $4::bigint FOR UPDATE OF w SKIP LOCKED
        )
        UPDATE \(work) w SET state = 'running', worker = $2, worker_name = $3, attempts = attempts + 1,
            visible_at = clock_timestamp() + make_interval(secs => $5::float8)
        FROM (SELECT * FROM alone UNION ALL SELECT * FROM others) l WHERE \(Self.isLocked)
        RETURNING w.holder, w.number, w.attempts, w.generation, w.stage, w.item, w.is_suspect
        """
    }

    /// Reports that a worker is alive: `worker, seconds`; returns its items, and whether each is
    /// withdrawn.
    var prolong: String {
        """
        WITH \(locked("worker = $1 AND state = 'running'"))
        UPDATE \(work) w SET visible_at = clock_timestamp() + make_interval(secs => $2::float8) FROM locked l
        WHERE \(Self.isLocked) AND w.worker = $1 AND w.state = 'running'
        RETURNING w.holder, w.number, w.attempts, w.generation, w.is_withdrawn
        """
    }

    /// Wakes all listeners of a channel: `channel, payload`.
    static let notify = "SELECT pg_notify($1, $2)"

    // MARK: Items set aside

    /// The items that were set aside: `queue`.
    var itemsSetAside: String {
        """
        SELECT key, item, stage, attempts, worker, extract(epoch FROM since)::float8, is_released FROM \(aside)
        WHERE queue = $1 ORDER BY since, key
        """
    }

    /// Allows items to be tried again: `queue`, and `keys, stages` of the items, or nulls for all.
    var release: String {
        """
        UPDATE \(aside) SET is_released = true WHERE queue = $1
            AND ($2::text[] IS NULL OR (key, stage) IN (SELECT * FROM unnest($2::text[], $3::text[])))
        """
    }
}
#endif
