/// What a reader accepts where RFC 8259 leaves it open, and how much of it.
///
/// What is decided for good: a UTF-8 byte order mark at the very start is skipped (RFC 8259,
/// section 8.1, allows it); any other encoding is malformed; white space may surround a document;
/// an empty input is malformed, except as newline-delimited JSON, where it has no element.
public struct JSONOptions: Sendable, Equatable {
    /// What to do about a key that occurs twice in one object. Keys are compared by their unescaped
    /// bytes, so `"a"` and `"\u0061"` are the same key, and differently normalised Unicode is not.
    public enum DuplicateKeys: Sendable {
        /// Both are handed on in order, so the last one stays, as in most parsers. The default.
        case lastWins
        /// The element is malformed. Costs a second pass over each element.
        case fail
    }

    /// What to do about an escaped surrogate without its partner, which no UTF-8 text can hold.
    public enum LoneSurrogates: Sendable {
        /// The string is malformed. The default.
        case fail
        /// Each becomes U+FFFD.
        case replace
    }

    /// What to do about a key that occurs twice in one object; ``DuplicateKeys/lastWins`` by
    /// default.
    public var duplicateKeys: DuplicateKeys = .lastWins
    /// What to do about an escaped surrogate without its partner; ``LoneSurrogates/fail`` by
    /// default.
    public var loneSurrogates: LoneSurrogates = .fail
    /// How deep arrays and objects may be nested, counted from an element; 1...2,048, 512 by
    /// default.
    public var maximumDepth: Int {
        get { depth }
        set { depth = min(max(newValue, 1), 2048) }
    }
    /// How many bytes one element may have, and so how much memory reading takes; 64 MiB by
    /// default.
    public var maximumElementByteCount = 64 << 20
    /// How many bytes the whole input may have; no limit by default.
    public var maximumTotalByteCount = Int.max

    private var depth = 512

    /// The defaults.
    public init() {}
}
