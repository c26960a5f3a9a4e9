/// A property of an entity that holds a value.
public struct SyncAttribute: Hashable, Sendable {
    /// The name, unique among the attributes and relationships of the entity, inherited ones
    /// included.
    public var name: String
    /// The type of the values.
    public var type: AttributeType
    /// Whether the value can be null. Checked when objects are mapped, not by stores.
    public var isOptional: Bool
    /// The value of a new object for which none is given; `.null` means no default.
    public var defaultValue: AttributeValue
    /// The name of the transformer between JSON and the value; nil for none.
    ///
    /// A model file states it outside the user info.
    public var transformerName: String?
    /// The attribute's name in an earlier version of the model; nil if it was not renamed.
    ///
    /// A store that holds the earlier version finds its data by this name.
    public var formerName: String?
    /// Annotations, as in the user info of a model file.
    public var userInfo: [String: String]
    /// What the Swift type of the property can hold.
    package var typeLimits = TypeLimits()

    /// Creates the declaration of an attribute.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - type: The type of the values.
    ///   - optional: Whether the value can be null; true by default.
    ///   - defaultValue: The value of a new object for which none is given, accepted by `type`;
    ///     `.null`, the default, for none.
    ///   - allowedValues: The values that the attribute may have, accepted by `type`; empty, the
    ///     default, for any. They are added to `userInfo`; see ``allowedValues``.
    ///   - transformer: The name of the transformer between JSON and the value; nil by default.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - userInfo: Annotations; empty by default.
    public init(
        _ name: String, _ type: AttributeType, optional: Bool = true, default defaultValue: AttributeValue = .null,
        allowedValues: [AttributeValue] = [], transformer: String? = nil, formerName: String? = nil,
        userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.type = type
        self.isOptional = optional
        self.defaultValue = defaultValue
        self.transformerName = transformer
        self.formerName = formerName
        self.userInfo = userInfo
        if !allowedValues.isEmpty { self.allowedValues = allowedValues }
    }
}
