extension HTTPAPI {
    /// The form of the objects in a page.
    public enum Format: Hashable, Sendable {
        /// The elements of an array.
        case array
        /// One object per line (newline-delimited JSON).
        ///
        /// There are no values outside the lines, so a source with a key path of a page fails. A
        /// check examines each line.
        case lines
        /// The resources of JSON:API. Their attributes and relationships become fields of each.
        ///
        /// A related resource that the page includes is nested in the resources that refer to it.
        /// Other relationships have identifiers: `author_id`, `comments_ids`. Relationships that
        /// have only links are absent. A page is held in memory. Its key path is `data`.
        case jsonAPI
        /// The data of server-sent events, in a stream that ends.
        ///
        /// Only events of these types count; all for an empty set. An event of the type `error` is
        /// an error unless it is listed here. For key paths of a page and checks, see ``lines``.
        /// For an endless stream, use an ``HTTPEventStream``.
        case events(types: Set<String> = [])

        /// Whether only the end of the body shows where a page ends.
        var isOpenEnded: Bool {
            switch self {
            case .lines, .events: true
            case .array, .jsonAPI: false
            }
        }

        /// The part of a source's fingerprint that depends on the format.
        var fingerprint: String {
            switch self {
            case .events(let types): "events \(types.sorted())"
            case .array, .lines, .jsonAPI: "\(self)"
            }
        }
    }

    /// The element that ends a page of lines or events. It is not an object of the list.
    public enum EndSign: Hashable, Sendable {
        /// The last line, in which the value at the key path is not null, false, 0 or empty.
        case line(keyPath: String)
        /// An event of a type, such as `done`.
        case event(type: String)
    }
}
