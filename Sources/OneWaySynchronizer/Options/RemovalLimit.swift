/// The number of removals a pass may make, and what happens when it would make more.
///
/// Protects against a source that returns an empty or truncated list as if it were complete.
public struct RemovalLimit: Sendable, Hashable, Codable {
    /// The reaction of a pass to more removals than the limit allows.
    public enum Action: String, Sendable, Hashable, Codable, CaseIterable {
        /// The pass ends with ``SyncError/Reason/removalLimitExceeded(removals:localCount:limit:)``
        /// before anything is removed or downloaded.
        case abort

        /// Nothing is removed, the rest of the pass continues, and the report counts the items that
        /// were kept.
        case keep
    }

    /// The highest number of removals; 0 allows none. `nil`: any number.
    public var count: Int?

    /// The highest share of the local items, from 0 to 1, that may be removed. `nil`: any share.
    public var fraction: Double?

    /// The number of removals that `fraction` allows in any case. Default 0.
    ///
    /// Without it, a fraction of 0.2 forbids to remove the only item, or one of four.
    public var minimum: Int

    /// The reaction beyond the limit. Default ``Action/abort``.
    public var action: Action

    /// Creates a limit by number, by share, or by both; of the two, the stricter one applies.
    ///
    ///     RemovalLimit(fraction: 0.2, atLeast: 10)  // a fifth of the items, and any 10
    public init(count: Int? = nil, fraction: Double? = nil, atLeast minimum: Int = 0, action: Action = .abort) {
        self.count = count
        self.fraction = fraction
        self.minimum = minimum
        self.action = action
    }

    /// Whether removing `removals` of `localCount` local items is within the limit.
    package func allows(removals: Int, of localCount: Int) -> Bool {
        guard removals > 0 else { return true }
        if let count, removals > count { return false }
        // Divided, not multiplied: 29 of 100 is exactly 0.29, but 0.29 of 100 is less than 29. NaN
        // allows nothing.
        if let fraction, removals > minimum { return Double(removals) / Double(localCount) <= fraction }
        return true
    }
}

extension RemovalLimit: CustomStringConvertible {
    /// The limit as readable text, such as `10 items or 20% of the local items`.
    public var description: String {
        let parts = [
            count.map { "\($0) items" },
            fraction.map { fraction in
                "\((fraction * 1000).rounded() / 10)% of the local items"
                    + (minimum > 0 ? ", and \(minimum) in any case" : "")
            },
        ]
        let limits = parts.compactMap(\.self)
        return limits.isEmpty ? "no limit" : limits.joined(separator: " or ")
    }
}
