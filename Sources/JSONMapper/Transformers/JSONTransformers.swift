public import SyncModel

/// Named conversions that the annotations of a model refer to.
///
///     var transformers = JSONTransformers()
///     transformers.register("Cents") { (text: String) in Double(text).map { Int64($0 * 100) } }
///         reverse: { (cents: Int64) in String(Double(cents) / 100) }
///
/// Closures run in the task that maps and must not depend on the order of calls. They never receive
/// null, which stays null in both directions.
public struct JSONTransformers: Sendable {
    /// Converts a JSON value to an attribute's value; nil means null.
    public typealias Forward = @Sendable (JSONValue) throws -> AttributeValue?
    /// Converts an attribute's value to a JSON value; nil means null.
    public typealias Reverse = @Sendable (AttributeValue) throws -> JSONValue?
    /// Returns the name of an object's entity; nil for the requested entity.
    ///
    /// Numbers with a fraction or an exponent are `JSONValue.decimal`, so that no digit is lost.
    public typealias EntityMapper = @Sendable (JSONObject) throws -> String?
    /// Changes an object before it is mapped.
    ///
    /// Numbers with a fraction or an exponent are `JSONValue.decimal`, so that no digit is lost.
    public typealias ObjectTransformer = @Sendable (JSONObject) throws -> JSONObject

    struct AttributeTransformer: Sendable {
        var forward: Forward
        var reverse: Reverse?
    }

    private(set) var attributeTransformers: [String: AttributeTransformer] = [:]
    private(set) var entityMappers: [String: EntityMapper] = [:]
    private(set) var objectTransformers: [String: ObjectTransformer] = [:]

    /// Creates an empty collection.
    public init() {}

    /// Adds a transformer of attributes, replacing one of the same name.
    ///
    /// What `forward` returns is converted to the attribute's type by the same rules as JSON, if it
    /// is not of that type. A transformable attribute keeps bytes as they are, and anything else as
    /// its JSON text.
    ///
    /// - Parameters:
    ///   - name: The name that annotations refer to.
    ///   - forward: From JSON. What it throws makes the value one of wrong type.
    ///   - reverse: To JSON; nil for a one-way transformer, with which the value is exported as it
    ///     is.
    public mutating func register(_ name: String, forward: @escaping Forward, reverse: Reverse? = nil) {
        attributeTransformers[name] = AttributeTransformer(forward: forward, reverse: reverse)
    }

    /// Adds a one-way transformer of attributes whose closure says what it takes. A JSON value of
    /// another kind is one of wrong type.
    public mutating func register<
        Input: JSONConvertible & SendableMetatype, Output: ValueConvertible & SendableMetatype
    >(
        _ name: String, forward: @escaping @Sendable (Input) throws -> Output?
    ) {
        register(name, forward: Self.untyped(forward))
    }

    /// Adds a transformer of attributes whose closures say what they take. A value of another kind
    /// is one of wrong type.
    public mutating func register<
        Input: JSONConvertible & SendableMetatype, Output: ValueConvertible & ValueInitializable & SendableMetatype
    >(
        _ name: String, forward: @escaping @Sendable (Input) throws -> Output?,
        reverse: @escaping @Sendable (Output) throws -> Input?
    ) {
        register(
            name, forward: Self.untyped(forward),
            reverse: { value in
                guard let output = Output(value) else { throw TransformerMismatch() }
                return try reverse(output)?.json
            })
    }

    /// Adds an entity mapper. Replaces one with the same name.
    public mutating func registerEntityMapper(_ name: String, _ mapper: @escaping EntityMapper) {
        entityMappers[name] = mapper
    }

    /// Adds a transformer of objects. Replaces one with the same name.
    public mutating func registerObjectTransformer(_ name: String, _ transformer: @escaping ObjectTransformer) {
        objectTransformers[name] = transformer
    }

    /// The attribute transformer of a name; nil where there is none. For whoever exports: `reverse`
    /// is nil for a one-way one.
    public func transformer(_ name: String) -> (forward: Forward, reverse: Reverse?)? {
        attributeTransformers[name].map { ($0.forward, $0.reverse) }
    }

    private static func untyped<Input: JSONConvertible & SendableMetatype, Output: ValueConvertible & SendableMetatype>(
        _ forward: @escaping @Sendable (Input) throws -> Output?
    ) -> Forward {
        { json in
            guard let input = Input(json: json) else { throw TransformerMismatch() }
            return try forward(input)?.value
        }
    }
}

/// A value is not of the kind that a transformer takes.
struct TransformerMismatch: Error, CustomStringConvertible {
    var description: String { "the transformer takes values of another kind" }
}
