/// How a `RecordExporter` writes objects.
public struct ExportOptions: Sendable {
    /// What becomes of the objects that an object is related to.
    public enum Relationships: Hashable, Sendable, CaseIterable {
        /// A to-one relationship is an object, a to-many one an array of objects.
        case array
        /// As web frameworks take nested attributes: the key gets `_attributes` (`Attributes` in
        /// camelCase), a to-many relationship is an object whose keys are indices from `"0"` on,
        /// and an attribute `destroy` is written as `_destroy`.
        case nested
        /// They are left out.
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
    /// What becomes of related objects; ``Relationships/array`` by default.
    public var relationships: Relationships = .array
    /// The format of dates; ``DateFormat/iso8601`` by default, which keeps fractions of a second.
    public var dateFormat: DateFormat = .iso8601
    /// How the bytes are laid out; compact by default.
    public var style: JSONWriter.Style = .compact
    /// How deep objects may be nested in one another by relationships; 1...2,048, 128 by default.
    /// An object deeper down is an error.
    public var maximumDepth: Int {
        get { depth }
        set { depth = min(max(newValue, 1), 2048) }
    }

    private var depth = 128

    /// The defaults.
    public init() {}
}
