/// The properties of a type, as the key paths of conditions and orderings start from them.
///
/// Never made by a program: in `\.company.name`, it is the root of the key path. A key path goes on
/// through an optional related object without a question mark.
@dynamicMemberLookup
public struct ObjectFields<Root: SyncObject>: Sendable {
    package init() {}

    /// The field of a property.
    public subscript<Value>(dynamicMember path: KeyPath<Root, Value>) -> ObjectField<Root, Value> {
        ObjectField(path: FieldPath().appending(path))
    }
}

/// A property of an object or of a related one.
@dynamicMemberLookup
public struct ObjectField<Root: SyncObject, Value>: Sendable {
    package let path: FieldPath

    /// A property of a related object.
    public subscript<Next>(dynamicMember path: KeyPath<Value, Next>) -> ObjectField<Root, Next>
    where Value: SyncObject {
        ObjectField<Root, Next>(path: self.path.appending(path))
    }

    /// A property of a related object that may be missing.
    public subscript<Object: SyncObject, Next>(dynamicMember path: KeyPath<Object, Next>) -> ObjectField<Root, Next?>
    where Value == Object? {
        ObjectField<Root, Next?>(path: self.path.appending(path))
    }

    /// An optional property of a related object that may be missing.
    public subscript<Object: SyncObject, Next>(dynamicMember path: KeyPath<Object, Next?>) -> ObjectField<Root, Next?>
    where Value == Object? {
        ObjectField<Root, Next?>(path: self.path.appending(path))
    }

    /// A property of a related object that may be missing.
    public subscript<Object: SyncObject, Next>(dynamicMember path: KeyPath<Object, Next>) -> ObjectField<Root, Next?>
    where Value == Related<Object?> {
        ObjectField<Root, Next?>(path: self.path.appending(path))
    }

    /// An optional property of a related object that may be missing.
    public subscript<Object: SyncObject, Next>(dynamicMember path: KeyPath<Object, Next?>) -> ObjectField<Root, Next?>
    where Value == Related<Object?> {
        ObjectField<Root, Next?>(path: self.path.appending(path))
    }

    /// A relationship of a related object that may be missing.
    public subscript<Object: SyncObject, Next: RelatedValue>(
        dynamicMember path: KeyPath<Object, Related<Next>>
    ) -> ObjectField<Root, Related<Next>> where Value == Object? {
        ObjectField<Root, Related<Next>>(path: self.path.appending(path))
    }

    /// A relationship of a related object that may be missing, to any number of objects.
    public subscript<Object: SyncObject, Next: SyncObject>(
        dynamicMember path: KeyPath<Object, [Next]>
    ) -> ObjectField<Root, [Next]> where Value == Object? {
        ObjectField<Root, [Next]>(path: self.path.appending(path))
    }

    /// A relationship of a related object that may be missing.
    public subscript<Object: SyncObject, Next: RelatedValue>(
        dynamicMember path: KeyPath<Object, Related<Next>>
    ) -> ObjectField<Root, Related<Next>> where Value == Related<Object?> {
        ObjectField<Root, Related<Next>>(path: self.path.appending(path))
    }

    /// A relationship of a related object that may be missing, to any number of objects.
    public subscript<Object: SyncObject, Next: SyncObject>(
        dynamicMember path: KeyPath<Object, [Next]>
    ) -> ObjectField<Root, [Next]> where Value == Related<Object?> {
        ObjectField<Root, [Next]>(path: self.path.appending(path))
    }

    /// A relationship of any number of related objects, for `including`.
    public subscript<Next: RelatedValue>(dynamicMember path: KeyPath<Value.Object, Next>) -> ObjectField<
        Root, EachOf<Next>
    >
    where Value: RelatedList {
        ObjectField<Root, EachOf<Next>>(path: self.path.appending(path))
    }
}

/// A property that holds any number of related objects.
public protocol RelatedList: RelatedValue {}

extension Array: RelatedList where Element: SyncObject {}
extension Related: RelatedList where Value: RelatedList {}

/// A relationship of each of some objects; only key paths of `including` lead to it.
public enum EachOf<Value: RelatedValue>: RelatedList {
    /// The type of the related objects.
    public typealias Object = Value.Object
    /// True: any number of objects.
    public static var isToMany: Bool { true }
    /// Nil: the type only occurs in key paths.
    public init?(related objects: [Object]) { return nil }
    /// Nil: the type only occurs in key paths.
    public var relatedObjects: [Object]? { nil }
}

extension ObjectField where Value: RelatedList {
    /// The number of related objects.
    public var count: ObjectField<Root, Int> {
        ObjectField<Root, Int>(path: path.appending("@count"))
    }
}

extension ObjectField where Value: ValueConvertible {
    /// The descending order by the property.
    public var descending: ObjectOrder {
        ObjectOrder(path: path, ascending: false)
    }
}

/// The names along a key path, or the reason why it has none.
package struct FieldPath: Sendable {
    private var names: [String] = []
    private var error: SyncDeclarationError?

    init() {}

    func appending<Root: SyncObject>(_ path: PartialKeyPath<Root>) -> FieldPath {
        var next = self
        do { next.names.append(try ObjectShape<Root>.shared().name(of: path)) } catch {
            next.error =
                next.error ?? error as? SyncDeclarationError
                ?? .unreadableType(type: "\(Root.self)", property: nil, reason: "\(error)")
        }
        return next
    }

    func appending(_ name: String) -> FieldPath {
        var next = self
        next.names.append(name)
        return next
    }

    /// The names.
    ///
    /// - Throws: The reason why the key path has none.
    package func components() throws(SyncDeclarationError) -> [String] {
        if let error { throw error }
        return names
    }

    /// The path that predicates use.
    package func propertyPath() throws(SyncDeclarationError) -> PropertyPath {
        PropertyPath(components: try components())
    }
}
