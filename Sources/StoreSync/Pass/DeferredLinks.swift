import JSONMapper
import SyncModel
import SyncStore

/// Links to objects that the store did not have when an identifier named them.
///
/// A later part of the payload may insert the objects. ``StorePass`` adds statements while it
/// merges, and makes them at the end.
struct DeferredLinks {
    /// The maximum number of objects to link at a time.
    private static let sourceLimit = 5000

    /// A stored object, or a row of the relationship's batch in `unknown`.
    enum Target {
        case object(ObjectID)
        case unknown(Int)

        fileprivate var isUnknown: Bool {
            if case .unknown = self { true } else { false }
        }

        /// The object; nil if it is not stored.
        ///
        /// - Parameter found: The object of each row.
        fileprivate func object(_ found: [ObjectID?]?) -> ObjectID? {
            switch self {
            case .object(let object): object
            case .unknown(let row): found.flatMap { $0[row] }
            }
        }
    }

    /// One relationship of one object.
    struct Place {
        let relationship: EntityLayout.Relationship.ID
        let source: ObjectID
        /// The index of the source's entity.
        let entity: Int
        /// The index of the element in the payload.
        let elementIndex: Int

        fileprivate var id: RelationshipSource { RelationshipSource(relationship, of: source) }
    }

    /// The targets that the payload states for a place.
    private struct Statement {
        let place: Place
        /// The indices in `targets`.
        let targets: Range<Int>
        /// Whether a part of the value could not be read. In this case, nothing is unlinked.
        let isIncomplete: Bool
        /// Whether the statement is made before those that came earlier.
        let isMadeFirst: Bool
        /// Whether a later statement has replaced this one.
        var isReplaced = false
    }

    /// Identifiers that the pass has stored before its end, because too many statements waited.
    private(set) var stored = StoredLinks()
    /// The statements about relationships of objects, in the order of the payload.
    private var stated: [Statement] = []
    /// The targets of all statements.
    private var targets: [Target] = []
    /// The identifiers that name no object, by relationship; one row for each.
    private(set) var unknown: [EntityLayout.Relationship.ID: RecordBatch] = [:]
    /// The relationships of all statements.
    private var relationships: Set<EntityLayout.Relationship.ID> = []
    /// The index in `stated` of each relationship and source.
    private var indices: [RelationshipSource: Int] = [:]

    /// Objects of the list that an identifier named before the list contained them.
    ///
    /// The end of the pass deletes them if the list does not contain them at all.
    struct Named {
        let place: Place
        /// The objects, each with its position among all targets.
        let targets: [(position: Int, object: ObjectID)]
    }

    private var namedObjects: [RelationshipSource: Named] = [:]

    /// The number of statements that wait for the end in memory.
    var count: Int { stated.count }
    /// Whether no statement waits for the end.
    var isEmpty: Bool { stated.isEmpty && stored.rows.isEmpty }

    /// Takes out the statements that wait in memory.
    mutating func take() -> DeferredLinks {
        var taken = DeferredLinks()
        swap(&taken, &self)
        swap(&stored, &taken.stored)
        swap(&namedObjects, &taken.namedObjects)
        return taken
    }

    /// Notes identifiers that were stored before the end.
    ///
    /// - Parameters:
    ///   - rows: The stored objects that hold them.
    ///   - resolution: The statements that name them.
    mutating func noteStored(_ rows: [ObjectID], of resolution: Resolution) {
        stored.rows.formUnion(rows)
        for (id, targets) in resolution.pending.targets {
            stored.sources[id, default: ObjectSet()].formUnion(targets.lazy.map(\.object))
        }
        for (place, _) in resolution.unknown where stored.places[place.relationship] == nil {
            stored.places[place.relationship] = place
        }
    }

    /// Takes the sources out whose statement has replaced one with stored identifiers.
    mutating func takeReplaced() -> [EntityLayout.Relationship.ID: ObjectSet] {
        defer { stored.replaced = [:] }
        return stored.replaced
    }

    /// The indices of the statements in the order in which they are to be made.
    private var order: [Int] {
        let counting = stated.indices.filter { !stated[$0].isReplaced }
        return counting.reversed().filter { stated[$0].isMadeFirst } + counting.filter { !stated[$0].isMadeFirst }
    }

    /// The latest statements that name objects which the end of the pass may delete, in the order
    /// of the payload.
    var named: [Named] {
        namedObjects.values.sorted {
            ($0.place.elementIndex, $0.place.relationship, $0.place.source)
                < ($1.place.elementIndex, $1.place.relationship, $1.place.source)
        }
    }

    /// Forgets the statements that name objects which the end may delete.
    mutating func forgetNamed() {
        namedObjects = [:]
    }

    mutating func add(_ named: Named) {
        namedObjects[named.place.id] = named
    }

    /// Whether a statement about a relationship may contradict a deferred one.
    ///
    /// The later of two statements counts. Because deferred statements are made at the end, later
    /// statements about the same links are deferred as well, and made after them.
    func concerns(_ relationship: EntityLayout.Relationship, inverse: EntityLayout.Relationship?) -> Bool {
        guard !relationships.isEmpty, let inverse else { return false }
        return relationships.contains(inverse.id) || !inverse.isToMany && relationships.contains(relationship.id)
    }

    /// Whether a deferred statement about a relationship of a source names unknown objects.
    func lacksObjects(of source: ObjectID, _ relationship: EntityLayout.Relationship) -> Bool {
        if stored.sources[relationship.id]?.contains(source) == true { return true }
        guard !indices.isEmpty, let index = indices[RelationshipSource(relationship.id, of: source)] else {
            return false
        }
        return targets[stated[index].targets].contains(where: \.isUnknown)
    }

    /// What the deferred statement about a relationship of a source names.
    struct Names {
        var objects: Set<ObjectID> = []
        /// The identities that no stored object had.
        var identities: Set<[AttributeValue?]> = []
    }

    /// What the deferred statement about a relationship of a source names; nil if it names no
    /// unknown objects, or if its identifiers are stored.
    func names(of source: ObjectID, _ relationship: EntityLayout.Relationship) -> Names? {
        guard let unknown = unknown[relationship.id], let columns = unknown.layout?.identityColumns,
            let index = indices[RelationshipSource(relationship.id, of: source)]
        else { return nil }
        var names = Names()
        for target in targets[stated[index].targets] {
            switch target {
            case .object(let object): names.objects.insert(object)
            case .unknown(let row): names.identities.insert(columns.map { unknown.value(row: row, column: $0) })
            }
        }
        return names.identities.isEmpty ? nil : names
    }

    /// Removes the deferred statement about a relationship of a source.
    ///
    /// - Parameter laterCounts: Whether the statement that replaces it is one of the list. Another
    ///   one does not replace a statement of the list. True by default.
    mutating func forget(_ source: ObjectID, _ relationship: EntityLayout.Relationship, laterCounts: Bool = true) {
        // Called for each statement, and nearly always for nothing.
        guard !indices.isEmpty || !namedObjects.isEmpty || !stored.sources.isEmpty else { return }
        let place = RelationshipSource(relationship.id, of: source)
        if !laterCounts, let index = indices[place], !stated[index].isMadeFirst { return }
        namedObjects[place] = nil
        if stored.sources[relationship.id]?.remove(source) == true {
            stored.replaced[relationship.id, default: ObjectSet()].insert(source)
        }
        guard !indices.isEmpty, let index = indices.removeValue(forKey: place) else { return }
        stated[index].isReplaced = true
    }

    /// Defers the links of a source. An earlier statement must have been forgotten.
    ///
    /// Later statements undo earlier ones when they are made. A nested statement is therefore made
    /// before the earlier ones, which count more.
    ///
    /// - Parameters:
    ///   - targets: The objects, and the rows of `batch` for those that are not stored.
    ///   - batch: The identifiers; nil if all targets are stored.
    ///   - isIncomplete: Whether a part of the value could not be read.
    ///   - laterCounts: Whether the statement counts more than earlier ones.
    mutating func add(
        _ place: Place, to targets: [Target], of batch: RecordBatch?, isIncomplete: Bool, laterCounts: Bool
    ) {
        let start = self.targets.count
        if let batch {
            var unknown = self.unknown.removeValue(forKey: place.relationship) ?? batch.emptied
            for target in targets {
                guard case .unknown(let row) = target else {
                    self.targets.append(target)
                    continue
                }
                unknown.append(row: row, of: batch)
                self.targets.append(.unknown(unknown.count - 1))
            }
            self.unknown[place.relationship] = unknown
        } else {
            self.targets += targets
        }
        relationships.insert(place.relationship)
        indices[place.id] = stated.count
        stated.append(
            Statement(
                place: place, targets: start..<self.targets.count, isIncomplete: isIncomplete, isMadeFirst: !laterCounts
            ))
    }

    // MARK: The end

    /// What the end of a pass makes of the deferred statements.
    struct Resolution {
        /// The links to make, in order.
        var batches: [LinkBatch] = []
        /// The identifiers that still name no object.
        var pending = PendingLinks()
        /// The number of these identifiers, with the first place, by entity and relationship.
        var unknown: [(place: Place, count: Int)] = []
        /// The places whose statement differs from an earlier one about an object that was unknown
        /// when that one named it.
        var contradicting: [Place] = []

        fileprivate mutating func countUnknown(_ count: Int, _ place: Place) {
            let known = unknown.firstIndex {
                $0.place.relationship == place.relationship && $0.place.entity == place.entity
            }
            if let known { unknown[known].count += count } else { unknown.append((place, count)) }
        }

        /// Adds links to the last batch, or to a new one if that has others or is full.
        fileprivate mutating func link(_ source: ObjectID, to targets: [ObjectID], _ batch: LinkBatch) {
            let isOpen = batches.last.map {
                $0.relationship.id == batch.relationship.id && $0.mode == batch.mode
                    && $0.sources.count < DeferredLinks.sourceLimit
            }
            if isOpen != true { batches.append(batch) }
            batches[batches.count - 1].append(source, to: targets)
        }
    }

    /// Returns the links to make, in the order of the payload.
    ///
    /// - Parameter found: The object of each row of `unknown`.
    func resolved(
        _ found: [EntityLayout.Relationship.ID: [ObjectID?]], _ rules: SyncRules, in model: DataModel
    ) -> Resolution {
        var resolution = Resolution()
        let identifiers = unknown.mapValues(\.identifiers)
        // The relationships for which a deferred statement was made; a relationship and its inverse
        // are represented by the lower identifier. Later statements are made again.
        var repeated: Set<EntityLayout.Relationship.ID> = []
        let order = order
        let beaten = beaten(order, found, in: model)
        for index in order {
            let statement = stated[index]
            let (id, source) = (statement.place.relationship, statement.place.source)
            let relationship = model.relationship(id)
            let mode = rules.mode(of: relationship)
            var isNew = false
            var unknownCount = 0
            var targets: [ObjectID] = []
            for (position, target) in self.targets[statement.targets].enumerated() {
                if let object = target.object(found[id]) {
                    isNew = isNew || target.isUnknown
                    targets.append(object)
                } else if case .unknown(let row) = target {
                    unknownCount += 1
                    guard mode != .retain, let identifier = identifiers[id]?[row] else { continue }
                    resolution.pending.add(
                        PendingLinks.Target(object: source, position: position, identifier: identifier), of: id)
                }
            }
            if unknownCount > 0 { resolution.countUnknown(unknownCount, statement.place) }
            let pair = model.inverse(of: relationship).map { min($0.id, id) } ?? id
            if isNew { repeated.insert(pair) }
            guard !beaten.statements.contains(index) else { continue }
            if let taken = beaten.targets[index] { targets.removeAll(where: taken.contains) }
            guard repeated.contains(pair), !statement.isIncomplete || mode != .retain else { continue }
            resolution.link(source, to: targets, LinkBatch(relationship, mode: statement.isIncomplete ? .add : mode))
        }
        resolution.contradicting = contradicting(order, found, in: model)
        return resolution
    }

    /// Finds the statements that give an object to another source than an earlier statement, which
    /// named the object before it came.
    private func contradicting(
        _ order: [Int], _ found: [EntityLayout.Relationship.ID: [ObjectID?]], in model: DataModel
    ) -> [Place] {
        // Most objects are stated once, and need no more memory than a bit.
        var (seen, repeated): (ObjectSets, ObjectSets) = ([:], [:])
        for index in order {
            forEachOnly(of: index, found, in: model) { end, object, _, _ in
                if !seen[end, default: ObjectSet()].insert(object) {
                    repeated[end, default: ObjectSet()].insert(object)
                }
            }
        }
        guard !repeated.isEmpty else { return [] }
        var contradicting: Set<Int> = []
        var sources: [EntityLayout.Relationship.ID: [ObjectID: (source: ObjectID?, index: Int)]] = [:]
        for index in order.reversed() {
            forEachOnly(of: index, found, in: model) { end, object, source, isLate in
                guard repeated[end]?.contains(object) == true else { return }
                if isLate, let later = sources[end]?[object], later.source != source {
                    contradicting.insert(later.index)
                }
                sources[end, default: [:]][object] = (source, index)
            }
        }
        return contradicting.sorted().map { stated[$0].place }
    }

    private typealias ObjectSets = [EntityLayout.Relationship.ID: ObjectSet]

    /// Calls a function for each object whose only source or target a statement states, with the
    /// relationship that starts from it, that source or target, and whether the object came after
    /// the statement.
    private func forEachOnly(
        of index: Int, _ found: [EntityLayout.Relationship.ID: [ObjectID?]], in model: DataModel,
        _ body: (EntityLayout.Relationship.ID, ObjectID, ObjectID?, _ isLate: Bool) -> Void
    ) {
        let statement = stated[index]
        guard !statement.isIncomplete else { return }
        let (id, source) = (statement.place.relationship, statement.place.source)
        let relationship = model.relationship(id)
        let inverse = model.inverse(of: relationship).flatMap { $0.isToMany ? nil : $0 }
        var last: ObjectID?
        for target in targets[statement.targets] {
            guard let object = target.object(found[id]) else { continue }
            last = object
            if let inverse { body(inverse.id, object, source, target.isUnknown) }
        }
        if !relationship.isToMany { body(id, source, last, false) }
    }

    /// What nested statements lose to statements that count more.
    private struct Beaten {
        /// The indices of statements about a source that another statement gives to another object.
        var statements: Set<Int> = []
        /// The named objects that another statement gives to another object, by the index of the
        /// statement.
        var targets: [Int: Set<ObjectID>] = [:]
    }

    /// Finds what nested statements lose to statements that count more.
    ///
    /// Made in order, such a statement would take its objects from those that have them, and then
    /// lose them.
    private func beaten(
        _ order: [Int], _ found: [EntityLayout.Relationship.ID: [ObjectID?]], in model: DataModel
    ) -> Beaten {
        var beaten = Beaten()
        // The objects whose only target is decided, by the relationship that starts from them.
        var decided: [EntityLayout.Relationship.ID: ObjectSet] = [:]
        for index in order.reversed() {
            let statement = stated[index]
            let (id, source) = (statement.place.relationship, statement.place.source)
            let relationship = model.relationship(id)
            guard let inverse = model.inverse(of: relationship), !relationship.isToMany || !inverse.isToMany
            else { continue }
            if statement.isMadeFirst, !relationship.isToMany, decided[id]?.contains(source) == true {
                beaten.statements.insert(index)
                continue
            }
            if !relationship.isToMany { decided[id, default: ObjectSet()].insert(source) }
            guard !inverse.isToMany else { continue }
            for target in targets[statement.targets] {
                guard let object = target.object(found[id]), !decided[inverse.id, default: ObjectSet()].insert(object),
                    statement.isMadeFirst
                else { continue }
                beaten.targets[index, default: []].insert(object)
            }
        }
        return beaten
    }
}

/// Identifiers that a pass has stored as pending links before its end.
struct StoredLinks {
    /// The stored objects that hold the identifiers.
    fileprivate(set) var rows = ObjectSet()
    /// The objects whose statement names such identifiers, by relationship.
    fileprivate var sources: [EntityLayout.Relationship.ID: ObjectSet] = [:]
    /// The objects whose statement was replaced since then.
    fileprivate var replaced: [EntityLayout.Relationship.ID: ObjectSet] = [:]
    /// The first place of each relationship.
    fileprivate(set) var places: [EntityLayout.Relationship.ID: DeferredLinks.Place] = [:]
}

/// A relationship of one object.
struct RelationshipSource: Hashable {
    private let relationship: EntityLayout.Relationship.ID
    private let object: ObjectID

    init(_ relationship: EntityLayout.Relationship.ID, of object: ObjectID) {
        self.relationship = relationship
        self.object = object
    }
}

extension RecordBatch {
    /// An empty batch with the same columns.
    fileprivate var emptied: RecordBatch {
        layout.map { RecordBatch(of: $0) } ?? RecordBatch(columnCount: columnCount)
    }

    /// The identity of each record as JSON; nil if JSON cannot represent it.
    fileprivate var identifiers: [String?] {
        let column = layout?.identityColumns.first ?? 0
        return withReader { reader in
            (0..<reader.count).map { reader.value(row: $0, column: column)?.json }
        }
    }
}
