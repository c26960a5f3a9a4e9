extension ObjectParts {
    /// A value that a query can return: an attribute's value or an optional one.
    public protocol SelectedValue: Sendable {
        /// The type of the value without its optionality.
        associatedtype Plain: AttributeRepresentable

        /// Creates a value from an attribute's value; nil if it does not convert.
        init?(selected value: AttributeValue)
    }
}

extension AttributeRepresentable {
    /// Creates a value from an attribute's value.
    public init?(selected value: AttributeValue) { self.init(value) }
}

extension Optional: ObjectParts.SelectedValue where Wrapped: AttributeRepresentable {
    /// The wrapped type.
    public typealias Plain = Wrapped

    /// Creates a value from an attribute's value; null becomes nil as a value.
    public init?(selected value: AttributeValue) {
        guard !value.isNull else {
            self = nil
            return
        }
        guard let wrapped = Wrapped(value) else { return nil }
        self = wrapped
    }
}
