import SyncBase

/// The errors of a pass, in bounded memory: the first in full, all counted by stage and kind.
final class ErrorLog: Sendable {
    static let maximumErrorCount = 100
    private static let maximumKindCount = 32

    private struct Kind: Hashable {
        var stage: SyncStage
        /// `nil` for all kinds beyond the maximum.
        var type: ObjectIdentifier?
    }

    private struct State {
        var errors: [SyncError] = []
        var counts: [Kind: SyncReport.ErrorCount] = [:]
    }

    private let state = Locked(State())

    var isEmpty: Bool { state.withLock { $0.errors.isEmpty } }

    /// Adds an error. Any number of tasks may call it.
    ///
    /// - Returns: Whether it is kept in full.
    @discardableResult
    func record(_ error: SyncError) -> Bool {
        let type = type(of: error.underlying)
        return state.withLock { state in
            let isKept = state.errors.count < Self.maximumErrorCount
            if isKept { state.errors.append(error) }
            let known = Kind(stage: error.stage, type: ObjectIdentifier(type))
            if state.counts[known] != nil {
                state.counts[known]?.count += 1
            } else if state.counts.count < Self.maximumKindCount {
                state.counts[known] = SyncReport.ErrorCount(
                    stage: error.stage, kind: String(reflecting: type), count: 1)
            } else {
                let other = Kind(stage: error.stage, type: nil)
                state.counts[other, default: SyncReport.ErrorCount(stage: error.stage, kind: "other", count: 0)]
                    .count += 1
            }
            return isKept
        }
    }

    /// Writes the recorded errors into a report.
    func fill(_ report: inout SyncReport) {
        let (errors, counts) = state.withLock { ($0.errors, Array($0.counts.values)) }
        report.errors = errors
        report.errorCounts = counts.sorted {
            ($1.count, $0.stage.rawValue, $0.kind) < ($0.count, $1.stage.rawValue, $1.kind)
        }
    }
}
