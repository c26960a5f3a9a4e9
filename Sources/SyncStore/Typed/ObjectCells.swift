import Foundation
import SyncModel

/// The cells of an `ObjectDecoder`'s current object.
///
/// They hold no counted references, so that the copies of a container that `Codable` makes for each
/// property cost nothing. The decoder owns them, and is alive as long as they are used.
struct ObjectCells {
    /// Where the value of a property comes from.
    enum Access: UInt8 {
        /// The cell in a column.
        case cell
        /// The cell in a column, which holds a value of several parts as JSON.
        case json
        /// The related object whose number is in a column.
        case toOne
        /// The related objects of the object.
        case toMany
        /// No related objects: a value that means not included.
        case notIncluded
        /// An optional property without an attribute in the model.
        case missing
    }

    /// Where the value of a property is.
    struct Place {
        let access: Access
        /// The column of the batch; -1 if there is none.
        let column: Int

        init(_ access: Access, column: Int = -1) {
            self.access = access
            self.column = column
        }
    }

    let reader: RecordBatch.Reader
    /// The places by property.
    let properties: UnsafeBufferPointer<Place>
    /// The related values by property, which the owner keeps; nil for other properties.
    let related: UnsafeBufferPointer<Unmanaged<RelatedPlaces>?>
    /// The owner, which is alive as long as the cells.
    unowned(unsafe) let decoder: ObjectDecoder
    /// The current row.
    var row = 0

    // MARK: Properties

    func access(_ property: Int) -> Access { properties[property].access }

    func isPresent(_ property: Int) -> Bool {
        property >= 0 && properties[property].access != .missing
    }

    @inline(__always)
    func isNull(_ property: Int) -> Bool {
        guard property >= 0 else { return true }
        guard properties[property].column >= 0 else { return properties[property].access == .missing }
        return kind(property).isEmpty
    }

    /// The kind of a property's cell; `.absent` if it has none.
    @inline(__always)
    private func kind(_ property: Int) -> RecordBatch.CellKind {
        let column = properties[property].column
        return column >= 0 ? reader.kind(row: row, column: column) : .absent
    }

    // MARK: Values

    @inline(__always)
    func integer<Number: FixedWidthInteger & AttributeValue.Initializable>(_ property: Int) throws -> Number {
        if kind(property) == .int,
            let number = Number(exactly: reader.int(row: row, column: properties[property].column))
        {
            return number
        }
        return try decoder.plain(property)
    }

    @inline(__always)
    func double(_ property: Int) throws -> Double {
        guard kind(property) == .double else { return try decoder.plain(property) }
        return reader.double(row: row, column: properties[property].column)
    }

    @inline(__always)
    func bool(_ property: Int) throws -> Bool {
        guard kind(property) == .bool else { return try decoder.plain(property) }
        return reader.bool(row: row, column: properties[property].column)
    }

    @inline(__always)
    func string(_ property: Int) throws -> String {
        guard kind(property) == .string else { return try decoder.plain(property) }
        return String(decoding: bytes(property), as: UTF8.self)
    }

    @inline(__always)
    private func date(_ property: Int) throws -> Date {
        guard kind(property) == .date else { return try decoder.plain(property) }
        return reader.date(row: row, column: properties[property].column).date
    }

    /// A value of a type that a keyed container has no own function for.
    ///
    /// The decoder has a function for each kind, which is not inlined, because the type's metadata
    /// that any of them needs would be looked up for all.
    @inline(__always)
    func value<T: Decodable>(_ type: T.Type, _ property: Int) throws -> T {
        switch properties[property].access {
        // The types are equal, so the cast changes nothing.
        case .cell where type == Date.self: unsafeBitCast(try date(property), to: type)
        case .cell: try decoder.cellValue(type, property)
        case .json: try decoder.jsonValue(type, property)
        case .toOne, .toMany, .notIncluded: try relatedValue(type, property)
        case .missing: throw decoder.missingValue(property)
        }
    }

    /// The content of a property with a cell; nil for an absent cell.
    func value(_ property: Int) -> AttributeValue? {
        reader.value(row: row, column: properties[property].column)
    }

    @inline(__always)
    func bytes(_ property: Int) -> UnsafeBufferPointer<UInt8> {
        reader.bytes(row: row, column: properties[property].column)
    }

    /// What an object leads to, or the value for nothing.
    @inline(never)
    private func relatedValue<T>(_ type: T.Type, _ property: Int) throws -> T {
        guard let related = related[property] else { throw decoder.wrongType(type, property) }
        // The owner keeps the places alive, so that they need not be retained.
        return try related._withUnsafeGuaranteedRef { places in
            guard places.type == ObjectIdentifier(type) else { throw decoder.wrongType(type, property) }
            guard let index = places.index(of: relatedObject(property)) else { throw decoder.missingValue(property) }
            // The values are of the property's type, which is `T`.
            return places.start.assumingMemoryBound(to: type)[index]
        }
    }

    /// The object by which a property's related objects were loaded; nil for none.
    @inline(__always)
    private func relatedObject(_ property: Int) -> ObjectID? {
        switch properties[property].access {
        case .toOne: isNull(property) ? nil : reader.int(row: row, column: properties[property].column)
        case .toMany: reader.int(row: row, column: 0)
        case .cell, .json, .notIncluded, .missing: nil
        }
    }
}

extension RecordBatch.CellKind {
    /// Whether the cell holds no value.
    @inline(__always)
    fileprivate var isEmpty: Bool { self == .null || self == .absent }
}
