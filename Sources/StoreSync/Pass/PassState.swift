import JSONMapper
import SyncBase
import SyncModel
import SyncStore

/// What a pass has read and done so far, and what waits for its end.
///
/// The state needs no store. ``StorePass`` asks it what counts, and carries that out.
struct PassState {
    let model: DataModel
    let rules: SyncRules
    var counts: PassCounts
    /// The rejected objects and the drift.
    var problems = PassProblems()
    /// The objects that the list has had.
    var listed: ListedObjects
    /// What the payload has stated of objects that it may state more than once.
    var statements = Statements()
    /// The targets, so far, of nested statements whose objects contain further statements about
    /// objects of the same entities.
    var openTargets: [RelationshipSource: [ObjectID]] = [:]
    /// What nested objects state about objects of the list, until the list has been read.
    var nested = NestedStatements()
    /// The objects that the list moves from one object to another, until the list has been read.
    var moved = MovedTargets()
    /// Links to objects that the store does not have, or may still delete.
    var deferred = DeferredLinks()
    /// The objects that identifiers have named, by the index of the root entity; without those of
    /// the list's entities, unless there are changes.
    private var mentioned: [Int: ObjectSet] = [:]
    /// The objects that lost their source, until the end of the pass.
    var orphaned: OrphanedObjects
    /// The objects that lack a mandatory relationship, until the end of the pass.
    var incomplete = IncompleteObjects()
    /// The elements whose objects wait for unique values until the end of the pass.
    var refused: [ObjectReference: Int] = [:]

    /// Creates the state of a pass that has read nothing.
    ///
    /// - Parameter list: The entity of the payload's list; nil if there is no list.
    init(_ model: DataModel, _ rules: SyncRules, list: EntityLayout?) {
        (self.model, self.rules) = (model, rules)
        counts = PassCounts(model)
        listed = ListedObjects(rules.isImport ? nil : list?.root, in: model)
        orphaned = OrphanedObjects(model, rules)
    }

    /// Begins a page of the payload.
    mutating func beginPage() {
        counts.beginPage()
        problems.beginPage()
        statements.beginPage()
    }

    /// Begins another reading of all pages.
    mutating func beginReading() {
        counts.beginAnew()
        mentioned = [:]
        forgetStatements()
    }

    /// Ends one of several changes.
    mutating func endChange() {
        deferred.forgetNamed()
        mentioned = [:]
        orphaned.beginChange()
        forgetStatements()
        problems.mayLackObjects = false
    }

    private mutating func forgetStatements() {
        nested.beginAnew()
        listed.beginAnew()
        statements.beginAnew()
    }

    /// Notes merged objects, and what the payload states of them.
    mutating func note(_ merge: GroupMerge) {
        let (layout, origin, result, present) = (merge.layout, merge.origin, merge.result, merge.present)
        let isOfList = layout.root == listed.root
        func report(_ kind: DriftReport.Kind, _ record: Int) {
            problems.drift.add(kind, entity: layout.name, keyPath: "", index: merge.elementIndex(record))
        }
        let changedAgain = counts.count(present, of: layout)
        // `mergeRest` reports how nested statements differ from each other and from the list.
        for (record, kind) in merge.known == nil ? changedAgain : [] {
            guard let object = present.rows[record]?.object else { continue }
            if isOfList, rules.nestedPolicy.updates, !nested.isIncomplete, !listed.contains(object) {
                nested.changedByList.insert(object)
            } else {
                report(kind, record)
            }
        }
        if merge.waitsForList {
            nested.add(merge)
            let inserted = result.rows.map { $0?.change == .inserted ? $0?.object : nil }
            statements.insert(merge.records, inserted, of: layout)
        } else if !origin.isNested, isOfList {
            if listed.canBeNested { statements.insert(merge.records, result.objects, of: layout) }
            for record in listed.insert(present.rows) { report(.duplicate, record) }
        }
        orphaned.notePlaces(of: present, layout, nestedBy: origin.relationship)
        if let place = origin.entity {
            statements.insert(present.rows.lazy.compactMap { $0?.object }, inPlaceOf: model.layouts[place])
        }
        if origin.statesEntity, isOfList ? listed.canBeNested : origin.isNested {
            let stated = merge.group.elementIndices.indices.filter { merge.group.undetermined[$0] == nil }
            let merged = stated.compactMap { result.rows[merge.rows.record(of: $0)] }
            // What waits counts when it is applied, unless another statement counts then.
            statements.insertEntity(
                of: merged.filter { !merge.waitsForList || $0.change == .inserted }.map(\.object), layout, in: model)
        }
    }

    /// Notes objects that identifiers name.
    mutating func mention(_ objects: some Sequence<ObjectID>, of layout: EntityLayout) {
        statements.insert(objects, inPlaceOf: layout)
        guard orphaned.isOfChanges || layout.root != listed.root else { return }
        mentioned[layout.root, default: ObjectSet()].formUnion(objects)
    }

    /// Whether the payload, or the current change, contains an object, or names it by an
    /// identifier. Only the list decides which of its own objects there are.
    func states(_ object: ObjectID, of layout: EntityLayout) -> Bool {
        (orphaned.isOfChanges ? orphaned.changes(object, of: layout) : counts.isSeen(object, of: layout))
            || mentioned[layout.root]?.contains(object) == true
    }

    /// Whether a cascade along a relationship may reach objects that the payload states in other
    /// places.
    func mayTakeStated(along relationship: EntityLayout.Relationship) -> Bool {
        var visited: Set<EntityLayout.Relationship.ID> = []
        func mayTake(_ relationship: EntityLayout.Relationship) -> Bool {
            guard relationship.deleteRule == .cascade, visited.insert(relationship.id).inserted else { return false }
            return mayState(targetsOf: relationship)
                || model.layouts[relationship.destination].family.contains {
                    model.layouts[$0].relationships.contains(where: mayTake)
                }
        }
        return mayTake(relationship)
    }

    /// Whether the payload may state the targets of a relationship without their sources, so that
    /// they stay when these are deleted.
    func mayState(targetsOf relationship: EntityLayout.Relationship) -> Bool {
        let destination = model.layouts[relationship.destination]
        // An object without an identity stays in another object that contains it.
        guard destination.hasIdentity else {
            return model.relationships(owning: destination).contains { $0.id != relationship.id }
        }
        guard let inverse = model.inverse(of: relationship) else { return true }
        guard !model.isScope(of: relationship) else { return false }
        return inverse.isToMany || orphaned.isOfChanges || destination.root == listed.root
            || model.layouts.contains { layout in
                layout.relationships.contains {
                    $0.id != relationship.id && model.layouts[$0.destination].root == destination.root
                }
            }
    }

    /// Takes the objects that lost their source and have no other place in the payload.
    mutating func takeOrphaned() -> [OrphanedObjects.Candidates] {
        orphaned.takeCandidates(in: model, counts, listed, mentioned, mayLackObjects: problems.mayLackObjects)
    }

    /// The result of the pass for an entity and its sub-entities.
    func result(for layout: EntityLayout) -> StoreSyncResult {
        var result = counts.result(for: layout)
        problems.add(to: &result)
        return result
    }
}
