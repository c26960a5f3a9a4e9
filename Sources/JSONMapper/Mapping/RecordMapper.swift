public import SyncModel

/// Maps JSON to the records of a model.
///
///     let mapper = try RecordMapper(model)
///     let users = try mapper.reader(of: "User", bytes: bytes)
///     while let batch = try users.nextRecords() { … }
///
/// The mapper compiles the model once. It is a value that can be kept and shared.
public struct RecordMapper: Sendable {
    /// The model with the identities that the dialect finds, and with the entity of pending links.
    ///
    /// Create stores with this model.
    public let model: DataModel
    /// The rules for keys.
    public let dialect: JSONDialect
    /// The transformers that annotations name.
    public let transformers: JSONTransformers

    private let mappings: [EntityMapping]

    /// Creates a mapper.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - dialect: The rules for keys; ``JSONDialect/sync`` by default.
    ///   - transformers: All transformers that the model's annotations name.
    ///   - contract: What happens to values that do not fit. By default the dialect decides, and an
    ///     inferred model keeps stored values.
    ///   - contracts: Contracts of single entities, by name.
    /// - Throws: `MappingError.unknownTransformer` for a transformer that is not registered;
    ///   `MappingError.unknownEntity` for a contract of no entity; `ModelError` if an annotation makes an
    ///   identity of an unsuitable attribute.
    public init(
        _ model: DataModel, dialect: JSONDialect = .sync, transformers: JSONTransformers = JSONTransformers(),
        contract: ValueContract? = nil, contracts: [String: ValueContract] = [:]
    ) throws {
        let identified = try dialect.identified(model).adding([.pendingLink])
        self.model = identified
        self.dialect = dialect
        self.transformers = transformers
        for entity in contracts.keys.sorted() where identified[entity] == nil {
            throw MappingError.unknownEntity(entity)
        }
        mappings = try identified.layouts.map { layout in
            try EntityMapping(
                EntityKeys(layout, in: identified, dialect: dialect), transformers: transformers,
                contract: contracts[layout.name] ?? contract ?? layout.entity.inferredContract ?? dialect.contract)
        }
    }

    /// How objects of an entity are mapped.
    ///
    /// - Throws: `MappingError.unknownEntity`.
    package func mapping(of entity: String) throws(MappingError) -> EntityMapping {
        guard let layout = model[entity] else { throw .unknownEntity(entity) }
        return mappings[layout.index]
    }

    /// The mapping of the entity that an entity mapper named.
    func mapping(of answer: String, for mapping: EntityMapping) throws(MappingError) -> EntityMapping {
        guard let layout = model[answer], layout.isKind(of: mapping.layout) else {
            throw .unrelatedEntity(entity: mapping.layout.name, answer: answer)
        }
        return mappings[layout.index]
    }

    // MARK: One object

    /// Maps one JSON object onto a record: attributes whose keys are absent stay as they are, null
    /// clears.
    ///
    /// - Parameters:
    ///   - record: A record of this mapper's model; what it is related to stays as it is.
    ///   - json: An object.
    /// - Returns: Whether a value changed.
    /// - Throws: `MappingError.unfit` where the contract rejects the object or fails;
    ///   `MappingError.unknownEntity` for a record of an entity that the model lacks;
    ///   `JSONError.nonFiniteNumber` for such a number in `json`.
    public func fill(_ record: inout Record, from json: JSONValue) throws -> Bool {
        var writer = JSONWriter()
        try writer.value(json)
        return try fill(&record, from: writer.bytes)
    }

    /// Maps one JSON object, given as UTF-8, onto a record: attributes whose keys are absent stay
    /// as they are, null clears.
    ///
    /// - Returns: Whether a value changed.
    /// - Throws: As ``fill(_:from:)-(_,JSONValue)``, and `JSONError` where the bytes are not one
    ///   JSON document.
    public func fill(_ record: inout Record, from bytes: [UInt8]) throws -> Bool {
        let reader = try RecordReader(
            self, entity: record.layout.name, reader: JSONReader(bytes: bytes, layout: .document),
            options: RecordReader.Options(), usesEntityMapper: false)
        guard let batch = try reader.next() else { return false }
        if let problem = batch.rejected.first { throw MappingError.unfit(problem) }
        guard let group = batch.groups.first else { return false }
        return group.records.withReader { cells in
            var hasChanged = false
            for slot in 0..<min(cells.columnCount, record.layout.attributes.count) {
                guard let value = cells.value(row: 0, slot: slot), record[slot: slot] != value else { continue }
                record[slot: slot] = value
                hasChanged = true
            }
            return hasChanged
        }
    }
}

extension SyncEntity {
    /// The contract of an entity that was inferred from a sample: no rule says that a value which
    /// the sample did not foresee clears what is stored.
    fileprivate var inferredContract: ValueContract? {
        isInferred ? .keeping : nil
    }
}
