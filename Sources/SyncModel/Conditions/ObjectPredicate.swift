public import Foundation

/// A condition on the objects of a type, checked by the compiler.
///
///     \.age > 30 && \.company.name == "Apple"
///     .any(\.notes, where: \.text == "x") || \.name == nil
///     .like(\.name, "A%") && .in(\.role, [.admin, .editor])
///
/// Null follows the three-valued logic of ``RecordPredicate``: a comparison with a missing value is
/// neither true nor false.
public struct ObjectPredicate<Root: SyncObject>: Sendable {
    private let result: Result<RecordPredicate, SyncDeclarationError>

    init(_ make: () throws(SyncDeclarationError) -> RecordPredicate) {
        do throws(SyncDeclarationError) { result = .success(try make()) } catch { result = .failure(error) }
    }

    /// Creates a predicate from one with names, for what key paths cannot express.
    ///
    /// Names and values are checked when the predicate is used.
    public init(_ predicate: RecordPredicate) {
        result = .success(predicate)
    }

    /// A predicate that is true for every object, or for none.
    public static func constant(_ holds: Bool) -> ObjectPredicate {
        ObjectPredicate(.constant(holds))
    }

    /// The predicate with names instead of key paths.
    ///
    /// - Throws: `SyncDeclarationError.unknownKeyPath` for a key path that leads to no coded
    ///   property.
    public func recordPredicate() throws(SyncDeclarationError) -> RecordPredicate {
        try result.get()
    }

    /// A predicate that is true if both operands are true.
    public static func && (one: ObjectPredicate, other: ObjectPredicate) -> ObjectPredicate {
        ObjectPredicate { () throws(SyncDeclarationError) in try one.recordPredicate() && other.recordPredicate() }
    }

    /// A predicate that is true if at least one operand is true.
    public static func || (one: ObjectPredicate, other: ObjectPredicate) -> ObjectPredicate {
        ObjectPredicate { () throws(SyncDeclarationError) in try one.recordPredicate() || other.recordPredicate() }
    }

    /// The negation of a predicate.
    public static prefix func ! (predicate: ObjectPredicate) -> ObjectPredicate {
        ObjectPredicate { () throws(SyncDeclarationError) in .not(try predicate.recordPredicate()) }
    }
}

extension ObjectParts {
    /// A key path of conditions, such as `\.company.name`.
    public typealias Path<Root: SyncObject, Value> = KeyPath<ObjectParts.Fields<Root>, ObjectParts.Field<Root, Value>>
}

extension KeyPath {
    /// The names along the path.
    func fieldPath<Object: SyncObject, Field>() throws(SyncDeclarationError) -> PropertyPath
    where Root == ObjectParts.Fields<Object>, Value == ObjectParts.Field<Object, Field> {
        try ObjectParts.Fields<Object>()[keyPath: self].path.propertyPath()
    }
}

extension ObjectParts {
    /// A property that holds text.
    public protocol TextValue: AttributeValue.Convertible {}
}

extension String: ObjectParts.TextValue {}
extension URL: ObjectParts.TextValue {}
extension Optional: ObjectParts.TextValue where Wrapped: ObjectParts.TextValue {}

extension ObjectPredicate {
    // MARK: Texts

    /// True if a text contains another, byte by byte.
    public static func contains(_ path: ObjectParts.Path<Root, some ObjectParts.TextValue>, _ text: String)
        -> ObjectPredicate
    {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().contains(text) }
    }

    /// True if a text begins with another, byte by byte.
    public static func beginsWith(_ path: ObjectParts.Path<Root, some ObjectParts.TextValue>, _ text: String)
        -> ObjectPredicate
    {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().beginsWith(text) }
    }

    /// True if a text ends with another, byte by byte.
    public static func endsWith(_ path: ObjectParts.Path<Root, some ObjectParts.TextValue>, _ text: String)
        -> ObjectPredicate
    {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().endsWith(text) }
    }

    /// True if a text matches a pattern; see `PropertyPath.like(_:)`.
    public static func like(_ path: ObjectParts.Path<Root, some ObjectParts.TextValue>, _ pattern: String)
        -> ObjectPredicate
    {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().like(pattern) }
    }

    // MARK: Lists

    /// True if the value is in a list.
    public static func `in`<Value: AttributeValue.Convertible>(
        _ path: ObjectParts.Path<Root, Value>, _ values: some Sequence<Value>
    ) -> ObjectPredicate {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isIn(values) }
    }

    /// True if there is a value and it is in a list.
    public static func `in`<Value: AttributeValue.Convertible>(
        _ path: ObjectParts.Path<Root, Value?>, _ values: some Sequence<Value>
    ) -> ObjectPredicate {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isIn(values) }
    }

    /// True if the value is in a list of cases.
    public static func `in`<Value: RawRepresentable>(
        _ path: ObjectParts.Path<Root, Value>, _ values: some Sequence<Value>
    ) -> ObjectPredicate where Value.RawValue: AttributeValue.Convertible {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isIn(values.map(\.rawValue)) }
    }

    /// True if there is a value and it is in a list of cases.
    public static func `in`<Value: RawRepresentable>(
        _ path: ObjectParts.Path<Root, Value?>, _ values: some Sequence<Value>
    ) -> ObjectPredicate where Value.RawValue: AttributeValue.Convertible {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isIn(values.map(\.rawValue)) }
    }

    /// True if the value is in a list of cases.
    public static func `in`<Value: RawRepresentable & AttributeValue.Convertible>(
        _ path: ObjectParts.Path<Root, Value>, _ values: some Sequence<Value>
    ) -> ObjectPredicate where Value.RawValue: AttributeValue.Convertible {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isIn(values) }
    }

    /// True if there is a value and it is in a list of cases.
    public static func `in`<Value: RawRepresentable & AttributeValue.Convertible>(
        _ path: ObjectParts.Path<Root, Value?>, _ values: some Sequence<Value>
    ) -> ObjectPredicate where Value.RawValue: AttributeValue.Convertible {
        ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isIn(values) }
    }

    // MARK: Related objects

    /// True if at least one related object fulfils a condition.
    public static func any<Value: ObjectParts.RelatedValue>(
        _ path: ObjectParts.Path<Root, Value>, where condition: ObjectPredicate<Value.Object>
    ) -> ObjectPredicate {
        related(path, .any, condition)
    }

    /// True if every related object fulfils a condition, or there is none.
    public static func all<Value: ObjectParts.RelatedValue>(
        _ path: ObjectParts.Path<Root, Value>, where condition: ObjectPredicate<Value.Object>
    ) -> ObjectPredicate {
        related(path, .all, condition)
    }

    /// True if the number of related objects that fulfil a condition is in a range.
    ///
    ///     .count(\.notes, where: \.isDone == false, in: 3...)
    public static func count<Value: ObjectParts.RelatedValue>(
        _ path: ObjectParts.Path<Root, Value>, where condition: ObjectPredicate<Value.Object>,
        in range: some RangeExpression<Int>
    ) -> ObjectPredicate {
        let counts = range.relative(to: 0..<Int.max)
        guard !counts.isEmpty else { return .constant(false) }
        return related(path, .count(counts.lowerBound...(counts.upperBound - 1)), condition)
    }

    private static func related<Value: ObjectParts.RelatedValue>(
        _ path: ObjectParts.Path<Root, Value>, _ quantifier: PropertyPath.Quantifier,
        _ condition: ObjectPredicate<Value.Object>
    ) -> ObjectPredicate {
        ObjectPredicate { () throws(SyncDeclarationError) in
            .related(try path.fieldPath(), quantifier, try condition.recordPredicate())
        }
    }
}
