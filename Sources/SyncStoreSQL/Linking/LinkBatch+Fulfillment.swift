import SyncModel
package import SyncStore

extension LinkBatch {
    /// Returns whether the sources already have exactly the wanted links, so that nothing must be
    /// written.
    ///
    /// This is cheaper than a plan, and true for most payloads without changes.
    ///
    /// - Parameter links: All links of the sources, grouped by source and in order.
    package func isFulfilled(by links: [LinkBatch.Link]) -> Bool {
        guard mode == .replace, newTargets.isEmpty, links.count == targets.count else { return false }
        let isSorted = zip(sources, sources.dropFirst()).allSatisfy(<)
        let order = isSorted ? Array(sources.indices) : sources.indices.sorted { sources[$0] < sources[$1] }
        var next = 0
        for index in order {
            var wanted = targets(at: index)
            if !relationship.isOrdered { wanted.sort() }
            for target in wanted {
                guard links[next] == LinkBatch.Link(source: sources[index], target: target) else { return false }
                next += 1
            }
        }
        return true
    }
}
