package import SyncModel

/// An object that ``RecordMapper/Exporter`` can write, with its values and related objects.
///
/// Stores conform types to it for fetched objects. A `Record` conforms with its values only.
package protocol ExportableObject {
    /// An identifier that is unique among the objects of one source.
    associatedtype ExportID: Hashable

    /// The entity of the object, which is not abstract.
    ///
    /// It belongs to the exporter's model, or to a model with the same entities.
    var layout: EntityLayout { get }
    /// The identifier of the object. Used only if relationships can form a cycle.
    var exportID: ExportID { get }

    /// Returns the value at a column of the entity.
    func value(at column: Int) -> AttributeValue

    /// Returns the objects of a relationship, in order if it is ordered, and at most one if it is
    /// to-one.
    ///
    /// - Returns: The related objects; nil if they are unknown. The relationship is then omitted.
    /// - Throws: An error of the source, which ends the export.
    func related(by relationship: EntityLayout.Relationship) throws -> [Self]?
}

extension Record: ExportableObject {
    /// The key of the record.
    package var exportID: Record.Key? { key }

    /// Returns the value at a column, which must exist.
    package func value(at column: Int) -> AttributeValue { values[column] }

    /// Returns nil, because a record knows only the keys of related objects.
    package func related(by relationship: EntityLayout.Relationship) -> [Record]? { nil }
}
