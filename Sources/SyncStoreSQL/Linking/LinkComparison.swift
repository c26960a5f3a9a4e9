package import SyncModel
package import SyncStore

/// Compares the stored links of a batch's sources with the wanted links as they are read.
///
/// This is cheaper than a plan, and most payloads without changes need no plan. Links are kept only
/// from the first difference on.
package struct LinkComparison {
    private let batch: LinkBatch
    /// The indices of the sources in the order of the stored links.
    private let order: [Int]
    /// The wanted targets of the source at `place` in `order`.
    private var wanted: ArraySlice<ObjectID> = []
    private var place = -1
    /// The index in `wanted` of the next link. The links before it are stored.
    private var index = 0
    /// The targets of each source so far; nil as long as they are the first ones that are wanted.
    private var links: LinkedTargets?
    private var count = 0

    package init(_ batch: LinkBatch) {
        self.batch = batch
        let isSorted = batch.sources.isAscending
        order =
            isSorted
            ? Array(batch.sources.indices) : batch.sources.indices.sorted { batch.sources[$0] < batch.sources[$1] }
        if batch.mode != .replace || !batch.newTargets.isEmpty { links = LinkedTargets() }
    }

    /// Adds the next stored link. The links are grouped by source, and in order.
    package mutating func add(_ link: LinkBatch.Link) {
        if links == nil, next() != link { links = earlierLinks() }
        count += 1
        links?.add(link)
    }

    /// The stored targets of each source in order; nil if the sources have exactly the wanted
    /// links, so that nothing must be written.
    package mutating func difference() -> [ObjectID: [ObjectID]]? {
        if links == nil, next() != nil { links = earlierLinks() }
        return links?.take()
    }

    /// The first wanted links, which were read.
    private func earlierLinks() -> LinkedTargets {
        var wanted = LinkComparison(batch)
        var links = LinkedTargets()
        for _ in 0..<count {
            if let link = wanted.next() { links.add(link) }
        }
        return links
    }

    /// The next wanted link; nil after the last.
    private mutating func next() -> LinkBatch.Link? {
        while index == wanted.endIndex {
            place += 1
            guard place < order.count else { return nil }
            wanted = batch.targets(at: order[place])
            index = wanted.startIndex
        }
        defer { index += 1 }
        return LinkBatch.Link(source: batch.sources[order[place]], target: wanted[index])
    }
}
