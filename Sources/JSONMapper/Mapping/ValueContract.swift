/// What a mapping does about values that do not fit the model.
///
/// Whatever is done, the drift report of a sync counts it.
public struct ValueContract: Hashable, Sendable {
    /// What is done about one kind of misfit.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// The attribute stays as it is, as if the key were absent.
        case ignore
        /// The attribute is cleared, as if the value were null.
        case null
        /// The object is left out and reported with its index and path; the others are mapped.
        case reject
        /// Mapping ends with an error.
        case fail
    }

    /// The action for a key that no attribute or relationship claims; `.ignore` by default.
    ///
    /// `.null` means the same as `.ignore`.
    public var unknownKey: Action
    /// The action for a value of a kind that the attribute's type cannot hold, and for a value that
    /// a transformer refuses; `.null` by default.
    ///
    /// An element that is not an object has nothing to clear: `.ignore` and `.null` reject it.
    public var wrongType: Action
    /// The action for a number that is too large for the attribute's type, or that has a fraction
    /// where the type has none; `.ignore` by default.
    public var outOfRange: Action
    /// The action for a mandatory attribute without a default that is absent or null in the object;
    /// `.ignore` by default, so that an update can leave it out.
    ///
    /// `.null` clears an attribute that is absent.
    public var missingMandatory: Action
    /// The action for a text or number that is not a date; `.null` by default.
    public var unreadableDate: Action

    /// Creates a contract; each action has the default that its property names.
    ///
    /// - Parameters:
    ///   - unknownKey: The action for a key that nothing claims.
    ///   - wrongType: The action for a value of another kind; nil, the default, means `.null`.
    ///   - outOfRange: The action for a number that does not fit; nil, the default, means the same
    ///     as `wrongType`, or `.ignore` if that is nil as well.
    ///   - missingMandatory: The action for a mandatory attribute without a value.
    ///   - unreadableDate: The action for what is not a date.
    public init(
        unknownKey: Action = .ignore, wrongType: Action? = nil, outOfRange: Action? = nil,
        missingMandatory: Action = .ignore, unreadableDate: Action = .null
    ) {
        self.unknownKey = unknownKey
        self.wrongType = wrongType ?? .null
        self.outOfRange = outOfRange ?? wrongType ?? .ignore
        self.missingMandatory = missingMandatory
        self.unreadableDate = unreadableDate
    }

    /// A contract that keeps stored values: what does not fit changes nothing.
    public static let keeping = ValueContract(wrongType: .ignore, unreadableDate: .ignore)

    /// A contract that makes every misfit an error.
    public static let strict = ValueContract(
        unknownKey: .fail, wrongType: .fail, outOfRange: .fail, missingMandatory: .fail, unreadableDate: .fail)
}
