/// The options of a `RecordExporter`.
public struct ExportOptions: Sendable {
    /// The form of related objects.
    public enum Relationships: Hashable, Sendable, CaseIterable {
        /// A to-one relationship is an object, a to-many relationship an array of objects.
        case array
        /// Nested attributes as web frameworks read them.
        ///
        /// The key ends with `_attributes` (`Attributes` in camelCase). A to-many relationship is an object
        /// whose keys are indices from `"0"` on. An attribute `destroy` is written as `_destroy`.
        case nested
        /// Related objects are left out.
        case none
    }

    /// A convention for keys of more than one word.
    public enum KeyStyle: Hashable, Sendable, CaseIterable {
        /// `created_at`
        case snakeCase
        /// `createdAt`
        case camelCase
    }

    /// The style of keys that names give; ``KeyStyle/snakeCase`` by default.
    ///
    /// Annotated keys are written as they are annotated.
    public var keyStyle: KeyStyle = .snakeCase
    /// The form of related objects; ``Relationships/array`` by default.
    public var relationships: Relationships = .array
    /// The format of dates; ``DateFormat/iso8601`` by default, which keeps fractions of a second.
    public var dateFormat: DateFormat = .iso8601
    /// The layout of the bytes; compact by default.
    public var style: JSONWriter.Style = .compact
    /// The maximum nesting of objects by relationships, from 1 to 2,048; 128 by default.
    ///
    /// Deeper nesting is an error.
    public var maximumDepth: Int {
        get { depth }
        set { depth = min(max(newValue, 1), 2048) }
    }

    private var depth = 128

    /// Creates options with the defaults.
    public init() {}
}
