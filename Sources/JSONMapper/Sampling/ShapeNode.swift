/// The objects at one place of a sample: the elements, or the objects under a key.
package final class ShapeNode {
    /// The maximum number of different keys that are distinguished.
    static let maximumKeyCount = 1024

    /// The name of an object, derived from its key.
    package let name: String
    /// Whether the objects are the elements of the sample.
    package let isRoot: Bool
    /// The number of objects.
    package private(set) var objectCount = 0
    /// The number of keys in all objects, repeated ones included.
    package private(set) var memberCount = 0
    /// Whether there are keys that no property counts.
    package internal(set) var hasMoreKeys = false
    /// The number of different keys.
    package private(set) var propertyCount = 0
    /// Whether objects of this place are nested in each other.
    package private(set) var isRecursive = false

    /// Freed in `deinit`, with the memory of the properties.
    private(set) var properties: UnsafeMutablePointer<ShapeProperty>
    private var capacity = 8
    private var indices: [UInt64: Int] = [:]
    /// The index of the property that came first last time; -1 if unknown.
    var first: Int32 = -1
    /// The properties that might identify the objects.
    private(set) var candidates: [Int] = []
    /// The node that has taken over the objects of this one.
    private var successor: ShapeNode?

    init(name: String, isRoot: Bool = false) {
        self.name = name
        self.isRoot = isRoot
        properties = .allocate(capacity: capacity)
    }

    deinit {
        for index in 0..<propertyCount { properties[index].free() }
        properties.deinitialize(count: propertyCount)
        properties.deallocate()
    }

    /// The properties, in the order in which their keys were found.
    package var all: [ShapeProperty] {
        Array(UnsafeBufferPointer(start: properties, count: propertyCount))
    }

    /// The property of a key; nil if there is none.
    package func property(_ name: String) -> ShapeProperty? {
        var name = name
        let index = name.withUTF8 { find($0, hash: Self.hash($0)) }
        return index < 0 ? nil : properties[index]
    }

    /// The node that now has the objects of this one.
    package var resolved: ShapeNode {
        var node = self
        while let next = node.successor { node = next }
        return node
    }

    func beginObject() {
        objectCount += 1
    }

    func endObject(memberCount count: Int) {
        memberCount += count
    }

    func find(_ key: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int {
        var hash = hash
        while let index = indices[hash] {
            let bytes = properties[index].bytes
            if bytes.count == key.count, bytes.elementsEqual(key) { return index }
            hash &+= 1
        }
        return -1
    }

    /// Adds a property for a new key.
    ///
    /// - Parameter identityLimit: The number of values to examine as identities of objects; nil if
    ///   the property is no candidate.
    func add(_ name: String, hash: UInt64, identityLimit: Int?) -> Int {
        if propertyCount == capacity {
            let larger = UnsafeMutablePointer<ShapeProperty>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: properties, count: propertyCount)
            properties.deallocate()
            properties = larger
            capacity *= 2
        }
        var place = hash
        while indices[place] != nil { place &+= 1 }
        indices[place] = propertyCount
        var property = ShapeProperty(name, hash: hash)
        if let identityLimit {
            property.identity = IdentityEvidence(limit: identityLimit)
            candidates.append(propertyCount)
        }
        (properties + propertyCount).initialize(to: property)
        propertyCount += 1
        return propertyCount - 1
    }

    /// Starts to examine, with the current object, whether a property's values identify objects.
    func examine(_ index: Int, limit: Int) {
        guard properties[index].identity == nil else { return }
        var identity = IdentityEvidence(limit: limit)
        if properties[index].currentObject == objectCount, properties[index].currentHash != ContentHash.null {
            identity.add(properties[index].currentHash, content: 0, array: 0)
        }
        properties[index].identity = identity
        candidates.append(index)
    }

    static func hash(_ key: UnsafeBufferPointer<UInt8>) -> UInt64 {
        ContentHash.bytes(key)
    }

    /// Releases the nodes that this one leads to. Nodes of recursive objects lead to each other.
    func unlink() {
        successor = nil
        for index in 0..<propertyCount {
            properties[index].object = nil
            properties[index].element = nil
        }
    }

    // MARK: Merging

    /// Takes over the objects of another node, which then leads to this one.
    package func absorb(_ other: ShapeNode) {
        let other = other.resolved
        let own = resolved
        guard other !== own else { return }
        guard own === self else { return own.absorb(other) }
        other.successor = self
        objectCount += other.objectCount
        memberCount += other.memberCount
        hasMoreKeys = hasMoreKeys || other.hasMoreKeys
        isRecursive = isRecursive || other.isRecursive
        for property in other.all {
            var index = find(property.bytes, hash: property.hash)
            if index < 0 {
                guard propertyCount < Self.maximumKeyCount else {
                    hasMoreKeys = true
                    continue
                }
                index = add(property.name, hash: property.hash, identityLimit: nil)
                if property.identity != nil { candidates.append(index) }
            }
            var merged = properties[index]
            merged.absorb(property)
            // The properties may have moved in the meantime.
            properties[index] = merged
        }
    }

    /// Moves objects that are nested in objects of their own kind to the outermost node.
    ///
    /// For example, comments with nested replies become one node.
    package func fold() {
        fold(key: "", isElement: false, ancestors: [])
    }

    private struct Ancestor {
        let node: ShapeNode
        let key: String
        let isElement: Bool
    }

    private func fold(key: String, isElement: Bool, ancestors: [Ancestor]) {
        let path = ancestors + [Ancestor(node: self, key: key, isElement: isElement)]
        for index in 0..<propertyCount {
            let (name, object, element) = (properties[index].name, properties[index].object, properties[index].element)
            if let object, object.successor == nil { object.fold(key: name, isElement: false, ancestors: path) }
            if let element, element.successor == nil { element.fold(key: name, isElement: true, ancestors: path) }
        }
        guard successor == nil else { return }
        let outer = ancestors.last {
            !$0.node.isRoot && $0.key == key && $0.isElement == isElement && $0.node.resembles(self)
        }
        guard let outer = outer?.node.resolved, outer !== self else { return }
        outer.absorb(self)
        outer.isRecursive = true
    }

    /// Returns whether most keys of the node with fewer keys are in both nodes.
    package func resembles(_ other: ShapeNode) -> Bool {
        let (few, many) = propertyCount <= other.propertyCount ? (self, other) : (other, self)
        guard few.propertyCount > 0 else { return false }
        let common = few.all.count { many.find($0.bytes, hash: $0.hash) >= 0 }
        return common * 2 > few.propertyCount
    }
}
