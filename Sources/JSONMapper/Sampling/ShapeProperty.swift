/// The values that a sample has under one key of a ``ShapeNode``'s objects.
package struct ShapeProperty {
    /// The key.
    package let name: String
    /// The number of objects that have the key.
    package internal(set) var count = 0
    /// The number of objects in which the value is null.
    package internal(set) var nullCount = 0
    /// The kinds of all values except null.
    package internal(set) var kinds: ShapeKinds = []
    /// The smallest and the largest integer; meaningless without integers.
    package internal(set) var minimum = Int64.max
    package internal(set) var maximum = Int64.min
    /// The objects under the key; nil without objects.
    package internal(set) var object: ShapeNode?
    /// The objects in arrays under the key; nil without arrays of objects.
    package internal(set) var element: ShapeNode?
    /// The evidence that the values identify objects; nil if it was not examined.
    package internal(set) var identity: IdentityEvidence?

    var dates = DateEvidence()
    /// The key as written, with its quotes and the colon; empty if it needs escapes. The node frees
    /// the memory.
    let quoted: UnsafeBufferPointer<UInt8>
    let bytes: UnsafeBufferPointer<UInt8>
    let hash: UInt64
    /// The index of the property that followed last time; -1 if unknown.
    var successor: Int32 = -1
    /// A hash of the value in the current object, and the number of that object.
    var currentHash: UInt64 = 0
    var currentObject = 0

    init(_ name: String, hash: UInt64) {
        self.name = name
        self.hash = hash
        let plain = Array(name.utf8)
        let written = JSONWriter.quotedKey(name)
        bytes = Self.copy(plain)
        // A key that needs escapes has several spellings.
        quoted =
            written.count == plain.count + 2
            ? Self.copy(written + [ASCII.colon]) : UnsafeBufferPointer(start: nil, count: 0)
    }

    /// The style of the dates; nil unless all strings are dates of one style.
    package var dateStyle: DateStyle? {
        kinds.isDisjoint(with: [.text, .lowercaseUUID, .uppercaseUUID]) ? dates.style : nil
    }

    func free() {
        bytes.deallocate()
        if quoted.baseAddress != nil { quoted.deallocate() }
    }

    /// Adds the values of another property with the same key.
    mutating func absorb(_ other: ShapeProperty) {
        count += other.count
        nullCount += other.nullCount
        kinds.formUnion(other.kinds)
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        dates.absorb(other.dates)
        if kinds.contains(.date), dates.style == nil { kinds.insert(.text) }
        Self.absorb(other.object, into: &object)
        Self.absorb(other.element, into: &element)
        if let evidence = other.identity {
            if identity == nil { identity = evidence } else { identity?.absorb(evidence) }
        }
    }

    private static func absorb(_ other: ShapeNode?, into node: inout ShapeNode?) {
        guard let other else { return }
        guard let own = node else {
            node = other
            return
        }
        own.absorb(other)
    }

    private static func copy(_ bytes: [UInt8]) -> UnsafeBufferPointer<UInt8> {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        return UnsafeBufferPointer(copy)
    }
}
