extension RecordMapper.Exporter {
    /// Options of a ``RecordMapper/Exporter``.
    public struct Options: Sendable {
        /// The representation of related objects.
        public enum Relationships: Hashable, Sendable, CaseIterable {
            /// A to-one relationship is written as an object, a to-many relationship as an array of
            /// objects.
            case array
            /// Relationships are written as nested attributes, as web frameworks accept them.
            ///
            /// The key gets the suffix `_attributes` (`Attributes` in camelCase). A to-many
            /// relationship is an object whose keys are the indexes, starting at `"0"`. The key
            /// `destroy` of an attribute is written as `_destroy`.
            case nested
            /// Related objects are omitted.
            case none
        }

        /// A naming convention for keys of more than one word.
        public enum KeyStyle: Hashable, Sendable, CaseIterable {
            /// Lowercase words joined by underscores, such as `created_at`.
            case snakeCase
            /// Words that start with a capital, except the first, such as `createdAt`.
            case camelCase
        }

        /// The style of keys that are inferred from names; ``KeyStyle/snakeCase`` by default.
        ///
        /// Annotated keys are written unchanged.
        public var keyStyle: KeyStyle = .snakeCase
        /// The representation of related objects; ``Relationships/array`` by default.
        public var relationships: Relationships = .array
        /// The format of dates; ``DateFormat/iso8601`` by default, which keeps fractions of a
        /// second. A date outside the years 0 to 9999 is an error,
        /// ``MappingError/inexpressible(entity:key:attribute:)``.
        public var dateFormat: DateFormat = .iso8601
        /// The layout of the JSON text; compact by default.
        public var style: JSONWriter.Style = .compact
        /// The maximum depth of objects that are nested by relationships; 128 by default. Clamped
        /// to 1...2,048.
        ///
        /// An object beyond the limit makes the export fail with
        /// ``MappingError/nestedTooDeep(entity:maximumDepth:)``.
        public var maximumDepth: Int {
            get { depth }
            set { depth = min(max(newValue, 1), 2048) }
        }

        private var depth = 128

        /// Creates options with the default values.
        public init() {}
    }
}
