/// The actions that a pass would take for the keys of the source and the local collection.
///
/// The pure comparison of a source list with the local keys. A pass acts on the same value that
/// ``Synchronizer/plan()`` returns. Applied to its own result, it changes nothing.
public struct SyncPlan<Item: SyncItem>: Sendable {
    /// The type of keys.
    public typealias Key = Item.Key

    /// An action for a key, including its reason.
    public enum Action: Sendable, Hashable {
        /// In the source and not stored: downloaded.
        case insert
        /// In the source and stored, and the processor wants it again: downloaded.
        case update
        /// In the source and stored, and the processor does not want it again: left alone.
        case keep
        /// Stored and absent from the source: removed.
        case remove
        /// Stored and absent from the source, but kept because removals are withheld.
        case withhold(SyncReport.WithheldRemovals.Reason)
        /// Stored and absent from the source. There are so many such keys that the pass would end
        /// with an error instead of removing any.
        case refuse
    }

    /// The plan for one key.
    public struct Step: Sendable {
        /// The key.
        public let key: Key
        /// The action for the key.
        public let action: Action
        /// The source's item; `nil` if the key is absent from the source.
        public let item: Item?
    }

    /// The action for the local items that are absent from the source.
    enum Removal: Sendable, Hashable {
        case remove
        case withhold(SyncReport.WithheldRemovals.Reason)
        case refuse(SyncError.Reason)
    }

    /// The items of the source, in its order.
    public let items: [Item]

    /// The stored keys that are absent from the source.
    public let absentKeys: Set<Key>

    /// The number of items stored when the plan was made.
    public let localCount: Int

    /// The decisions for `items`, at the same indices.
    private(set) var decisions: [SyncDecision]
    let removal: Removal

    /// Compares a source list with the stored keys. Stored items are kept unless ``update(_:)``
    /// changes that.
    ///
    /// - Throws: ``SyncError/Reason/duplicateKeys(keys:count:)``;
    ///   ``SyncError/Reason/collidingKeys(type:)``.
    /// - Complexity: O(items + local keys).
    package init(
        source: SourceList<Item>, localKeys: Set<Key>, removalLimit: RemovalLimit? = nil
    ) throws(SyncError.Reason) {
        items = source.items
        localCount = localKeys.count
        let comparison = try KeyComparison(items.map { $0.owsPrimaryKey }, with: localKeys)
        guard comparison.repeatedCount == 0 else {
            throw .duplicateKeys(
                keys: comparison.repeatedKeys.map { Self.description(of: $0, in: source.items) },
                count: comparison.repeatedCount)
        }
        decisions = comparison.decisions
        absentKeys = comparison.absentKeys
        removal = Self.removal(
            of: absentKeys.count, localCount: localCount, isPartial: source.isPartial, limit: removalLimit)
    }

    /// Describes a repeated key. A `String` may look unique in the source, because its canonically
    /// equivalent forms are equal.
    private static func description(of key: Key, in items: [Item]) -> String {
        let description = String(reflecting: key)
        guard let text = key as? String else { return description }
        let hasOtherForm = items.contains { item in
            item.owsPrimaryKey == key
                && (item.owsPrimaryKey as? String).map { !$0.utf8.elementsEqual(text.utf8) } ?? false
        }
        return hasOtherForm ? "\(description) in another Unicode form, which a SyncKey distinguishes" : description
    }

    private static func removal(of count: Int, localCount: Int, isPartial: Bool, limit: RemovalLimit?) -> Removal {
        if isPartial { return .withhold(.partialList) }
        guard let limit, !limit.allows(removals: count, of: localCount) else { return .remove }
        switch limit.action {
        case .abort:
            return .refuse(.removalLimitExceeded(removals: count, localCount: localCount, limit: limit))
        case .withhold:
            return .withhold(.removalLimit)
        }
    }

    /// The positions in ``items`` of stored items that are not marked for an update.
    var keptIndices: [Int] {
        decisions.indices.filter { decisions[$0] == .keep }
    }

    /// The number of stored items that are not downloaded again.
    var keptCount: Int { decisions.count { $0 == .keep } }

    /// Marks the stored items at some positions for an update.
    mutating func update(_ indices: [Int]) {
        for index in indices { decisions[index] = .update }
    }

    /// The items that would be downloaded: new and changed ones by download order, ties in the
    /// source's order.
    public var downloads: [Item] { items(at: downloadIndices) }

    /// The positions in ``items`` of ``downloads``, in the same order.
    var downloadIndices: [Int] {
        var indices: [Int] = []
        indices.reserveCapacity(decisions.count { $0 != .keep })
        var isInOrder = true
        var lastOrder = Int.min
        for index in decisions.indices where decisions[index] != .keep {
            let order = items[index].owsDownloadOrder
            if order < lastOrder { isInOrder = false }
            lastOrder = order
            indices.append(index)
        }
        guard !isInOrder else { return indices }
        // Sorted as pairs of integers, so that items are not moved; the position keeps ties in
        // order.
        return indices.map { (order: items[$0].owsDownloadOrder, index: $0) }.sorted(by: <).map(\.index)
    }

    /// The items at some positions; not copied if these are all positions in order.
    func items(at indices: [Int]) -> [Item] {
        indices.elementsEqual(items.indices) ? items : indices.map { items[$0] }
    }

    /// Whether the items at some positions are stored; empty if no item of the source is.
    func isStored(at indices: [Int]) -> [Bool] {
        decisions.contains { $0 != .insert } ? indices.map { decisions[$0] != .insert } : []
    }

    /// The number of keys with each action; actions without keys are omitted.
    public var counts: [Action: Int] {
        var counts: [Action: Int] = [:]
        for decision in decisions { counts[Self.action(decision), default: 0] += 1 }
        if !absentKeys.isEmpty { counts[absentAction] = absentKeys.count }
        return counts
    }

    /// Every key once: the source's keys in its order, then the absent keys in any order.
    public var steps: some Sequence<Step> {
        let listed = zip(items, decisions).lazy.map { Step(key: $0.owsPrimaryKey, action: Self.action($1), item: $0) }
        let absent = absentKeys.lazy.map { Step(key: $0, action: absentAction, item: nil) }
        return [AnySequence(listed), AnySequence(absent)].lazy.joined()
    }

    private static func action(_ decision: SyncDecision) -> Action {
        switch decision {
        case .insert: .insert
        case .update: .update
        case .keep: .keep
        }
    }

    /// The action for keys that are absent from the source.
    private var absentAction: Action {
        switch removal {
        case .remove: .remove
        case .withhold(let reason): .withhold(reason)
        case .refuse: .refuse
        }
    }

    /// The error that would end the pass before it removes or downloads anything; `nil` if there is
    /// none.
    public var refusal: SyncError? {
        guard case .refuse(let reason) = removal else { return nil }
        return SyncError(stage: .remove, underlying: reason)
    }
}

extension SyncPlan.Action: CustomStringConvertible {
    /// The action and its reason as text, such as `remove: absent from the source`.
    public var description: String {
        switch self {
        case .insert: "insert: not stored yet"
        case .update: "update: the processor says it changed"
        case .keep: "keep: stored and unchanged"
        case .remove: "remove: absent from the source"
        case .withhold(.partialList): "keep: absent from the source, but the list is partial"
        case .withhold(.removalLimit): "keep: absent from the source, but too many are"
        case .withhold(.incompletePass): "keep: absent from the source, but the pass did not succeed"
        case .refuse: "refuse: absent from the source, but too many are, so that the pass would end"
        }
    }
}
