/// An expectation of a scenario that does not hold.
struct ScenarioFailed: Error, CustomStringConvertible {
    let description: String
}

/// Fails unless a value is the expected one.
func expect<T: Equatable>(_ found: T, _ wanted: T, _ subject: String) throws {
    guard found == wanted else {
        throw ScenarioFailed(description: "\(subject): found \(found), expected \(wanted)")
    }
}
