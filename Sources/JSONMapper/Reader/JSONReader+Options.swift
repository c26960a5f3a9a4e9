extension JSONReader {
    /// Parsing choices that RFC 8259 leaves open, and limits on the input.
    ///
    /// Some choices are fixed. A UTF-8 byte order mark at the start of the input is skipped (RFC
    /// 8259, section 8.1). Any other encoding is malformed. White space may surround a document.
    /// Empty input is malformed, except for newline-delimited JSON, where it has no elements.
    public struct Options: Sendable, Equatable {
        /// The handling of a key that occurs twice in one object.
        ///
        /// Keys are compared by their unescaped bytes: `"a"` and `"\u0061"` are the same key, but
        /// differently normalized Unicode strings are different keys.
        public enum DuplicateKeys: Sendable {
            /// The parser passes on both values in order, so the last one wins, as in most parsers.
            /// The default.
            case lastWins
            /// The element is malformed. This costs a second scan of each element.
            case fail
        }

        /// The handling of an escaped surrogate without its counterpart, which UTF-8 cannot
        /// represent.
        public enum LoneSurrogates: Sendable {
            /// The string is malformed. The default.
            case fail
            /// Each lone surrogate becomes U+FFFD.
            case replace
        }

        /// The handling of a key that occurs twice in one object; ``DuplicateKeys/lastWins`` by
        /// default.
        public var duplicateKeys: DuplicateKeys = .lastWins
        /// The handling of an escaped surrogate without its counterpart; ``LoneSurrogates/fail`` by
        /// default.
        public var loneSurrogates: LoneSurrogates = .fail
        /// The maximum nesting depth of arrays and objects in an element; 512 by default. Clamped
        /// to 1...2,048.
        public var maximumDepth: Int {
            get { depth }
            set { depth = min(max(newValue, 1), 2048) }
        }
        /// The maximum size of one element, in bytes; 64 MiB by default. This also bounds the
        /// memory of the reader.
        public var maximumElementByteCount = 64 << 20
        /// The maximum size of the whole input, in bytes; unlimited by default.
        public var maximumTotalByteCount = Int.max

        private var depth = 512

        /// Creates options with the default values.
        public init() {}
    }
}
