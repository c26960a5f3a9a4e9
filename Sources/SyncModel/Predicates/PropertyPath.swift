/// A path to a property, in a predicate or an ordering.
///
///     PropertyPath("age")                 // an attribute
///     PropertyPath("company.remoteID")    // an attribute of a related object
///     PropertyPath("notes.@count")        // the number of related objects
public struct PropertyPath: Hashable, Sendable {
    /// The names along the path, relationships first.
    public var components: [String]

    /// Creates a path from names separated by dots.
    public init(_ path: String) {
        components = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The names separated by dots.
    public var path: String {
        components.joined(separator: ".")
    }

    /// True if there is no value.
    public var isNull: RecordPredicate {
        .isNull(self)
    }

    /// True if there is a value.
    public var isNotNull: RecordPredicate {
        .not(.isNull(self))
    }

    /// True if the value is one of several. Nulls among them are ignored.
    public func isIn(_ values: some Sequence<some ValueConvertible>) -> RecordPredicate {
        .isIn(self, values.map(\.value).filter { !$0.isNull })
    }

    /// True if the text contains another, byte for byte.
    public func contains(_ text: String) -> RecordPredicate {
        .text(self, .contains, text)
    }

    /// True if the text begins with another, byte for byte.
    public func beginsWith(_ text: String) -> RecordPredicate {
        .text(self, .beginsWith, text)
    }

    /// True if the text ends with another, byte for byte.
    public func endsWith(_ text: String) -> RecordPredicate {
        .text(self, .endsWith, text)
    }

    /// Holds where the value is the same; for null: where there is none.
    public static func == (key: PropertyPath, value: some ValueConvertible) -> RecordPredicate {
        value.value.isNull ? .isNull(key) : .comparison(key, .equal, value.value)
    }

    /// Holds where there is no value.
    public static func == (key: PropertyPath, nothing: _OptionalNilComparisonType) -> RecordPredicate {
        .isNull(key)
    }

    /// Holds where there is a value and it is another; for null: where there is one.
    public static func != (key: PropertyPath, value: some ValueConvertible) -> RecordPredicate {
        value.value.isNull ? .not(.isNull(key)) : .comparison(key, .notEqual, value.value)
    }

    /// Holds where there is a value.
    public static func != (key: PropertyPath, nothing: _OptionalNilComparisonType) -> RecordPredicate {
        .not(.isNull(key))
    }

    /// Holds where the value is less.
    public static func < (key: PropertyPath, value: some ValueConvertible) -> RecordPredicate {
        .comparison(key, .less, value.value)
    }

    /// Holds where the value is less or the same.
    public static func <= (key: PropertyPath, value: some ValueConvertible) -> RecordPredicate {
        .comparison(key, .lessOrEqual, value.value)
    }

    /// Holds where the value is greater.
    public static func > (key: PropertyPath, value: some ValueConvertible) -> RecordPredicate {
        .comparison(key, .greater, value.value)
    }

    /// Holds where the value is greater or the same.
    public static func >= (key: PropertyPath, value: some ValueConvertible) -> RecordPredicate {
        .comparison(key, .greaterOrEqual, value.value)
    }
}
