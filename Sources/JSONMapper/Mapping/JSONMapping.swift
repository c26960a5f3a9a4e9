package import SyncModel

/// The rules that map JSON to a model and back.
///
///     let store = try await SQLiteStore(
///         User.self, at: .file(file), mapping: JSONMapping(dialect: .groot))
public struct JSONMapping: Sendable {
    /// The rules for keys; ``JSONDialect/sync`` by default.
    public var dialect: JSONDialect
    /// All transformers that annotations of the model name; none by default.
    public var transformers: RecordMapper.Transformers
    /// The actions for values that do not fit.
    ///
    /// Nil, the default, means ``ValueContract/keeping`` for an entity that was inferred from a
    /// sample, and ``JSONDialect/contract`` for any other entity.
    public var contract: ValueContract?
    /// Contracts of single entities, by entity name. They override ``contract``. Empty by default.
    public var contracts: [String: ValueContract]

    /// Creates rules.
    public init(
        dialect: JSONDialect = .sync, transformers: RecordMapper.Transformers = RecordMapper.Transformers(),
        contract: ValueContract? = nil, contracts: [String: ValueContract] = [:]
    ) {
        self.dialect = dialect
        self.transformers = transformers
        self.contract = contract
        self.contracts = contracts
    }
}

extension DataModel {
    /// The compiled mapping that accompanies the model; nil if there is none.
    package var mapper: RecordMapper? { companion(RecordMapper.self) }

    /// Returns the model for a store that JSON is synced into: with the identities that the dialect
    /// finds, the entities of the sync's bookkeeping, and the compiled mapping.
    ///
    /// A model that a mapper made is returned with the mapping of that mapper.
    ///
    /// - Parameter bookkeeping: Further entities.
    /// - Throws: The errors of ``RecordMapper/init(_:_:)``.
    package func prepared(_ mapping: JSONMapping?, adding bookkeeping: [SyncEntity] = []) throws -> DataModel {
        let mapping = mapping ?? mapper?.mapping ?? JSONMapping()
        return try RecordMapper(adding([.bookmark] + bookkeeping), mapping).model
    }
}
