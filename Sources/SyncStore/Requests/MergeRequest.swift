public import SyncModel

/// A request to merge the records of one entity into a store.
///
///     try await transaction.merge(MergeRequest(batch))
public struct MergeRequest: Sendable {
    /// How a merge chooses the object of a row.
    public enum Match: Hashable, Sendable {
        /// The object that has the row's identity. A row without an identity matches none.
        case identity
        /// A given object, regardless of the identity in the row. If it does not exist, the row is
        /// skipped.
        case object(ObjectID)
        /// No object; the row is skipped.
        case skipped
    }

    /// Objects and one of their relationships.
    public struct LinkSources: Sendable {
        /// The relationship, from the layout of the objects' entity.
        public let relationship: EntityLayout.Relationship
        /// The objects, in any order. Numbers without an object are ignored.
        public let objects: [ObjectID]

        /// Creates objects with a relationship.
        public init(_ relationship: EntityLayout.Relationship, objects: [ObjectID]) {
            self.relationship = relationship
            self.objects = objects
        }
    }

    /// The records. Their cells hold values that the attributes accept.
    public var records: RecordBatch
    /// The match of each row of the batch; nil, the default, if every row matches by identity.
    public var matches: [Match]?
    /// The allowed changes; all by default.
    public var policy: MergeRequest.Policy
    /// Whether rows that an index or a constraint refuses are left out and reported in
    /// ``MergeRequest/Result/refused``; false by default, which makes them an error.
    public var setsRefusedAside = false
    /// The objects whose links the caller states after the merge; nil, the default, for none. A
    /// store on a server can read their links together with the merge.
    public var linkedNext: LinkSources?
    /// The names of the entities of which the caller counts all objects after the merge; empty, the
    /// default, for none. A store on a server can count them together with the merge.
    public var countedNext: [String] = []

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - records: Records of one entity, which must not be abstract if objects are inserted.
    ///   - matches: One element per row; nil, the default, if every row matches by identity.
    ///   - policy: The allowed changes; all by default.
    public init(_ records: RecordBatch, matches: [Match]? = nil, policy: MergeRequest.Policy = MergeRequest.Policy()) {
        self.records = records
        self.matches = matches
        self.policy = policy
    }
}
