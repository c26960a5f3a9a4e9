// The operators of conditions. Both operands have the same type, so that a comparison of values of
// different types does not compile.

/// A condition that is true if a value equals another; `== nil` is true if there is no value.
public func == <Root: SyncObject, Value: AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() == value }
}

/// A condition that is true if a value differs from another; `!= nil` is true if there is a value.
public func != <Root: SyncObject, Value: AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() != value }
}

/// A condition that is true if a value is less than another.
public func < <Root: SyncObject, Value: AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> where Value.Ordered == Value {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() < value }
}

/// A condition that is true if a value is less than or equal to another.
public func <= <Root: SyncObject, Value: AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> where Value.Ordered == Value {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() <= value }
}

/// A condition that is true if a value is greater than another.
public func > <Root: SyncObject, Value: AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> where Value.Ordered == Value {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() > value }
}

/// A condition that is true if a value is greater than or equal to another.
public func >= <Root: SyncObject, Value: AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> where Value.Ordered == Value {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() >= value }
}

/// A condition that is true if a value equals another; `== nil` is true if there is no value.
public func == <Root: SyncObject, Value: RawRepresentable>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> where Value.RawValue: AttributeValue.Convertible {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() == value.rawValue }
}

/// A condition that is true if a value equals another; `== nil` is true if there is no value.
public func == <Root: SyncObject, Value: RawRepresentable>(
    path: ObjectParts.Path<Root, Value?>, value: Value?
) -> ObjectPredicate<Root> where Value.RawValue: AttributeValue.Convertible {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() == value?.rawValue }
}

/// A condition that is true if a value equals another; `== nil` is true if there is no value.
public func == <Root: SyncObject, Value: RawRepresentable & AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> where Value.RawValue: AttributeValue.Convertible {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() == value }
}

/// A condition that is true if a value equals another; `== nil` is true if there is no value.
public func == <Root: SyncObject, Value: RawRepresentable & AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value?>, value: Value?
) -> ObjectPredicate<Root> where Value.RawValue: AttributeValue.Convertible {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() == value }
}

/// A condition that is true if there is no related object.
public func == <Root: SyncObject, Value: SyncObject>(
    path: ObjectParts.Path<Root, Value?>, nothing: _OptionalNilComparisonType
) -> ObjectPredicate<Root> {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isNull }
}

/// A condition that is true if there is no related object.
public func == <Root: SyncObject, Value: SyncObject>(
    path: ObjectParts.Path<Root, Related<Value?>>, nothing: _OptionalNilComparisonType
) -> ObjectPredicate<Root> {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isNull }
}

/// A condition that is true if a value differs from another; `!= nil` is true if there is a value.
public func != <Root: SyncObject, Value: RawRepresentable>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> where Value.RawValue: AttributeValue.Convertible {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() != value.rawValue }
}

/// A condition that is true if a value differs from another; `!= nil` is true if there is a value.
public func != <Root: SyncObject, Value: RawRepresentable>(
    path: ObjectParts.Path<Root, Value?>, value: Value?
) -> ObjectPredicate<Root> where Value.RawValue: AttributeValue.Convertible {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() != value?.rawValue }
}

/// A condition that is true if a value differs from another; `!= nil` is true if there is a value.
public func != <Root: SyncObject, Value: RawRepresentable & AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value>, value: Value
) -> ObjectPredicate<Root> where Value.RawValue: AttributeValue.Convertible {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() != value }
}

/// A condition that is true if a value differs from another; `!= nil` is true if there is a value.
public func != <Root: SyncObject, Value: RawRepresentable & AttributeValue.Convertible>(
    path: ObjectParts.Path<Root, Value?>, value: Value?
) -> ObjectPredicate<Root> where Value.RawValue: AttributeValue.Convertible {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath() != value }
}

/// A condition that is true if there is a related object.
public func != <Root: SyncObject, Value: SyncObject>(
    path: ObjectParts.Path<Root, Value?>, nothing: _OptionalNilComparisonType
) -> ObjectPredicate<Root> {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isNotNull }
}

/// A condition that is true if there is a related object.
public func != <Root: SyncObject, Value: SyncObject>(
    path: ObjectParts.Path<Root, Related<Value?>>, nothing: _OptionalNilComparisonType
) -> ObjectPredicate<Root> {
    ObjectPredicate { () throws(SyncDeclarationError) in try path.fieldPath().isNotNull }
}
