public import SyncModel

extension MergeRequest {
    /// The effect of a merge on each row of its batch.
    public struct Result: Sendable {
        /// The effect of a merge on one object.
        public enum Change: UInt8, Hashable, Sendable {
            /// The row was inserted as a new object.
            case inserted = 1
            /// The row changed values of the object that it matched.
            case updated
            /// The matched object did not change.
            case unchanged
        }

        /// The object of a row and the effect on it.
        public struct Row: Hashable, Sendable {
            /// The number of the object.
            public var object: ObjectID
            /// The effect on the object.
            public var change: Change

            /// Creates the result of one row.
            public init(_ object: ObjectID, _ change: Change) {
                self.object = object
                self.change = change
            }
        }

        /// One element per row of the batch, in order.
        ///
        /// Nil for a row that was skipped, or that matched no object and was not inserted.
        public var rows: [Row?]
        /// Whether the object of each row has the row's link, for each of the links passed to the
        /// merge. A row without a link counts as linked if its object has no link either.
        ///
        /// False may also mean that the store does not know. So do missing elements.
        public var isLinked: [[Bool]] = []
        /// The rows that an index or a constraint refused, in any order. They have no object. Empty
        /// unless the request sets refused rows aside.
        public var refused: [StoreError.Refusal] = []
        /// The rows, in any order, whose objects may still wait for values of a unique index; see
        /// ``StoreTransaction/settleValues()``.
        public var waitingRows: [Int] = []

        /// Creates a result.
        public init(_ rows: [Row?] = []) {
            self.rows = rows
        }

        /// Returns whether the object of a row is known to have a link passed to the merge.
        ///
        /// - Parameters:
        ///   - row: An index of `rows`.
        ///   - links: The index of the links among those passed to the merge.
        public func isLinked(row: Int, by links: Int) -> Bool {
            links < isLinked.count && isLinked[links][row]
        }

        /// The object of each row of the batch; nil for a row that has none.
        public var objects: [ObjectID?] {
            rows.map { $0?.object }
        }

        /// Whether two rows have the same object.
        package var repeatsObject: Bool {
            var known = ObjectSet()
            return rows.contains { $0.map { !known.insert($0.object) } ?? false }
        }

        /// Notes that inserted rows have the first `count` of the links passed to the merge.
        package mutating func noteLinked(_ count: Int) {
            isLinked = Array(repeating: rows.map { $0?.change == .inserted }, count: count)
        }
    }
}
