/// How many removals a pass may make, and what happens to a pass that would make more.
///
/// Protects against a source that answers with an empty or truncated list without saying so.
public struct RemovalLimit: Sendable, Hashable, Codable {
    /// What happens to a pass that would remove more than the limit.
    public enum Action: String, Sendable, Hashable, Codable, CaseIterable {
        /// The pass ends with ``SyncError/Reason/removalLimitExceeded(removals:localCount:limit:)``
        /// before anything is removed or downloaded.
        case abort

        /// Nothing is removed, the rest of the pass goes on, and the report says how many removals
        /// were withheld.
        case withhold
    }

    /// The highest number of removals; 0 allows none. `nil`: any number.
    public var count: Int?

    /// The highest share of the local items, from 0 to 1, that may be removed. `nil`: any share.
    public var fraction: Double?

    /// What happens beyond the limit. Default ``Action/abort``.
    public var action: Action

    /// Creates a limit by number, by share, or by both, in which case the stricter one counts.
    public init(count: Int? = nil, fraction: Double? = nil, action: Action = .abort) {
        self.count = count
        self.fraction = fraction
        self.action = action
    }

    /// Whether removing `removals` of `localCount` local items is within the limit.
    package func allows(removals: Int, of localCount: Int) -> Bool {
        guard removals > 0 else { return true }
        if let count, removals > count { return false }
        // Divided, not multiplied: 29 of 100 is exactly 0.29, but 0.29 of 100 is less than 29. Also
        // false if no number.
        if let fraction { return Double(removals) / Double(localCount) <= fraction }
        return true
    }
}

extension RemovalLimit: CustomStringConvertible {
    /// The limit in words, such as `10 items or 20% of the local items`.
    public var description: String {
        let parts = [
            count.map { "\($0) items" },
            fraction.map { "\(($0 * 1000).rounded() / 10)% of the local items" },
        ]
        let limits = parts.compactMap(\.self)
        return limits.isEmpty ? "no limit" : limits.joined(separator: " or ")
    }
}
