#if Postgres
import SyncModel
import SyncStore
import SyncStoreSQL

/// The rows of a batch, divided into those that one statement can merge.
struct PostgresMergeRounds {
    /// Rows that one statement merges.
    struct Round {
        var rows: [Int]
        /// Whether the rows name their objects by number. If not, they match by identity.
        var isByObject = false
        /// Whether the identities of the rows are long; see `SQLLongKeys`.
        var isLong = false
    }

    /// The object that each row names by number; nil for none. Empty if no row names one.
    let objects: [ObjectID?]
    /// The rounds, none of them empty.
    private(set) var rounds: [Round] = []
    /// Whether two rows that may be written have the same identity.
    private(set) var repeatsIdentity = false

    /// Plans the rounds.
    ///
    /// - Parameters:
    ///   - longColumns: The columns of the identity that can have long values.
    ///   - longLimit: The maximum number of bytes of these values in a short identity.
    init(
        _ reader: RecordBatch.Reader, _ layout: EntityLayout, _ request: MergeRequest, longColumns: [Int],
        longLimit: Int
    ) {
        let matches = request.matches
        objects = (matches ?? []).map { match in if case .object(let object) = match { object } else { nil } }
        var short =
            matches.map { matches in matches.indices.filter { matches[$0] == .identity } } ?? Array(0..<reader.count)
        // Rows that are only sought may stay in their order, and may have the same identity.
        if request.policy.writes {
            let identities = BatchIdentities(reader, columns: layout.identityColumns, rows: short)
            short = identities.rows + identities.nameless
            repeatsIdentity = identities.repeated != nil
        }
        let long =
            longColumns.isEmpty
            ? [] : Set(short.filter { reader.storedByteCount(row: $0, columns: longColumns) > longLimit })
        add(Round(rows: long.isEmpty ? short : short.filter { !long.contains($0) }))
        add(Round(rows: long.isEmpty ? [] : short.filter(long.contains), isLong: true))
        add(Round(rows: objects.indices.filter { objects[$0] != nil }, isByObject: true))
    }

    private mutating func add(_ round: Round) {
        if !round.rows.isEmpty { rounds.append(round) }
    }
}

extension RecordBatch.Reader {
    /// The total number of bytes that the texts and blobs of columns take when stored.
    fileprivate func storedByteCount(row: Int, columns: [Int]) -> Int {
        columns.reduce(0) { sum, column in
            switch kind(row: row, column: column) {
            case .string, .uri:
                let bytes = bytes(row: row, column: column)
                return sum + bytes.count + bytes.count(where: PostgresText.isSpecial)
            case .binary: return sum + bytes(row: row, column: column).count
            default: return sum
            }
        }
    }
}
#endif
