/// What the source holds: its items, in its own order, and whether they are all of them.
///
/// An array literal will do where the list is complete:
///
/// ```swift
/// func owsFetchSourceList() async throws -> SourceList<Page> { [Page("a"), Page("b")] }
/// ```
///
/// An empty list is a legal list: everything local is then absent from the source. See ``SyncOptions/removalLimit``.
public struct SourceList<Item: SyncItem>: Sendable, ExpressibleByArrayLiteral {
    /// The items in the source's order. May be empty; keys are unique (checked by the pass).
    public var items: [Item]

    /// Whether the source may hold more than `items`, for example because a page of it could not be read.
    ///
    /// What is absent from a partial list is unknown, not gone: nothing is removed in such a pass, and the report says
    /// how many removals were withheld.
    public var isPartial: Bool

    /// A list of `items`, complete unless said otherwise.
    public init(_ items: [Item], isPartial: Bool = false) {
        self.items = items
        self.isPartial = isPartial
    }

    /// A complete list of the elements, in order.
    public init(arrayLiteral elements: Item...) {
        self.init(elements)
    }
}
