/// The actions of a mapping for values that do not fit the model.
///
/// The drift report of a sync counts a value that is ignored or cleared. A nested object whose key
/// does not fit is rejected with `.ignore` and `.null`, too, because it may be any object.
public struct ValueContract: Hashable, Sendable {
    /// The action for one kind of misfit.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// The attribute stays unchanged, as if the key were absent.
        case ignore
        /// The attribute is cleared, as if the value were null. A mandatory attribute takes its
        /// default, if it has one.
        case null
        /// The JSON object is rejected, and reported with its index and key path. The other objects
        /// are mapped.
        case reject
        /// Mapping ends with ``MappingError/unfit(_:)``.
        case fail
    }

    /// The action for a key that no attribute or relationship claims; `.ignore` by default.
    ///
    /// `.null` means the same as `.ignore`.
    public var unknownKey: Action
    /// The action for a value that the attribute's type cannot hold; `.null` by default.
    ///
    /// It also applies to a value that a transformer rejects, to one that is not among the
    /// attribute's allowed values, such as a case that an enum lacks, and to one that the Swift
    /// type of the property cannot hold, such as text that is no `URL`. An element that is not an
    /// object has no attribute to clear, so `.ignore` and `.null` reject it.
    public var wrongType: Action
    /// The action for a number that is out of the range of the attribute's type, or of the Swift
    /// type of its property; `.ignore` by default.
    ///
    /// It also applies to a number with a fraction if the type has none.
    public var outOfRange: Action
    /// The action for an object that would have no value for a mandatory attribute without a
    /// default; `.reject` by default.
    ///
    /// A sync checks it. A new object needs a value. A stored object keeps its value if its JSON
    /// lacks the key, and is left unchanged if the value is null or is cleared because it does not
    /// fit. `.ignore` stores an object without the value, which a Swift type then cannot hold.
    /// `.null` also clears the attribute of a stored object if its key is absent.
    public var missingMandatory: Action
    /// The action for text or a number that is not a date; `.null` by default.
    public var unreadableDate: Action

    /// Creates a contract. Each parameter defaults to the default of its property.
    public init(
        unknownKey: Action = .ignore, wrongType: Action? = nil, outOfRange: Action? = nil,
        missingMandatory: Action = .reject, unreadableDate: Action = .null
    ) {
        self.unknownKey = unknownKey
        self.wrongType = wrongType ?? .null
        self.outOfRange = outOfRange ?? wrongType ?? .ignore
        self.missingMandatory = missingMandatory
        self.unreadableDate = unreadableDate
    }

    /// A contract that keeps stored values: a value that does not fit changes nothing.
    public static let keeping = ValueContract(wrongType: .ignore, unreadableDate: .ignore)

    /// A contract that makes every misfit an error.
    public static let strict = ValueContract(
        unknownKey: .fail, wrongType: .fail, outOfRange: .fail, missingMandatory: .fail, unreadableDate: .fail)
}
