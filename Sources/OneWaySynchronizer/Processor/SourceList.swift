/// The items that the source lists, and whether the list is complete.
///
/// An array literal is a complete list:
///
/// ```swift
/// func owsFetchSourceList() async throws -> SourceList<Page> { [Page("a"), Page("b")] }
/// ```
///
/// An empty list is valid: all local items are then absent from the source. See
/// ``SyncOptions/removalLimit``.
public struct SourceList<Item: SyncItem>: Sendable, ExpressibleByArrayLiteral {
    /// The items in the source's order. May be empty; the pass checks that keys are unique.
    public var items: [Item]

    /// Whether the source may hold more than `items`, for example because a page could not be read.
    ///
    /// A pass with a partial list removes nothing, because a missing item may exist. The report
    /// counts the kept items.
    public var isPartial: Bool

    /// Creates a list, complete by default.
    public init(_ items: [Item], isPartial: Bool = false) {
        self.items = items
        self.isPartial = isPartial
    }

    /// Creates a complete list of the elements, in order.
    public init(arrayLiteral elements: Item...) {
        self.init(elements)
    }
}
