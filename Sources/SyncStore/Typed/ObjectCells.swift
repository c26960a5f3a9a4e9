import Foundation
import SyncModel

/// The cells of an `ObjectDecoder`'s current object.
///
/// They hold no counted references, so that the copies of a container that `Codable` makes for each
/// property cost nothing. The decoder owns them, and is alive as long as they are used.
struct ObjectCells {
    /// Where the value of a slot comes from.
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

    /// Where the value of a slot is.
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
    /// The places by slot.
    let slots: UnsafeBufferPointer<Place>
    /// The related values by slot, which the owner keeps; nil for other properties.
    let related: UnsafeBufferPointer<Unmanaged<RelatedPlaces>?>
    /// The owner, which is alive as long as the cells.
    unowned(unsafe) let decoder: ObjectDecoder
    /// The current row.
    var row = 0

    // MARK: Slots

    func access(_ slot: Int) -> Access { slots[slot].access }

    func isPresent(_ slot: Int) -> Bool {
        slot >= 0 && slots[slot].access != .missing
    }

    @inline(__always)
    func isNull(_ slot: Int) -> Bool {
        guard slot >= 0 else { return true }
        guard slots[slot].column >= 0 else { return slots[slot].access == .missing }
        return kind(slot).isEmpty
    }

    /// The kind of a slot's cell; `.absent` if it has none.
    @inline(__always)
    private func kind(_ slot: Int) -> RecordBatch.CellKind {
        let column = slots[slot].column
        return column >= 0 ? reader.kind(row: row, slot: column) : .absent
    }

    // MARK: Values

    @inline(__always)
    func integer<Number: FixedWidthInteger & AttributeValue.Initializable>(_ slot: Int) throws -> Number {
        if kind(slot) == .int, let number = Number(exactly: reader.int(row: row, slot: slots[slot].column)) {
            return number
        }
        return try decoder.plain(slot)
    }

    @inline(__always)
    func double(_ slot: Int) throws -> Double {
        guard kind(slot) == .double else { return try decoder.plain(slot) }
        return reader.double(row: row, slot: slots[slot].column)
    }

    @inline(__always)
    func bool(_ slot: Int) throws -> Bool {
        guard kind(slot) == .bool else { return try decoder.plain(slot) }
        return reader.bool(row: row, slot: slots[slot].column)
    }

    @inline(__always)
    func string(_ slot: Int) throws -> String {
        guard kind(slot) == .string else { return try decoder.plain(slot) }
        return String(decoding: bytes(slot), as: UTF8.self)
    }

    @inline(__always)
    private func date(_ slot: Int) throws -> Date {
        guard kind(slot) == .date else { return try decoder.plain(slot) }
        return reader.date(row: row, slot: slots[slot].column).date
    }

    /// A value of a type that a keyed container has no own function for.
    ///
    /// The decoder has a function for each kind, which is not inlined, because the type's metadata
    /// that any of them needs would be looked up for all.
    @inline(__always)
    func value<T: Decodable>(_ type: T.Type, _ slot: Int) throws -> T {
        switch slots[slot].access {
        // The types are equal, so the cast changes nothing.
        case .cell where type == Date.self: unsafeBitCast(try date(slot), to: type)
        case .cell: try decoder.cellValue(type, slot)
        case .json: try decoder.jsonValue(type, slot)
        case .toOne, .toMany, .notIncluded: try relatedValue(type, slot)
        case .missing: throw decoder.missingValue(slot)
        }
    }

    /// The content of a slot with a cell; nil for an absent cell.
    func value(_ slot: Int) -> AttributeValue? {
        reader.value(row: row, slot: slots[slot].column)
    }

    @inline(__always)
    func bytes(_ slot: Int) -> UnsafeBufferPointer<UInt8> {
        reader.bytes(row: row, slot: slots[slot].column)
    }

    /// What an object leads to, or the value for nothing.
    @inline(never)
    private func relatedValue<T>(_ type: T.Type, _ slot: Int) throws -> T {
        guard let related = related[slot] else { throw decoder.wrongType(type, slot) }
        // The owner keeps the places alive, so that they need not be retained.
        return try related._withUnsafeGuaranteedRef { places in
            guard places.type == ObjectIdentifier(type) else { throw decoder.wrongType(type, slot) }
            guard let index = places.index(of: relatedObject(slot)) else { throw decoder.missingValue(slot) }
            // The values are of the slot's type, which is `T`.
            return places.start.assumingMemoryBound(to: type)[index]
        }
    }

    /// The object by which a slot's related objects were loaded; nil for none.
    @inline(__always)
    private func relatedObject(_ slot: Int) -> ObjectID? {
        switch slots[slot].access {
        case .toOne: isNull(slot) ? nil : reader.int(row: row, slot: slots[slot].column)
        case .toMany: reader.int(row: row, slot: 0)
        case .cell, .json, .notIncluded, .missing: nil
        }
    }
}

extension RecordBatch.CellKind {
    /// Whether the cell holds no value.
    @inline(__always)
    fileprivate var isEmpty: Bool { self == .null || self == .absent }
}
