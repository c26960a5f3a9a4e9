/// The text of a statement and the values of its parameters, in order.
package struct SQLStatementText: Hashable, Sendable {
    package var text: String
    package var bindings: [SQLBinding]

    package init(_ text: String, _ bindings: [SQLBinding] = []) {
        self.text = text
        self.bindings = bindings
    }
}
