/// The values of a statement's parameters, collected while its text is written.
package struct SQLParameters {
    let dialect: any SQLDialect
    private(set) var bindings: [SQLBinding] = []

    init(_ dialect: any SQLDialect) {
        self.dialect = dialect
    }

    /// Adds a value.
    ///
    /// - Returns: The placeholder of the value.
    package mutating func add(_ binding: SQLBinding) -> String {
        bindings.append(binding)
        return dialect.placeholder(bindings.count, for: binding)
    }
}
