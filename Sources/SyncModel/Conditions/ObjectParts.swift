/// The types behind key paths in conditions, orderings and `including`, which the compiler infers.
///
/// Programs do not name them.
public enum ObjectParts {}

extension ObjectParts {
    /// The properties of a type, where the key paths of conditions and orderings start.
    ///
    /// Programs never create it: in `\.company.name`, it is the root of the key path. A key path
    /// passes through an optional related object without a question mark.
    @dynamicMemberLookup
    public struct Fields<Root: SyncObject>: Sendable {
        package init() {}

        /// The field of a property.
        public subscript<Value>(dynamicMember path: KeyPath<Root, Value>) -> ObjectParts.Field<Root, Value> {
            ObjectParts.Field(path: FieldPath().appending(path))
        }
    }

    /// A property of an object or of a related one.
    @dynamicMemberLookup
    public struct Field<Root: SyncObject, Value>: Sendable {
        package let path: FieldPath

        /// A property of a related object.
        public subscript<Next>(dynamicMember path: KeyPath<Value, Next>) -> ObjectParts.Field<Root, Next>
        where Value: SyncObject {
            ObjectParts.Field<Root, Next>(path: self.path.appending(path))
        }

        /// A property of a related object that may be missing.
        public subscript<Object: SyncObject, Next>(dynamicMember path: KeyPath<Object, Next>)
            -> ObjectParts.Field<Root, Next?>
        where Value == Object? {
            ObjectParts.Field<Root, Next?>(path: self.path.appending(path))
        }

        /// An optional property of a related object that may be missing.
        public subscript<Object: SyncObject, Next>(dynamicMember path: KeyPath<Object, Next?>)
            -> ObjectParts.Field<Root, Next?>
        where Value == Object? {
            ObjectParts.Field<Root, Next?>(path: self.path.appending(path))
        }

        /// A property of a related object that may be missing.
        public subscript<Object: SyncObject, Next>(dynamicMember path: KeyPath<Object, Next>)
            -> ObjectParts.Field<Root, Next?>
        where Value == Related<Object?> {
            ObjectParts.Field<Root, Next?>(path: self.path.appending(path))
        }

        /// An optional property of a related object that may be missing.
        public subscript<Object: SyncObject, Next>(dynamicMember path: KeyPath<Object, Next?>)
            -> ObjectParts.Field<Root, Next?>
        where Value == Related<Object?> {
            ObjectParts.Field<Root, Next?>(path: self.path.appending(path))
        }

        /// A relationship of a related object that may be missing.
        public subscript<Object: SyncObject, Next: ObjectParts.RelatedValue>(
            dynamicMember path: KeyPath<Object, Related<Next>>
        ) -> ObjectParts.Field<Root, Related<Next>> where Value == Object? {
            ObjectParts.Field<Root, Related<Next>>(path: self.path.appending(path))
        }

        /// A relationship of a related object that may be missing, to any number of objects.
        public subscript<Object: SyncObject, Next: SyncObject>(
            dynamicMember path: KeyPath<Object, [Next]>
        ) -> ObjectParts.Field<Root, [Next]> where Value == Object? {
            ObjectParts.Field<Root, [Next]>(path: self.path.appending(path))
        }

        /// A relationship of a related object that may be missing.
        public subscript<Object: SyncObject, Next: ObjectParts.RelatedValue>(
            dynamicMember path: KeyPath<Object, Related<Next>>
        ) -> ObjectParts.Field<Root, Related<Next>> where Value == Related<Object?> {
            ObjectParts.Field<Root, Related<Next>>(path: self.path.appending(path))
        }

        /// A relationship of a related object that may be missing, to any number of objects.
        public subscript<Object: SyncObject, Next: SyncObject>(
            dynamicMember path: KeyPath<Object, [Next]>
        ) -> ObjectParts.Field<Root, [Next]> where Value == Related<Object?> {
            ObjectParts.Field<Root, [Next]>(path: self.path.appending(path))
        }

        /// A relationship of each object in a list, for `including`.
        public subscript<Next: ObjectParts.RelatedValue>(dynamicMember path: KeyPath<Value.Object, Next>)
            -> ObjectParts.Field<Root, ObjectParts.Each<Next>>
        where Value: ObjectParts.IncludedList {
            ObjectParts.Field<Root, ObjectParts.Each<Next>>(path: self.path.appending(path))
        }
    }

    /// Related objects that `including` can load: those of a property, or of each object in a list.
    public protocol IncludedValue: Sendable {
        /// The type of the related objects.
        associatedtype Object: SyncObject
    }

    /// Any number of related objects, for `including`.
    public protocol IncludedList: ObjectParts.IncludedValue {}

    /// A property that holds any number of related objects.
    public protocol RelatedList: ObjectParts.RelatedValue, ObjectParts.IncludedList {}

    /// A relationship of each object in a list, such as `\.notes.tags`.
    ///
    /// Only `including` accepts it. A condition names the relationships one by one, because it has
    /// to say of how many objects it holds: `.any(\.notes, where: .any(\.tags, where: …))`.
    public enum Each<Value: ObjectParts.RelatedValue>: ObjectParts.IncludedList {
        /// The type of the related objects.
        public typealias Object = Value.Object
    }
}

extension Array: ObjectParts.RelatedList, ObjectParts.IncludedList where Element: SyncObject {}
extension Related: ObjectParts.RelatedList, ObjectParts.IncludedList where Value: ObjectParts.RelatedList {}

extension ObjectParts.Field where Value: ObjectParts.RelatedList {
    /// The number of related objects.
    public var count: ObjectParts.Field<Root, Int> {
        ObjectParts.Field<Root, Int>(path: path.appending("@count"))
    }
}

extension ObjectParts.Field where Value: AttributeValue.Convertible, Value.Ordered == Value {
    /// The descending order by the property.
    public var descending: ObjectParts.Order {
        ObjectParts.Order(path: path, ascending: false)
    }
}

/// The names along a key path, or the reason why there are none.
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
