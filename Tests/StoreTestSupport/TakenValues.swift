import SyncStore

extension Error {
    /// Whether the error is that another object has the values of a unique index.
    package func isTaken(_ attributes: [String], of entity: String) -> Bool {
        guard case .refused(let refusal) = self as? StoreError, case .taken(.some) = refusal.reason else {
            return false
        }
        return refusal.entity == entity && refusal.attributes == attributes && refusal.key != nil
    }
}
