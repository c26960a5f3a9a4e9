/// A path from an entity to a value, for predicates and orderings.
///
///     PropertyPath("age")                 // an attribute
///     PropertyPath("company.remoteID")    // an attribute of the object in a to-one relationship
///     PropertyPath("notes.@count")        // the number of objects in a to-many relationship
///
/// A path is resolved only when it is bound to an entity. See ``bound(to:in:)``.
public struct PropertyPath: Hashable, Sendable {
    /// The names along the path, relationships first.
    public var components: [String]

    /// Creates a path from names separated by periods.
    public init(_ path: String) {
        components = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// Creates a path from its names.
    package init(components: [String]) {
        self.components = components
    }

    /// The names of the path, separated by periods.
    public var path: String {
        components.joined(separator: ".")
    }

    /// A predicate that is true if there is no value.
    public var isNull: RecordPredicate {
        .isNull(self)
    }

    /// A predicate that is true if there is a value.
    public var isNotNull: RecordPredicate {
        .not(.isNull(self))
    }

    /// A predicate that is true if the value equals one of a sequence.
    ///
    /// Nulls in the sequence are ignored. The predicate is false for a sequence without other
    /// values.
    public func isIn(_ values: some Sequence<some AttributeValue.Convertible>) -> RecordPredicate {
        .isIn(self, values.map(\.value).filter { !$0.isNull })
    }

    /// A predicate that is true if the text contains another, compared byte by byte.
    public func contains(_ text: String) -> RecordPredicate {
        .text(self, .contains, text)
    }

    /// A predicate that is true if the text begins with another, compared byte by byte.
    public func beginsWith(_ text: String) -> RecordPredicate {
        .text(self, .beginsWith, text)
    }

    /// A predicate that is true if the text ends with another, compared byte by byte.
    public func endsWith(_ text: String) -> RecordPredicate {
        .text(self, .endsWith, text)
    }

    /// A predicate that is true if the whole text matches a pattern.
    ///
    /// In the pattern, `%` matches any characters or none, and `_` matches one Unicode scalar. A
    /// backslash makes the next character stand for itself. Everything else matches byte by byte,
    /// in every store: letters match only in the same case.
    public func like(_ pattern: String) -> RecordPredicate {
        .text(self, .like, pattern)
    }

    /// A predicate that is true if the objects of a relationship fulfil another one.
    ///
    ///     PropertyPath("notes").any(PropertyPath("text") == "x")
    ///
    /// Unlike comparisons, it is true or false, never unknown.
    public func any(_ predicate: RecordPredicate) -> RecordPredicate {
        .related(self, .any, predicate)
    }

    /// A predicate that is true if every object of a relationship fulfils another one, or there is
    /// none.
    public func all(_ predicate: RecordPredicate) -> RecordPredicate {
        .related(self, .all, predicate)
    }

    /// A predicate that is true if the value equals another; with null, if there is no value.
    public static func == (key: PropertyPath, value: some AttributeValue.Convertible) -> RecordPredicate {
        value.value.isNull ? .isNull(key) : .comparison(key, .equal, value.value)
    }

    /// A predicate that is true if there is no value.
    public static func == (key: PropertyPath, nothing: _OptionalNilComparisonType) -> RecordPredicate {
        .isNull(key)
    }

    /// A predicate that is true if there is a value and it differs; with null, if there is a value.
    public static func != (key: PropertyPath, value: some AttributeValue.Convertible) -> RecordPredicate {
        value.value.isNull ? .not(.isNull(key)) : .comparison(key, .notEqual, value.value)
    }

    /// A predicate that is true if there is a value.
    public static func != (key: PropertyPath, nothing: _OptionalNilComparisonType) -> RecordPredicate {
        .not(.isNull(key))
    }

    /// A predicate that is true if the value is less than another.
    public static func < (key: PropertyPath, value: some AttributeValue.Convertible) -> RecordPredicate {
        .comparison(key, .less, value.value)
    }

    /// A predicate that is true if the value is less than or equal to another.
    public static func <= (key: PropertyPath, value: some AttributeValue.Convertible) -> RecordPredicate {
        .comparison(key, .lessOrEqual, value.value)
    }

    /// A predicate that is true if the value is greater than another.
    public static func > (key: PropertyPath, value: some AttributeValue.Convertible) -> RecordPredicate {
        .comparison(key, .greater, value.value)
    }

    /// A predicate that is true if the value is greater than or equal to another.
    public static func >= (key: PropertyPath, value: some AttributeValue.Convertible) -> RecordPredicate {
        .comparison(key, .greaterOrEqual, value.value)
    }
}
