import Foundation
public import SyncModel

extension StoreTransaction {
    /// Inserts objects of a type, or updates the objects that have their identities.
    ///
    /// All properties are written. Related objects are inserted or updated in the same way. A
    /// relationship then leads to exactly the objects in its property. A property that is
    /// `Related.notIncluded` leaves its relationship unchanged. Of several objects with the same
    /// identity the last one is written.
    ///
    /// An object whose identity is unique within its parent is found in the parent that contains it
    /// or, without one, in the parent that its property includes. If the call has neither, the
    /// object is inserted, as is an object without an identity.
    ///
    /// An owned object (`EntityLayout.Relationship.isOwning`) that a relationship no longer leads
    /// to is deleted by the model's delete rules, unless another owner shares it. The objects of
    /// the call are never deleted.
    ///
    /// - Returns: The numbers of the objects, in the same order.
    /// - Throws: `Record.CodingError` for a value that does not fit its attribute; `StoreError`,
    ///   such as `unsuitableValue` for a number or date that is NaN; `SyncDeclarationError`; the
    ///   store's own errors.
    @discardableResult
    public func insert<Object: SyncObject>(_ objects: [Object]) async throws -> [ObjectID] {
        var insertion = ObjectInsertion(self)
        let numbers = try await insertion.insert(objects)
        try await insertion.removeDetached()
        return numbers
    }

    /// Inserts an object of a type, or updates the object that has its identity; see
    /// ``insert(_:)``.
    @discardableResult
    public func insert<Object: SyncObject>(_ object: Object) async throws -> ObjectID {
        let numbers = try await insert([object])
        guard let number = numbers.first else { throw StoreError.missingObject(entity: Object.entityName) }
        return number
    }
}

extension Store {
    /// Inserts objects of a type, or updates the objects that have their identities, in one
    /// transaction.
    ///
    /// - Throws: As `StoreTransaction.insert(_:)`.
    public func insert(_ objects: [some SyncObject]) async throws {
        try await transaction { _ = try await $0.insert(objects) }
    }

    /// Inserts an object of a type, or updates the object that has its identity, in one
    /// transaction.
    ///
    /// - Throws: As `StoreTransaction.insert(_:)`.
    public func insert(_ object: some SyncObject) async throws {
        try await transaction { _ = try await $0.insert(object) }
    }
}
