/// Looks up the slots of coding keys by the byte of the key.
///
/// A synthesized key is an enum of one byte, so looking up its slot needs no text. Keys of other
/// sizes are looked up by name.
final class KeyTable {
    static let unknown: Int16 = -2
    /// The slot of each byte; ``unknown`` until a key is used.
    private let slots: UnsafeMutableBufferPointer<Int16>

    init() {
        slots = .allocate(capacity: 256)
        slots.initialize(repeating: Self.unknown)
    }

    deinit {
        slots.deallocate()
    }

    /// The slot of a key. `find` is called when the key is used for the first time.
    @inline(__always)
    func slot<K: CodingKey>(_ key: K, _ find: (String) -> Int) -> Int {
        guard MemoryLayout<K>.size == 1 else { return find(key.stringValue) }
        let byte = withUnsafeBytes(of: key) { $0[0] }
        let known = slots[Int(byte)]
        if known != Self.unknown { return Int(known) }
        let found = find(key.stringValue)
        slots[Int(byte)] = Int16(truncatingIfNeeded: found)
        return found
    }
}
