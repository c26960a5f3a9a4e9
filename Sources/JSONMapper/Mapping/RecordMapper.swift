public import SyncModel

/// A compiled mapping from JSON to the records of a model.
///
///     let mapper = try RecordMapper(model)
///     let users = try mapper.reader(of: "User", bytes: bytes)
///     while let batch = try users.nextRecords() { … }
///
/// The initializer compiles everything that depends only on the model. Create a mapper once, and
/// share it between tasks.
public struct RecordMapper: Sendable {
    /// The model with the identities that the dialect finds, and the entities of bookkeeping.
    /// Create the store for the records with it.
    public private(set) var model: DataModel
    /// The rules of the mapping.
    public let mapping: JSONMapping

    private let mappings: [EntityMapping]

    /// The rules for keys.
    package var dialect: JSONDialect { mapping.dialect }
    /// The registered transformers that annotations refer to by name.
    package var transformers: RecordMapper.Transformers { mapping.transformers }

    /// Creates a mapper.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - mapping: The rules.
    /// - Throws: ``MappingError/unknownTransformer(entity:attribute:name:)`` if an annotation names
    ///   a transformer that is not registered; ``MappingError/unknownEntity(_:)`` if `mapping`
    ///   names an entity that the model lacks; `ModelError` if an annotation names an attribute
    ///   that cannot be part of an identity.
    public init(_ model: DataModel, _ mapping: JSONMapping = JSONMapping()) throws {
        var identified = try mapping.dialect.identified(model).adding([.pendingLink])
        // A model may declare the entity of bookmarks itself.
        if identified[SyncEntity.bookmark.name]?.entity.isBookkeeping != false {
            identified = try identified.adding([.bookmark])
        }
        var mapping = mapping
        mapping.transformers = mapping.transformers.adding(declaredBy: model)
        self.model = identified
        self.mapping = mapping
        for entity in mapping.contracts.keys.sorted() where identified[entity] == nil {
            throw MappingError.unknownEntity(entity)
        }
        mappings = try identified.layouts.map { layout in
            try EntityMapping(
                EntityKeys(layout, in: identified, dialect: mapping.dialect), transformers: mapping.transformers,
                contract: mapping.contracts[layout.name] ?? mapping.contract ?? layout.entity.inferredContract
                    ?? mapping.dialect.contract)
        }
        // The companion has a copy of the model without a companion, so there is no cycle.
        self.model = identified.accompanied(by: self)
    }

    /// Returns the mapping of an entity.
    ///
    /// - Throws: ``MappingError/unknownEntity(_:)`` if the model lacks the entity.
    package func mapping(of entity: String) throws(MappingError) -> EntityMapping {
        guard let layout = model[entity] else { throw .unknownEntity(entity) }
        return mappings[layout.index]
    }

    /// Returns the mapping of the entity at an index of the model's layouts.
    func mapping(at index: Int) -> EntityMapping {
        mappings[index]
    }

    /// Returns the mapping of the entity that an entity mapper returned.
    ///
    /// - Throws: ``MappingError/unrelatedEntity(entity:answer:)`` if the entity does not exist or
    ///   does not inherit from the entity of `mapping`.
    func mapping(of answer: String, for mapping: EntityMapping) throws(MappingError) -> EntityMapping {
        guard let layout = model[answer], layout.isKind(of: mapping.layout) else {
            throw .unrelatedEntity(entity: mapping.layout.name, answer: answer)
        }
        return mappings[layout.index]
    }

    // MARK: One object

    /// Maps one JSON object onto a record.
    ///
    /// An attribute whose key is absent stays unchanged, and a null clears it. Null in place of the
    /// object changes nothing.
    ///
    /// - Parameters:
    ///   - record: A record of this mapper's model. Its relationships stay unchanged.
    ///   - json: An object.
    /// - Returns: Whether a value changed.
    /// - Throws: ``MappingError/unfit(_:)`` if the contract rejects the object or makes a misfit an
    ///   error; ``MappingError/unknownEntity(_:)`` if the model lacks the record's entity;
    ///   ``JSONError/nonFiniteNumber`` if `json` has an infinite or NaN number.
    public func fill(_ record: inout Record, from json: JSONValue) throws -> Bool {
        var writer = JSONWriter()
        try writer.value(json)
        return try fill(&record, from: writer.bytes)
    }

    /// Maps one JSON object, given as UTF-8, onto a record.
    ///
    /// An attribute whose key is absent stays unchanged, and a null clears it. Null in place of the
    /// object changes nothing.
    ///
    /// - Returns: Whether a value changed.
    /// - Throws: The mapping errors of ``fill(_:from:)-(_,JSONValue)``; ``JSONError`` if the bytes
    ///   are not exactly one JSON document.
    public func fill(_ record: inout Record, from bytes: [UInt8]) throws -> Bool {
        let reader = try RecordMapper.Reader(
            self, entity: record.layout.name, reader: JSONReader(bytes: bytes, layout: .document),
            options: RecordMapper.Reader.Options(), usesEntityMapper: false)
        guard let batch = try reader.next() else { return false }
        if let problem = batch.rejected.first { throw MappingError.unfit(problem) }
        guard let group = batch.groups.first else { return false }
        return group.records.withReader { cells in
            var hasChanged = false
            for column in 0..<min(cells.columnCount, record.layout.attributes.count) {
                guard let value = cells.value(row: 0, column: column), record[column: column] != value else { continue }
                record[column: column] = value
                hasChanged = true
            }
            return hasChanged
        }
    }
}

extension SyncEntity {
    /// The default contract of an entity that was inferred from a sample; nil for any other entity.
    ///
    /// Values that the sample did not foresee must not clear stored values.
    fileprivate var inferredContract: ValueContract? {
        isInferred ? .keeping : nil
    }
}
