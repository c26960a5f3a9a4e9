extension AttributeValue {
    /// A Swift type that can be created from attribute values of its kind.
    public protocol Initializable {
        /// Creates an instance from an attribute value, or nil if the value does not convert.
        init?(_ value: AttributeValue)
    }
}
