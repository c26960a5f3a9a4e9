package import SyncModel

/// An object that a `RecordExporter` can write: its values, and the objects it is related to.
///
/// Stores implement it over what they have fetched; a `Record` is one that knows its values alone.
package protocol ExportableObject {
    /// What tells an object apart from every other one of its source.
    associatedtype ExportID: Hashable

    /// The entity, never an abstract one; of the model that the exporter was made for, or of one
    /// with the same entities.
    var layout: EntityLayout { get }
    /// What tells it apart; asked for only where relationships can lead in a circle.
    var exportID: ExportID { get }

    /// The value at a slot of the entity.
    func value(at slot: Int) -> AttributeValue

    /// The objects that a relationship leads to, in their order where it is ordered: at most one
    /// for a to-one relationship. Nil where they are not known; the relationship is then left out.
    ///
    /// - Throws: What the source throws; the export then ends with that error.
    func related(by relationship: RelationshipLayout) throws -> [Self]?
}

extension Record: ExportableObject {
    /// The record's key.
    package var exportID: RecordKey? { key }

    /// The value at a slot. The slot must exist.
    package func value(at slot: Int) -> AttributeValue { values[slot] }

    /// Nil: a record knows the keys of related objects, but not the objects.
    package func related(by relationship: RelationshipLayout) -> [Record]? { nil }
}
