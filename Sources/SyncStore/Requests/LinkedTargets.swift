package import SyncModel

/// The targets of objects by source, collected from links that are read one by one.
///
/// An object can have a million targets, which take half as much memory without their source.
package struct LinkedTargets {
    /// The targets of the sources before `source`.
    private var lists: [ObjectID: [ObjectID]] = [:]
    /// The source of the latest link, because links are mostly grouped by source.
    private var source: ObjectID?
    /// The targets of that source.
    private var targets: [ObjectID] = []

    /// Creates a collection without links.
    package init() {}

    /// Adds the next link.
    package mutating func add(_ link: LinkBatch.Link) {
        if link.source != source {
            endSource()
            source = link.source
            targets = lists.removeValue(forKey: link.source) ?? []
        }
        targets.append(link.target)
    }

    /// Adds links.
    package mutating func add(_ links: some Sequence<LinkBatch.Link>) {
        for link in links { add(link) }
    }

    /// Takes the targets of each source, in the order of its links.
    package mutating func take() -> [ObjectID: [ObjectID]] {
        endSource()
        defer { lists = [:] }
        return lists
    }

    private mutating func endSource() {
        if let source { lists[source] = targets }
        (source, targets) = (nil, [])
    }
}
