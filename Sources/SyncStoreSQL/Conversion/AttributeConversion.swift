public import SyncModel

/// A conversion of an attribute's stored values, for a migration that renames or retypes it.
///
///     options.conversions = [
///         .attribute("Product", "price") { old in
///             guard case .string(let text) = old else { return .null }
///             return Decimal(string: text.replacing("€", with: "")).map { .decimal($0) } ?? .null
///         }
///     ]
///
/// A store uses it once: when it opens tables in which the attribute has another type or another
/// name (see `SyncAttribute.formerName`) than in the model. Without a conversion, values move to
/// the new type if every one fits it exactly.
public struct AttributeConversion: Sendable {
    /// The entity that declares the attribute.
    public let entity: String
    /// The attribute's name in the model.
    public let attribute: String
    let convert: @Sendable (AttributeValue) throws -> AttributeValue

    /// Returns a conversion of an attribute.
    ///
    /// - Parameters:
    ///   - entity: The entity that declares the attribute.
    ///   - name: The attribute's name in the model.
    ///   - convert: Returns the new value for an old one, which has the old type. Called in the
    ///     migration's transaction for each object, also for null. A value that the new type does
    ///     not accept is an `SQLSchemaError.unfitValue`; an error that is thrown ends the opening
    ///     of the store. In both cases, the database is unchanged.
    public static func attribute(
        _ entity: String, _ name: String, _ convert: @escaping @Sendable (AttributeValue) throws -> AttributeValue
    ) -> AttributeConversion {
        AttributeConversion(entity: entity, attribute: name, convert: convert)
    }
}
