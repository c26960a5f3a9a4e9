/// What a mapping does about what does not fit the model.
public struct ValueContract: Hashable, Sendable {
    /// What is done.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// As if the key were not there: the attribute stays as it is.
        case ignore
        /// As if the value were null: the attribute is cleared.
        case null
        /// The object is left out and reported with its index and path; the others go on.
        case reject
        /// Mapping ends with an error.
        case fail
    }

    /// What is done about a key that no attribute or relationship claims; `.ignore` by default, which is also what `.null` means here.
    public var unknownKey: Action
    /// What is done about a value that cannot become one of the attribute's type: of another kind, out of its range, a whole number
    /// with a fraction, refused by the transformer; `.null` by default. An element that is no object has nothing to clear: under
    /// `.ignore` and `.null` it is rejected too.
    public var wrongType: Action
    /// What is done about an attribute that must have a value, has no default, and is absent or null in the object; `.ignore` by
    /// default, so that an update can leave it out. `.null` says so of an absent one.
    public var missingMandatory: Action
    /// What is done about a text or number that is no date; `.null` by default.
    public var unreadableDate: Action

    /// A contract; what is left out is as forgiving as the conventions it comes from.
    public init(
        unknownKey: Action = .ignore, wrongType: Action = .null, missingMandatory: Action = .ignore,
        unreadableDate: Action = .null
    ) {
        self.unknownKey = unknownKey
        self.wrongType = wrongType
        self.missingMandatory = missingMandatory
        self.unreadableDate = unreadableDate
    }
}
