import SyncModel

/// Looks up the properties of one type of coding keys by the byte of the key.
///
/// A synthesized key is an enum of one byte, so looking up its property needs no text. Keys of
/// other sizes are looked up by name. The creator deallocates the table.
struct KeyTable {
    private static var unknown: Int16 { -2 }

    /// The cells of the current object.
    let cells: UnsafeMutablePointer<ObjectCells>
    /// The property of each byte; ``unknown`` until a key is used.
    private let properties: UnsafeMutablePointer<Int16>

    init(_ cells: UnsafeMutablePointer<ObjectCells>) {
        self.cells = cells
        properties = .allocate(capacity: 256)
        properties.initialize(repeating: Self.unknown, count: 256)
    }

    func deallocate() {
        properties.deallocate()
    }

    /// The property of a key; -1 if the entity has no such property.
    @inline(__always)
    func property(_ key: some CodingKey) -> Int {
        guard MemoryLayout.size(ofValue: key) == 1 else { return named(key) }
        let byte = unsafeBitCast(key, to: UInt8.self)
        let known = properties[Int(byte)]
        if known != Self.unknown { return Int(known) }
        let found = named(key)
        properties[Int(byte)] = Int16(truncatingIfNeeded: found)
        return found
    }

    @inline(never)
    private func named(_ key: some CodingKey) -> Int {
        cells.pointee.decoder.property(named: key.stringValue)
    }

    /// The property of a key.
    ///
    /// - Throws: `Record.CodingError.unknownProperty`.
    @inline(__always)
    func knownProperty(_ key: some CodingKey) throws -> Int {
        let property = property(key)
        guard property >= 0 else {
            throw Record.CodingError.unknownProperty(
                entity: cells.pointee.decoder.entity, property: key.stringValue)
        }
        return property
    }
}
