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
    /// - Returns: The numbers of the objects, in the same order.
    /// - Throws: `Record.CodingError` for a value that does not fit its attribute; `StoreError`,
    ///   such as `unsuitableValue` for a number or date that is NaN; `SyncDeclarationError`; the
    ///   store's own errors.
    @discardableResult
    public func insert<Object: SyncObject>(_ objects: [Object]) async throws -> [ObjectID] {
        let layout = try model.layout(of: Object.entityName)
        let properties = try ObjectShape<Object>.shared().properties
        var contents: [ObjectEncoder.Content] = []
        var placeOfIdentity: [Record.Key: Int] = [:]
        let places = try objects.map { object in
            let content = try ObjectEncoder.content(of: object, layout, properties)
            let identity = layout.identityColumns.compactMap { column in
                content.values.first { $0.column == column }?.value
            }
            if let key = Record.Key(identity) {
                if let place = placeOfIdentity[key] {
                    contents[place] = content
                    return place
                }
                placeOfIdentity[key] = contents.count
            }
            contents.append(content)
            return contents.count - 1
        }
        var batch = RecordBatch(of: layout)
        var related: [String: [[any SyncObject]?]] = [:]
        for content in contents {
            batch.beginRecord()
            for (column, value) in content.values {
                if value.isNotANumber {
                    throw StoreError.unsuitableValue(entity: layout.name, attribute: layout.attributes[column].name)
                }
                batch.setValue(value, at: column)
            }
            batch.endRecord()
            for property in properties {
                if case .related = property.content {
                    related[property.name, default: []].append(content.related[property.name] ?? .some([]))
                }
            }
        }
        var numbers: [ObjectID] = []
        for row in try await merge(MergeRequest(batch)).rows {
            guard let row else { throw StoreError.missingObject(entity: layout.name) }
            numbers.append(row.object)
        }
        for property in properties {
            guard case .related(let type, _) = property.content, let lists = related[property.name] else { continue }
            guard let relationship = layout.relationship(property.name) else {
                throw Record.CodingError.unknownProperty(entity: layout.name, property: property.name)
            }
            try await link(numbers, by: relationship, to: lists, of: type)
        }
        return places.map { numbers[$0] }
    }

    /// Inserts an object of a type, or updates the object that has its identity; see
    /// ``insert(_:)``.
    @discardableResult
    public func insert<Object: SyncObject>(_ object: Object) async throws -> ObjectID {
        let numbers = try await insert([object])
        guard let number = numbers.first else { throw StoreError.missingObject(entity: Object.entityName) }
        return number
    }

    private func link<Target: SyncObject>(
        _ sources: [ObjectID], by relationship: EntityLayout.Relationship, to lists: [[any SyncObject]?],
        of type: Target.Type
    ) async throws {
        let targets = lists.flatMap { $0 ?? [] }.compactMap { $0 as? Target }
        var numbers = try await targets.isEmpty ? [][...] : insert(targets)[...]
        var batch = LinkBatch(relationship, mode: .replace)
        for (source, list) in zip(sources, lists) {
            guard let list else { continue }
            batch.append(source, to: Array(numbers.prefix(list.count)))
            numbers = numbers.dropFirst(list.count)
        }
        if !batch.isEmpty { _ = try await link(batch) }
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

extension AttributeValue {
    /// Whether the value is made from NaN. Databases cannot store it, and null would be a different
    /// value.
    fileprivate var isNotANumber: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .date(let moment): moment == Self.notADate
        default: false
        }
    }

    /// The timestamp of a date that is not a number, the earliest that a `Date` becomes.
    private static let notADate = Timestamp(Date(timeIntervalSinceReferenceDate: .nan))
}
