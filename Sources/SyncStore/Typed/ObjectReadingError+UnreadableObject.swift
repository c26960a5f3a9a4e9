public import SyncModel

extension ObjectReadingError {
    /// A stored object that a type cannot hold, such as one without a value for a property that is
    /// not optional.
    public struct UnreadableObject: Hashable, Sendable {
        /// The key of the object.
        public let key: Record.Key
        /// The entity and property at fault, and the reason.
        public let error: Record.CodingError

        /// The value that the type cannot hold; null for another reason.
        public var value = AttributeValue.null
        /// The values of the property's enum, as far as they are known; otherwise empty.
        public var allowedValues: [AttributeValue] = []

        /// Creates a report about an object.
        public init(key: Record.Key, error: Record.CodingError) {
            self.key = key
            self.error = error
        }
    }
}

extension ObjectReadingError.UnreadableObject: CustomStringConvertible, CustomDebugStringConvertible {
    /// The text with the value, which may be personal data.
    public var debugDescription: String {
        value.isNull ? description : "\(description); the value is \(value)"
    }

    /// The object and the reason as text, such as `7: User.name has no value`.
    public var description: String {
        let allowed = allowedValues.isEmpty ? "" : ", whose values are \(AttributeValue.list(allowedValues))"
        return "\(key): \(error)\(allowed)"
    }
}
