#if Postgres
/// A statement with its parameters.
package struct PostgresStatement: Sendable {
    let text: String
    let parameters: [PostgresParameter]
    let binaryResult: Bool

    /// - Parameters:
    ///   - text: The statement, with `$1`, `$2` … for values.
    ///   - parameters: The values; none by default.
    ///   - binaryResult: Whether the result has values in the binary form of their types; false by
    ///     default.
    package init(_ text: String, _ parameters: [PostgresParameter] = [], binaryResult: Bool = false) {
        (self.text, self.parameters, self.binaryResult) = (text, parameters, binaryResult)
    }
}
#endif
