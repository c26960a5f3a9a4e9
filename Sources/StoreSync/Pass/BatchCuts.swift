import JSONMapper
import SyncBase
import SyncModel

/// Finds where to cut a batch whose elements contradict each other.
///
/// A batch is merged entity by entity and relationship by relationship, not element by element. If
/// two elements state different values for one object, the earlier one may therefore be merged
/// last. In separate parts, the later element is merged last. Elements that agree stay together,
/// because each part costs calls of the store.
struct BatchCuts {
    /// One occurrence of an object in the batch, at any depth.
    private struct Mention {
        /// The ordinal of the list's element that contains it.
        let element: Int
        /// The index of its group in `places`, and its row in the group.
        let place: Int
        let row: Int
    }

    private struct Identity: Hashable {
        let root: Int
        let values: [AttributeValue]
    }

    /// A group of objects at the same place: in the list itself, or nested by the same
    /// relationships.
    private struct Place {
        let group: MappedBatch.Group
        /// The ordinal of the list's element that contains each row; nil for a rejected row.
        let elements: [Int?]
    }

    /// The only object that a to-one relationship leads to, stated from either end.
    private struct Claim {
        /// The ordinal of the list's element that contains the statement.
        let element: Int
        /// The identity of the object; nil for none.
        let target: [AttributeValue?]?
    }

    /// The object and the to-one relationship that a claim is about.
    private struct Claimed: Hashable {
        let identity: Identity
        let relationship: EntityLayout.Relationship.ID
    }

    private let model: DataModel
    private var places: [Place] = []

    private init(_ model: DataModel) {
        self.model = model
    }

    /// Returns the elements that begin a new part, in order; empty if the batch stays whole.
    ///
    /// Contradictions within one element need no cut, because its merging order is the same in
    /// every batch. Contradicting lists at both ends of a many-to-many relationship are not
    /// detected.
    static func cuts(of batch: MappedBatch, in model: DataModel) -> [Int] {
        guard batch.groups.count > 1 || batch.groups.contains(where: \.hasNested) else { return [] }
        var cuts = BatchCuts(model)
        cuts.visit(batch) { $0 }
        // For each element that must begin a part, the last earlier element that it contradicts.
        var last: [Int: Int] = [:]
        func report(_ earlier: Int, _ later: Int) {
            last[later] = max(last[later] ?? earlier, earlier)
        }
        for mentions in cuts.repeatedMentions() {
            cuts.contradictions(mentions.sorted { $0.element < $1.element }, report)
        }
        for claims in cuts.repeatedClaims() {
            let claims = claims.sorted { $0.element < $1.element }
            for (earlier, later) in zip(claims, claims.dropFirst())
            where earlier.target != later.target && earlier.element < later.element {
                report(earlier.element, later.element)
            }
        }
        var begins: [Int] = []
        for (later, earlier) in last.sortedByKey where earlier >= begins.last ?? .min {
            begins.append(later)
        }
        return begins
    }

    private mutating func visit(_ batch: MappedBatch, _ element: (Int) -> Int?) {
        for group in batch.groups {
            let elements = group.elementIndices.map(element)
            places.append(Place(group: group, elements: elements))
            for case let nested? in group.nested {
                guard let objects = nested.objects else { continue }
                visit(objects) { ordinal in
                    let owner = nested.owners[ordinal]
                    return owner < 0 ? nil : elements[owner]
                }
            }
        }
    }

    // MARK: Mentions

    /// The mentions of each object that is mentioned more than once.
    private func repeatedMentions() -> [[Mention]] {
        let roots = places.map { model.layouts[$0.group.mapping.layout.index].root }
        var seen: Set<Int> = []
        let repeated = Set(roots.filter { !seen.insert($0).inserted })
        var mentions: [Identity: [Mention]] = [:]
        for (place, root) in zip(places.indices, roots) {
            let group = places[place].group
            let slots = group.mapping.layout.identitySlots
            // If all mentions are in one place, only the order of nested objects matters.
            guard !slots.isEmpty, repeated.contains(root) || group.hasNested else { continue }
            group.records.withReader { reader in
                guard repeated.contains(root) || !reader.isAscending(slot: slots[0]) else { return }
                for row in 0..<reader.count {
                    guard let element = places[place].elements[row], reader.isIdentified(row, by: slots) else {
                        continue
                    }
                    let values = slots.compactMap { reader.value(row: row, slot: $0) }
                    mentions[Identity(root: root, values: values), default: []].append(
                        Mention(element: element, place: place, row: row))
                }
            }
        }
        return mentions.values.filter { $0.count > 1 }
    }

    // MARK: Contradictions

    /// Finds the mentions of an object that contradict an earlier mention.
    ///
    /// - Parameters:
    ///   - mentions: The mentions of the object, in the order of their elements.
    ///   - report: Receives the elements of both mentions.
    private func contradictions(_ mentions: [Mention], _ report: (_ earlier: Int, _ later: Int) -> Void) {
        let isInOnePlace = mentions.allSatisfy { $0.place == mentions[0].place }
        // The latest mention with a value for each slot.
        var latest: [Mention?] = []
        var targets: [Int: (targets: [[AttributeValue?]], element: Int)] = [:]
        var previous: Mention?
        for mention in mentions {
            let group = places[mention.place].group
            if let previous, places[previous.place].group.mapping.layout.index != group.mapping.layout.index {
                if previous.element < mention.element { report(previous.element, mention.element) }
                latest = []
                targets = [:]
            }
            previous = mention
            if !isInOnePlace {
                if latest.isEmpty { latest = Array(repeating: nil, count: group.records.columnCount) }
                if let earlier = difference(of: mention, from: &latest) { report(earlier, mention.element) }
            }
            for (index, nested) in group.nested.enumerated() {
                guard let found = nested?.targets(of: mention.row, isWhole: isInOnePlace) else { continue }
                if let earlier = targets[index], earlier.targets != found, earlier.element < mention.element {
                    report(earlier.element, mention.element)
                }
                targets[index] = (found, mention.element)
            }
        }
    }

    /// The last earlier element with a different value for a slot of the object; nil if there is
    /// none.
    ///
    /// - Parameter latest: The latest mention with a value for each slot; updated with `mention`.
    private func difference(of mention: Mention, from latest: inout [Mention?]) -> Int? {
        var last: Int?
        places[mention.place].group.records.withReader { reader in
            for slot in 0..<reader.columnCount where reader.kind(row: mention.row, slot: slot) != .absent {
                defer { latest[slot] = mention }
                guard let earlier = latest[slot], earlier.element < mention.element else { continue }
                let isEqual = places[earlier.place].group.records.withReader { other in
                    reader.isEqual(row: mention.row, slot: slot, to: other, row: earlier.row, slot: slot)
                }
                if !isEqual { last = max(last ?? earlier.element, earlier.element) }
            }
        }
        return last
    }

    // MARK: Claims

    /// The claims about each object and relationship, if several places of the batch state the
    /// relationship or its inverse.
    private func repeatedClaims() -> [[Claim]] {
        var stated: [EntityLayout.Relationship.ID: [(place: Int, index: Int)]] = [:]
        for (place, group) in places.map(\.group).enumerated() {
            for (index, nested) in group.nested.enumerated() where nested != nil {
                let relationship = group.mapping.layout.relationships[index]
                guard let inverse = model.inverse(of: relationship), !relationship.isToMany || !inverse.isToMany
                else { continue }
                stated[min(relationship.id, inverse.id), default: []].append((place, index))
            }
        }
        var claims: [Claimed: [Claim]] = [:]
        // Sorted, so that the order is the same in every process. A symmetric relationship states
        // both ends at once.
        for (id, statements) in stated.sortedByKey
        where statements.count > 1 || model.isSymmetric(model.layouts[id.source].relationships[id.index]) {
            for (place, index) in statements {
                addClaims(of: place, index, to: &claims)
            }
        }
        return Array(claims.values)
    }

    private func addClaims(of place: Int, _ index: Int, to claims: inout [Claimed: [Claim]]) {
        let group = places[place].group
        let layout = group.mapping.layout
        let relationship = layout.relationships[index]
        let destination = model.layouts[relationship.destination]
        guard let nested = group.nested[index], let inverse = model.inverse(of: relationship), layout.hasIdentity,
            destination.hasIdentity
        else { return }
        for source in nested.sources {
            guard let element = places[place].elements[source.row] else { continue }
            let values = layout.identitySlots.compactMap { group.records.value(row: source.row, slot: $0) }
            let identity = Identity(root: layout.root, values: values)
            let targets = nested.targets(of: source.row, isWhole: false) ?? []
            if !relationship.isToMany {
                claims[Claimed(identity: identity, relationship: relationship.id), default: []].append(
                    Claim(element: element, target: targets.first))
            }
            guard !inverse.isToMany else { continue }
            for target in targets {
                let identity = Identity(root: destination.root, values: target.compactMap { $0 })
                claims[Claimed(identity: identity, relationship: inverse.id), default: []].append(
                    Claim(element: element, target: values))
            }
        }
    }
}

extension NestedElements {
    /// The targets of a row: identities, or the content of objects without one; nil if the row
    /// states none.
    ///
    /// - Parameter isWhole: Whether content is returned for objects with an identity too. Of the
    ///   rows of one object in one place, only the elements of the last row are merged.
    fileprivate func targets(of row: Int, isWhole: Bool) -> [[AttributeValue?]]? {
        let index = sources.firstIndex(from: { $0.row >= row })
        guard index < sources.count, sources[index].row == row else { return nil }
        let ordinals = sources[index].ordinals
        var targets = [[AttributeValue?]](repeating: [], count: ordinals.count)
        for group in (objects?.groups ?? []) + (identifiers?.groups ?? []) {
            let slots = group.mapping.layout.identitySlots
            var row = group.elementIndices.firstIndex(from: { $0 >= ordinals.lowerBound })
            while row < group.elementIndices.count, ordinals.contains(group.elementIndices[row]) {
                targets[group.elementIndices[row] - ordinals.lowerBound] =
                    isWhole || slots.isEmpty
                    ? group.content(of: row) : slots.map { group.records.value(row: row, slot: $0) }
                row += 1
            }
        }
        return targets
    }
}

extension MappedBatch.Group {
    /// The values of a row, followed by the content of its targets.
    fileprivate func content(of row: Int) -> [AttributeValue?] {
        var content = (0..<records.columnCount).map { records.value(row: row, slot: $0) }
        for (index, nested) in nested.enumerated() {
            guard let targets = nested?.targets(of: row, isWhole: true) else { continue }
            content += [.int(Int64(index)), .int(Int64(targets.count))] + targets.joined()
        }
        return content
    }
}

extension Array {
    /// The index of the first element that satisfies a condition, by binary search; the count if
    /// there is none. The condition must hold for all elements after that one.
    fileprivate func firstIndex(from isAtOrAfter: (Element) -> Bool) -> Int {
        var range = indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isAtOrAfter(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}
