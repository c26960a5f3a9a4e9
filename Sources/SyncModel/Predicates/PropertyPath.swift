/// A path to a value, as it is written in a predicate or an ordering.
///
///     PropertyPath("age")                 // an attribute
///     PropertyPath("company.remoteID")    // one of an object that a to-one relationship leads to
///     PropertyPath("notes.@count")        // how many objects a to-many relationship leads to
public struct PropertyPath: Hashable, Sendable {
    /// The names along the path, relationships first.
    public var components: [String]

    /// Creates a key of names joined by points.
    public init(_ path: String) {
        components = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The names joined by points.
    public var path: String {
        components.joined(separator: ".")
    }

    /// Holds where there is no value.
    public var isNull: RecordPredicate {
        .isNull(self)
    }

    /// Holds where there is a value.
    public var isNotNull: RecordPredicate {
        .not(.isNull(self))
    }

    /// Holds where the value is one of some; never where they are none. Nulls among them are passed
    /// over.
    public func isIn(_ values: some Sequence<some ValueConvertible>) -> RecordPredicate {
        .isIn(self, values.map(\.value).filter { !$0.isNull })
    }

    /// Holds where the text contains another, byte for byte.
    public func contains(_ text: String) -> RecordPredicate {
        .text(self, .contains, text)
    }

    /// Holds where the text begins with another, byte for byte.
    public func beginsWith(_ text: String) -> RecordPredicate {
        .text(self, .beginsWith, text)
    }

    /// Holds where the text ends with another, byte for byte.
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
