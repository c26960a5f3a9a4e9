public import SyncModel

extension StoreQuery {
    /// The number of objects that have the same value.
    public struct GroupCount<Value: ObjectParts.SelectedValue>: Sendable {
        /// The value.
        public let value: Value
        /// The number of objects.
        public let count: Int

        /// Creates a pair of a value and a number.
        public init(value: Value, count: Int) {
            self.value = value
            self.count = count
        }
    }
}

extension StoreQuery.GroupCount: Equatable where Value: Equatable {}
extension StoreQuery.GroupCount: Hashable where Value: Hashable {}

extension StoreReader {
    /// Returns the distinct values at a path, in ascending order, null first.
    ///
    /// - Throws: As ``all(_:)``; `Record.CodingError.wrongType` for a value that does not convert.
    public func distinct<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        of path: ObjectParts.Path<Object, Value>, where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> [Value] {
        let names = try ObjectParts.Fields<Object>()[keyPath: path].path.propertyPath()
        var selection = StoreSelection(
            try ObjectQuery(Object.self, where: predicate).storeQuery(), columns: [.value(names)])
        selection.isDistinct = true
        return try await rows(selection).map { try Value.converted($0[0], names, Object.self) }
    }

    /// Returns the number of objects for each value at a path, in ascending order of the values.
    ///
    /// - Throws: As ``distinct(of:where:)``.
    public func counts<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        by path: ObjectParts.Path<Object, Value>, where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> [StoreQuery.GroupCount<Value>] {
        let names = try ObjectParts.Fields<Object>()[keyPath: path].path.propertyPath()
        let selection = StoreSelection(
            try ObjectQuery(Object.self, where: predicate).storeQuery(), columns: [.value(names), .count])
        return try await rows(selection).map { row in
            StoreQuery.GroupCount(value: try Value.converted(row[0], names, Object.self), count: Int(row[1]) ?? 0)
        }
    }

    /// Returns the smallest value at a path; nil if no object has a value.
    ///
    /// - Throws: As ``all(_:)``, and `RecordPredicateError.unsuitableProperty` for values that
    ///   cannot be compared, such as Booleans.
    public func minimum<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        of path: ObjectParts.Path<Object, Value>, where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Value.Plain? where Value.Plain.Ordered == Value.Plain {
        try await aggregate(.minimum, path, predicate)
    }

    /// Returns the greatest value at a path; nil if no object has a value.
    ///
    /// - Throws: As ``minimum(of:where:)``.
    public func maximum<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        of path: ObjectParts.Path<Object, Value>, where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Value.Plain? where Value.Plain.Ordered == Value.Plain {
        try await aggregate(.maximum, path, predicate)
    }

    /// Returns the sum of the numbers at a path; nil if no object has a number.
    ///
    /// Sums of integers and decimals are exact.
    ///
    /// - Throws: As ``minimum(of:where:)``; `StoreError.sumOverflow` for a sum that the type of the
    ///   numbers cannot hold.
    public func sum<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        of path: ObjectParts.Path<Object, Value>, where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Value.Plain? where Value.Plain: Numeric {
        try await aggregate(.sum, path, predicate)
    }

    /// Returns the average of the numbers at a path; nil if no object has a number.
    ///
    /// - Throws: As ``minimum(of:where:)``.
    public func average<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        of path: ObjectParts.Path<Object, Value>, where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Double? where Value.Plain: Numeric {
        try await aggregate(.average, path, predicate)
    }

    private func aggregate<Object: SyncObject, Value, Result: AttributeRepresentable>(
        _ function: StoreSelection.Aggregate, _ path: ObjectParts.Path<Object, Value>,
        _ predicate: ObjectPredicate<Object>?
    ) async throws -> Result? {
        let names = try ObjectParts.Fields<Object>()[keyPath: path].path.propertyPath()
        let selection = StoreSelection(
            try ObjectQuery(Object.self, where: predicate).storeQuery(), columns: [.aggregate(function, names)])
        guard let value = try await rows(selection).first?.first, !value.isNull else { return nil }
        guard let result = Result(value) else {
            // The values themselves may fit.
            if function == .sum, case .int = value { throw StoreError.sumOverflow(entity: Object.entityName) }
            throw Record.CodingError.wrongType(entity: Object.entityName, property: names.path, type: "\(Result.self)")
        }
        return result
    }
}

extension ObjectParts.SelectedValue {
    fileprivate static func converted(
        _ value: AttributeValue, _ path: PropertyPath, _ type: any SyncObject.Type
    ) throws(Record.CodingError) -> Self {
        guard let converted = Self(selected: value) else {
            throw .wrongType(entity: type.entityName, property: path.path, type: "\(Self.self)")
        }
        return converted
    }
}

extension Store {
    /// Returns the distinct values at a path; see ``StoreReader/distinct(of:where:)``.
    public func distinct<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        _ type: Object.Type, of path: any ObjectParts.Path<Object, Value> & Sendable,
        where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> [Value] {
        try await readAtOnce { try await $0.distinct(of: path, where: predicate) }
    }

    /// Returns the number of objects for each value at a path; see
    /// ``StoreReader/counts(by:where:)``.
    public func counts<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        _ type: Object.Type, by path: any ObjectParts.Path<Object, Value> & Sendable,
        where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> [StoreQuery.GroupCount<Value>] {
        try await readAtOnce { try await $0.counts(by: path, where: predicate) }
    }

    /// Returns the smallest value at a path; see ``StoreReader/minimum(of:where:)``.
    public func minimum<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        _ type: Object.Type, of path: any ObjectParts.Path<Object, Value> & Sendable,
        where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Value.Plain? where Value.Plain.Ordered == Value.Plain {
        try await readAtOnce { try await $0.minimum(of: path, where: predicate) }
    }

    /// Returns the greatest value at a path; see ``StoreReader/maximum(of:where:)``.
    public func maximum<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        _ type: Object.Type, of path: any ObjectParts.Path<Object, Value> & Sendable,
        where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Value.Plain? where Value.Plain.Ordered == Value.Plain {
        try await readAtOnce { try await $0.maximum(of: path, where: predicate) }
    }

    /// Returns the sum of the numbers at a path; see ``StoreReader/sum(of:where:)``.
    public func sum<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        _ type: Object.Type, of path: any ObjectParts.Path<Object, Value> & Sendable,
        where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Value.Plain? where Value.Plain: Numeric {
        try await readAtOnce { try await $0.sum(of: path, where: predicate) }
    }

    /// Returns the average of the numbers at a path; see ``StoreReader/average(of:where:)``.
    public func average<Object: SyncObject, Value: ObjectParts.SelectedValue>(
        _ type: Object.Type, of path: any ObjectParts.Path<Object, Value> & Sendable,
        where predicate: ObjectPredicate<Object>? = nil
    ) async throws -> Double? where Value.Plain: Numeric {
        try await readAtOnce { try await $0.average(of: path, where: predicate) }
    }
}
