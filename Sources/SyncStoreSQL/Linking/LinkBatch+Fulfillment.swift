import SyncModel
package import SyncStore

extension LinkBatch {
    /// Returns whether the sources have exactly the wanted links, so that nothing is to be written.
    ///
    /// It is cheaper than a plan, and the usual answer for a payload that has not changed.
    ///
    /// - Parameter links: All links of the sources, those of each source together and in order.
    package func isFulfilled(by links: [StoreLink]) -> Bool {
        guard mode == .replace, newTargets.isEmpty, links.count == targets.count else { return false }
        let isSorted = zip(sources, sources.dropFirst()).allSatisfy(<)
        let order = isSorted ? Array(sources.indices) : sources.indices.sorted { sources[$0] < sources[$1] }
        var next = 0
        for index in order {
            var wanted = targets(at: index)
            if !relationship.isOrdered { wanted.sort() }
            for target in wanted {
                guard links[next] == StoreLink(source: sources[index], target: target) else { return false }
                next += 1
            }
        }
        return true
    }
}
