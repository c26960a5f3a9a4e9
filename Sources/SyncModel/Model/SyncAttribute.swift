/// A property of an entity that holds a value.
public struct SyncAttribute: Hashable, Sendable {
    /// The name, unique among all properties of the entity, including inherited ones.
    public var name: String
    /// The type of the values.
    public var type: AttributeType
    /// Whether the value may be null. The mapper checks this, not the store.
    public var isOptional: Bool
    /// The value of a new object without a value for the attribute; null for no default.
    public var defaultValue: AttributeValue
    /// The name of the transformer between JSON and the value, from a model file; nil for none.
    ///
    /// An annotation in ``userInfo`` takes precedence.
    public var transformerName: String?
    /// The attribute's name in an earlier version of the model; nil if it was not renamed.
    ///
    /// A store finds the data of the earlier version by this name.
    public var formerName: String?
    /// The annotations of a model file.
    public var userInfo: [String: String]

    /// Creates an attribute.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - type: The type of the values.
    ///   - optional: Whether the value may be null; true by default.
    ///   - defaultValue: The value of a new object without one. `type` must accept it.
    ///   - transformer: The name of the transformer between JSON and the value.
    ///   - formerName: The name in an earlier version of the model.
    ///   - userInfo: Annotations.
    public init(
        _ name: String, _ type: AttributeType, optional: Bool = true, default defaultValue: AttributeValue = .null,
        transformer: String? = nil, formerName: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.type = type
        self.isOptional = optional
        self.defaultValue = defaultValue
        self.transformerName = transformer
        self.formerName = formerName
        self.userInfo = userInfo
    }
}
