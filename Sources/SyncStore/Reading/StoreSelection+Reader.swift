public import SyncModel

extension StoreSelection {
    /// A reader that computes selections itself, for example with one SQL statement.
    ///
    /// The refinement is optional. Callers use ``StoreReader/select(_:batchRowCount:_:)``, which
    /// works with every reader.
    public protocol Reader: StoreReader {
        /// Returns the rows of a selection in batches.
        ///
        /// - Parameters:
        ///   - selection: The objects and the columns.
        ///   - batchRowCount: The maximum number of rows of a batch, at least 1.
        ///   - body: Receives the batches in order, none of them empty. A batch has one column per
        ///     column of the selection and no entity.
        /// - Throws: `ModelError.unknownEntity` and `RecordPredicateError` if the selection does
        ///   not fit the model; `StoreError.sumOverflow`; the body's error.
        func selectRows(
            _ selection: StoreSelection, batchRowCount: Int, _ body: (RecordBatch) async throws -> Void
        ) async throws
    }
}

extension StoreReader {
    /// Returns the rows of a selection in batches; see ``StoreSelection/Reader``.
    ///
    /// A reader that is not a `StoreSelection.Reader` reads whole objects instead. It keeps them in
    /// memory if the selection groups them or follows relationships.
    ///
    /// - Throws: As ``StoreSelection/Reader/selectRows(_:batchRowCount:_:)``.
    public func select(
        _ selection: StoreSelection, batchRowCount: Int = 3000, _ body: (RecordBatch) async throws -> Void
    ) async throws {
        if let selecting = self as? any StoreSelection.Reader {
            return try await selecting.selectRows(selection, batchRowCount: batchRowCount, body)
        }
        try await ObjectGraph.select(selection, from: self, batchRowCount: batchRowCount, body)
    }

    /// Returns all rows of a selection, as values.
    ///
    /// - Throws: As ``StoreSelection/Reader/selectRows(_:batchRowCount:_:)``.
    public func rows(_ selection: StoreSelection) async throws -> [[AttributeValue]] {
        var rows: [[AttributeValue]] = []
        try await select(selection) { batch in
            batch.withReader { reader in
                for row in 0..<reader.count {
                    rows.append((0..<reader.columnCount).map { reader.value(row: row, column: $0) ?? .null })
                }
            }
        }
        return rows
    }
}
