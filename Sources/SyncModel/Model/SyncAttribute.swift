/// A property of an entity that holds a value of its own.
public struct SyncAttribute: Hashable, Sendable {
    /// The name, unique among the attributes and relationships of the entity, inherited ones
    /// included.
    public var name: String
    /// What it holds.
    public var type: AttributeType
    /// Whether it may be without a value. Checked where objects are mapped, not by a store.
    public var isOptional: Bool
    /// The value of a new object that was given none; null means that there is no default.
    public var defaultValue: AttributeValue
    /// The name of the transformer between JSON and the value, as a model file states it outside
    /// the user info; nil where there is none.
    public var transformerName: String?
    /// The name that the attribute had in an earlier version of the model, by which a store that
    /// holds that version finds its data; nil where it was not renamed.
    public var formerName: String?
    /// Annotations, as they stand in a model file.
    public var userInfo: [String: String]

    /// Creates an attribute.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - type: What it holds.
    ///   - optional: Whether it may be without a value; true by default.
    ///   - defaultValue: The value of a new object that was given none; must be one that `type`
    ///     accepts.
    ///   - transformer: The name of the transformer between JSON and the value.
    ///   - formerName: The name it had in an earlier version of the model.
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
