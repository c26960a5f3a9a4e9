public import SyncModel

extension RecordMapper {
    /// A registry of named conversions that the annotations of a model refer to.
    ///
    ///     var transformers = RecordMapper.Transformers()
    ///     transformers.register("Cents") { (text: String) in
    ///         Double(text).map { Int64(($0 * 100).rounded()) }
    ///     } reverse: { (cents: Int64) in String(Double(cents) / 100) }
    ///
    /// Closures run on the task that maps or exports, and must not depend on the order of calls. A
    /// transformer of attributes never receives null: null stays null in both directions.
    ///
    /// The transformers that Apple's Foundation provides for transformable attributes, such as
    /// `NSSecureUnarchiveFromData`, and the empty name are built in. They store a value as the
    /// bytes of its JSON text. A transformer that is registered under such a name replaces the
    /// built-in one.
    public struct Transformers: Sendable {
        /// A closure that converts a JSON value to the value of an attribute. Nil means null.
        public typealias Forward = @Sendable (JSONValue) throws -> AttributeValue?
        /// A closure that converts the value of an attribute to a JSON value. Nil means null.
        public typealias Reverse = @Sendable (AttributeValue) throws -> JSONValue?
        /// A closure that returns the entity of a JSON object; nil if the JSON does not state it. A
        /// new object is then of the requested entity, and a stored one keeps its entity.
        ///
        /// Numbers with a fraction or an exponent are ``JSONValue/decimal(_:)``, so that no digit
        /// is lost.
        public typealias EntityMapper = @Sendable (JSONValue.Object) throws -> String?
        /// A closure that rewrites a JSON object before mapping.
        ///
        /// Numbers with a fraction or an exponent are ``JSONValue/decimal(_:)``, so that no digit
        /// is lost.
        public typealias ObjectTransformer = @Sendable (JSONValue.Object) throws -> JSONValue.Object

        struct AttributeTransformer: Sendable {
            let forward: Forward
            let reverse: Reverse?
        }

        private(set) var attributeTransformers: [String: AttributeTransformer] = [:]
        private(set) var entityMappers: [String: EntityMapper] = [:]
        private(set) var objectTransformers: [String: ObjectTransformer] = [:]

        /// Creates a registry without transformers.
        public init() {}

        /// Registers a transformer of attributes and replaces one of the same name.
        ///
        /// If the result of `forward` is not of the attribute's type, it is converted by the rules
        /// for JSON. A transformable attribute stores binary data unchanged, and any other result
        /// as its JSON text.
        ///
        /// - Parameters:
        ///   - name: The name that annotations refer to.
        ///   - forward: Converts from JSON. If it throws an error, the value counts as a value of
        ///     the wrong type; see ``ValueContract/wrongType``.
        ///   - reverse: Converts to JSON. If it throws an error, the export fails. Nil, the
        ///     default, for a one-way transformer, whose attributes are exported without
        ///     conversion.
        public mutating func register(_ name: String, forward: @escaping Forward, reverse: Reverse? = nil) {
            attributeTransformers[name] = AttributeTransformer(forward: forward, reverse: reverse)
        }

        /// Returns these transformers and those that the types of a model declare.
        func adding(declaredBy model: DataModel) -> Transformers {
            var all = self
            for (name, conversion) in model.conversions {
                all.attributeTransformers[name] = conversion as? AttributeTransformer
            }
            return all
        }

        /// Registers a one-way transformer of attributes with a typed closure.
        ///
        /// A JSON value of another kind than `Input` counts as a value of the wrong type; see
        /// ``ValueContract/wrongType``.
        public mutating func register<
            Input: JSONValue.Convertible & SendableMetatype, Output: AttributeValue.Convertible & SendableMetatype
        >(
            _ name: String, forward: @escaping @Sendable (Input) throws -> Output?
        ) {
            attributeTransformers[name] = AttributeTransformer(forward)
        }

        /// Registers a transformer of attributes with typed closures.
        ///
        /// A JSON value of another kind than `Input` counts as a value of the wrong type; see
        /// ``ValueContract/wrongType``. A stored value of another kind than `Output` makes the
        /// export fail.
        public mutating func register<
            Input: JSONValue.Convertible & SendableMetatype,
            Output: AttributeValue.Convertible & AttributeValue.Initializable & SendableMetatype
        >(
            _ name: String, forward: @escaping @Sendable (Input) throws -> Output?,
            reverse: @escaping @Sendable (Output) throws -> Input?
        ) {
            attributeTransformers[name] = AttributeTransformer(forward, reverse: reverse)
        }

        /// Registers an entity mapper and replaces one of the same name.
        public mutating func registerEntityMapper(_ name: String, _ mapper: @escaping EntityMapper) {
            entityMappers[name] = mapper
        }

        /// Registers a transformer of JSON objects and replaces one of the same name.
        public mutating func registerObjectTransformer(_ name: String, _ transformer: @escaping ObjectTransformer) {
            objectTransformers[name] = transformer
        }

        /// Returns the transformer of attributes with this name; nil if there is none. `reverse` is
        /// nil for a one-way transformer.
        public func transformer(_ name: String) -> (forward: Forward, reverse: Reverse?)? {
            attributeTransformers[name].map { ($0.forward, $0.reverse) }
        }

        /// Returns whether a name belongs to a built-in transformer, which keeps the bytes of a
        /// value.
        static func isBuiltIn(_ name: String) -> Bool {
            name.allSatisfy(\.isWhitespace) || builtInNames.contains(name)
        }

        /// The names of Foundation's transformers, and the spellings of them that model files
        /// contain.
        private static let builtInNames: Set<String> = {
            let names = ["NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSUnarchiveFromData"]
            return Set(names.flatMap { [$0, $0 + "Transformer", $0 + "TransformerName"] })
        }()
    }
}

extension RecordMapper.Transformers.AttributeTransformer {
    /// Creates a one-way transformer of a typed closure.
    init<Input: JSONValue.Convertible & SendableMetatype, Output: AttributeValue.Convertible & SendableMetatype>(
        _ forward: @escaping @Sendable (Input) throws -> Output?
    ) {
        self.init(forward: Self.untyped(forward), reverse: nil)
    }

    /// Creates a transformer of typed closures.
    init<
        Input: JSONValue.Convertible & SendableMetatype,
        Output: AttributeValue.Convertible & AttributeValue.Initializable & SendableMetatype
    >(
        _ forward: @escaping @Sendable (Input) throws -> Output?,
        reverse: @escaping @Sendable (Output) throws -> Input?
    ) {
        self.init(
            forward: Self.untyped(forward),
            reverse: { value in
                guard let output = Output(value) else { throw TransformerMismatch() }
                return try reverse(output)?.json
            })
    }

    private static func untyped<
        Input: JSONValue.Convertible & SendableMetatype, Output: AttributeValue.Convertible & SendableMetatype
    >(
        _ forward: @escaping @Sendable (Input) throws -> Output?
    ) -> RecordMapper.Transformers.Forward {
        { json in
            guard let input = Input(json: json) else { throw TransformerMismatch() }
            return try forward(input)?.value
        }
    }
}

/// The error for a value of a kind that a transformer's closure does not accept.
struct TransformerMismatch: Error, CustomStringConvertible {
    var description: String { "the transformer takes values of another kind" }
}
