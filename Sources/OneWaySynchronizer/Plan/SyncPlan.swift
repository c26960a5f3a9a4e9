/// The actions that a pass would take for the keys of the source and the local collection.
///
/// The pure comparison of a source list with the local keys. A pass acts on the same value that
/// ``Synchronizer/plan()`` returns. Applied to its own result, it changes nothing.
public struct SyncPlan<Item: SyncItem>: Sendable {
    /// The type of keys.
    public typealias Key = Item.Key

    /// The plan for one key.
    public struct Step: Sendable {
        /// The key.
        public let key: Key
        /// The action for the key.
        public let action: SyncAction
        /// The source's item; `nil` if the key is absent from the source.
        public let item: Item?
    }

    /// The items of the source, in its order.
    public let items: [Item]

    /// The stored keys that are absent from the source.
    public let absentKeys: Set<Key>

    /// The number of items stored when the plan was made.
    public let localCount: Int

    /// The actions for `items`, at the same indices.
    private(set) var actions: [SyncAction]
    /// The action for `absentKeys`.
    let absentAction: SyncAction
    /// The error that refuses deletions; `nil` unless `absentAction` is ``SyncAction/refuse``.
    private let refusalReason: SyncError.Reason?

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
        actions = comparison.isStored.map { $0 ? .leave : .insert }
        absentKeys = comparison.absentKeys
        var (absentAction, refusalReason) = (SyncAction.delete, SyncError.Reason?.none)
        if source.isPartial {
            absentAction = .keep(.partialList)
        } else if let limit = removalLimit, !limit.allows(removals: absentKeys.count, of: localCount) {
            switch limit.action {
            case .keep: absentAction = .keep(.removalLimit)
            case .abort:
                absentAction = .refuse
                refusalReason = .removalLimitExceeded(
                    removals: absentKeys.count, localCount: localCount, limit: limit)
            }
        }
        (self.absentAction, self.refusalReason) = (absentAction, refusalReason)
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

    /// The positions in ``items`` of stored items that are not marked for an update.
    var keptIndices: [Int] {
        actions.indices.filter { actions[$0] == .leave }
    }

    /// The number of stored items that are not downloaded again.
    var keptCount: Int { actions.count { $0 == .leave } }

    /// Marks the stored items at some positions for an update.
    mutating func update(_ indices: [Int]) {
        for index in indices { actions[index] = .update }
    }

    /// The items that would be downloaded: new and changed ones by download order, ties in the
    /// source's order.
    public var downloads: [Item] { items(at: downloadIndices) }

    /// The positions in ``items`` of ``downloads``, in the same order.
    var downloadIndices: [Int] {
        var indices: [Int] = []
        indices.reserveCapacity(actions.count { $0 != .leave })
        var isInOrder = true
        var lastOrder = Int.min
        for index in actions.indices where actions[index] != .leave {
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
        actions.contains { $0 != .insert } ? indices.map { actions[$0] != .insert } : []
    }

    /// The number of keys with each action; actions without keys are omitted.
    public var counts: [SyncAction: Int] {
        var counts: [SyncAction: Int] = [:]
        for action in actions { counts[action, default: 0] += 1 }
        if !absentKeys.isEmpty { counts[absentAction] = absentKeys.count }
        return counts
    }

    /// Every key once: the source's keys in its order, then the absent keys in any order.
    public var steps: some Sequence<Step> {
        let listed = zip(items, actions).lazy.map { Step(key: $0.owsPrimaryKey, action: $1, item: $0) }
        let absent = absentKeys.lazy.map { Step(key: $0, action: absentAction, item: nil) }
        return [AnySequence(listed), AnySequence(absent)].lazy.joined()
    }

    /// The error that would end the pass before it removes or downloads anything; `nil` if there is
    /// none.
    public var refusal: SyncError? {
        refusalReason.map { SyncError(stage: .remove, underlying: $0) }
    }
}

extension SyncPlan: CustomStringConvertible {
    /// The plan as text, such as `100 listed: 10 to insert, 2 to update, 88 to leave, 1 to delete`.
    public var description: String {
        let counts = counts
        func count(_ action: SyncAction) -> Int { counts[action] ?? 0 }
        var parts = [
            "\(count(.insert)) to insert", "\(count(.update)) to update", "\(count(.leave)) to leave",
            "\(count(.delete)) to delete",
        ]
        if refusalReason != nil { parts.append("\(absentKeys.count) absent items refused") }
        if case .keep = absentAction, !absentKeys.isEmpty { parts.append("\(absentKeys.count) absent items kept") }
        return "\(items.count) listed: \(parts.joined(separator: ", "))"
    }
}
