public import SyncModel

extension SyncDeclaration.Part {
    /// An attribute whose values a closure makes of the JSON.
    ///
    ///     .attribute(\.bookedOn) { (text: String) in
    ///         text.split(separator: ".").reversed().joined(separator: "-")  // 31.12.1999
    ///     }
    ///
    /// The closure runs on the task that maps, and must not depend on the order of calls. It never
    /// receives null. A JSON value of another kind than `Input`, and an error that it throws, count
    /// as a value of the wrong type; see ``ValueContract/wrongType``. An export writes the stored
    /// value.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - defaultValue: The value of an object for which the JSON has none; null by default.
    ///   - remoteKey: The key in JSON, or a dotted path into nested objects; nil, the default, for
    ///     the one that the name implies.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - conversion: Converts from JSON; nil means null. If the result is not of the attribute's
    ///     type, it is converted by the rules for JSON, so that text may stand for a date.
    public static func attribute<
        Value, Input: JSONValue.Convertible & SendableMetatype, Output: AttributeValue.Convertible & SendableMetatype
    >(
        _ property: any KeyPath<Root, Value> & Sendable, default defaultValue: AttributeValue = .null,
        remoteKey: String? = nil, formerName: String? = nil,
        conversion: @escaping @Sendable (Input) throws -> Output?
    ) -> Self {
        attribute(
            property, default: defaultValue, remoteKey: remoteKey, formerName: formerName,
            accompaniedBy: RecordMapper.Transformers.AttributeTransformer(conversion))
    }

    /// An attribute whose values a closure makes of the JSON, and another one converts back for an
    /// export.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - defaultValue: The value of an object for which the JSON has none; null by default.
    ///   - remoteKey: The key in JSON, or a dotted path into nested objects; nil, the default, for
    ///     the one that the name implies.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - conversion: Converts from JSON; nil means null.
    ///   - reverse: Converts to JSON; nil means null. If it throws an error, or the stored value is
    ///     of another kind than `Output`, the export fails.
    public static func attribute<
        Value, Input: JSONValue.Convertible & SendableMetatype,
        Output: AttributeValue.Convertible & AttributeValue.Initializable & SendableMetatype
    >(
        _ property: any KeyPath<Root, Value> & Sendable, default defaultValue: AttributeValue = .null,
        remoteKey: String? = nil, formerName: String? = nil,
        conversion: @escaping @Sendable (Input) throws -> Output?,
        reverse: @escaping @Sendable (Output) throws -> Input?
    ) -> Self {
        attribute(
            property, default: defaultValue, remoteKey: remoteKey, formerName: formerName,
            accompaniedBy: RecordMapper.Transformers.AttributeTransformer(conversion, reverse: reverse))
    }
}
