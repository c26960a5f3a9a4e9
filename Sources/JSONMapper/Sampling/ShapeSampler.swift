import SyncModel

/// Examines the elements of a sample in one pass over their bytes.
///
/// Every place of the sample has a ``ShapeNode``, which leads to others only as long as the sampler
/// exists. Memory is limited by the number of places, keys and examined identities, regardless of
/// the size of the sample.
package struct ShapeSampler: ~Copyable {
    /// The elements.
    package let root: ShapeNode
    /// The number of objects among the elements.
    package private(set) var elementCount = 0
    /// The groups of keys that may identify elements, in the order in which they were found.
    package private(set) var combinations: [Combination] = []

    /// A group of keys that may identify elements together.
    package struct Combination {
        /// The keys.
        package let keys: [String]
        /// The evidence that the keys identify the elements.
        package fileprivate(set) var identity: IdentityEvidence
        /// The number of elements that have a value under each of the keys.
        package fileprivate(set) var count = 0
        fileprivate var indices: [Int]
        /// Whether the group was requested.
        fileprivate let isRequested: Bool
    }

    private static let maximumDepth = 48
    private static let maximumNodeCount = 4096
    private static let maximumCombinationCount = 12

    private let entity: String
    private var nodes: [ShapeNode]
    private var identityCount = 0
    private var arrayCount = 0
    /// The elements' properties that may identify elements together with another property.
    private var parts: [Int] = []
    private var examinedPropertyCount = 0

    /// Creates a sampler without elements.
    ///
    /// - Parameters:
    ///   - entity: The name of the elements' entity.
    ///   - key: The requested keys that together identify an element; empty to examine likely ones.
    package init(entity: String, key: [String]) {
        self.entity = entity
        root = ShapeNode(name: entity, isRoot: true)
        nodes = [root]
        if !key.isEmpty {
            combinations.append(
                Combination(keys: key, identity: IdentityEvidence(limit: 1 << 18), indices: [], isRequested: true))
        }
    }

    deinit {
        for node in nodes { node.unlink() }
    }

    /// Examines an element, which must be an object.
    package mutating func add(_ cursor: inout JSONCursor) throws(JSONFault) {
        elementCount += 1
        _ = try object(&cursor, root, array: 0, depth: 0, isHashing: false)
        addCombinations()
    }

    // MARK: Objects

    private mutating func object(
        _ cursor: inout JSONCursor, _ node: ShapeNode, array: Int, depth: Int, isHashing isHashed: Bool
    ) throws(JSONFault) -> UInt64 {
        node.beginObject()
        let number = node.objectCount
        // Nested objects with an identity are compared as a whole, from the first object on.
        let isHashing = isHashed || number == 1 || (!node.isRoot && !node.candidates.isEmpty)
        var hash = ContentHash.object
        var memberCount = 0
        var previous = -1
        try cursor.beginObject()
        while true {
            let expected = Int(previous < 0 ? node.first : node.properties[previous].successor)
            var index = expected
            if expected < 0 || !cursor.takeKey(node.properties[expected].quoted) {
                guard let key = try cursor.nextKey() else { break }
                if expected < 0 || !key.equals(node.properties[expected].bytes) {
                    index = find(key, node)
                    guard index >= 0 else {
                        memberCount += 1
                        node.hasMoreKeys = true
                        try skip(&cursor, isHashing ? key.withUTF8 { ShapeNode.hash($0) } : nil, &hash)
                        continue
                    }
                    if previous < 0 {
                        node.first = Int32(truncatingIfNeeded: index)
                    } else {
                        node.properties[previous].successor = Int32(truncatingIfNeeded: index)
                    }
                }
            }
            previous = index
            memberCount += 1
            if node.properties[index].currentObject == number, node.properties[index].count > 0 {
                // A repeated key; the last value counts when objects are mapped.
                node.properties[index].count -= 1
            }
            let value = try value(&cursor, node, index, array: array, depth: depth, isHashing: isHashing)
            node.properties[index].currentObject = number
            if isHashing { hash &+= ContentHash.member(node.properties[index].hash, value) }
        }
        node.endObject(memberCount: memberCount)
        let content = isHashing ? ContentHash.mixed(hash) : 0
        for index in node.candidates {
            let property = node.properties + index
            guard property.pointee.currentObject == number, property.pointee.currentHash != ContentHash.null else {
                continue
            }
            property.pointee.identity?.add(property.pointee.currentHash, content: content, array: array)
        }
        return content
    }

    private func skip(_ cursor: inout JSONCursor, _ key: UInt64?, _ hash: inout UInt64) throws(JSONFault) {
        guard let key else { return try cursor.skipValue() }
        hash &+= ContentHash.member(key, try cursor.contentHash())
    }

    /// The index of a key's property, which is new for a new key; -1 beyond the limits.
    private mutating func find(_ key: JSONSlice, _ node: ShapeNode) -> Int {
        let hash = key.withUTF8 { ShapeNode.hash($0) }
        let known = key.withUTF8 { node.find($0, hash: hash) }
        guard known < 0 else { return known }
        guard node.propertyCount < ShapeNode.maximumKeyCount else { return -1 }
        let name = key.string
        let rank = KeyNames.rank(of: name, entity: node.name, isFirst: node.propertyCount == 0)
        var limit: Int?
        if let rank, node.isRoot || rank <= KeyNames.highestNestedRank, node.candidates.count < 6 {
            limit = identityLimit()
        }
        return node.add(name, hash: hash, identityLimit: limit)
    }

    /// The number of values to examine as identities: many for the first keys, few for later ones.
    private mutating func identityLimit() -> Int {
        identityCount += 1
        return identityCount <= 8 ? 1 << 16 : identityCount <= 64 ? 1 << 13 : 1 << 8
    }

    // MARK: Values

    /// Examines a value.
    ///
    /// - Returns: The hash of the value, if it is requested or may identify the object.
    private mutating func value(
        _ cursor: inout JSONCursor, _ node: ShapeNode, _ index: Int, array: Int, depth: Int, isHashing isHashed: Bool
    ) throws(JSONFault) -> UInt64 {
        let property = node.properties + index
        property.pointee.count += 1
        let isHashing = isHashed || property.pointee.identity != nil
        var hash: UInt64 = 0
        switch try cursor.kind() {
        case .null:
            try cursor.readNull()
            property.pointee.nullCount += 1
            hash = ContentHash.null
        case .boolean:
            let flag = try cursor.readBool()
            property.pointee.kinds.insert(.boolean)
            if isHashing { hash = ContentHash.mixed(flag ? 3 : 4) }
        case .number:
            let number = try cursor.readNumber()
            if isHashing { hash = ContentHash.bytes(number.text.bytes, seed: 2) }
            Self.note(number, property)
        case .string:
            let text = try cursor.readString()
            if isHashing { hash = text.withUTF8 { ContentHash.bytes($0, seed: 1) } }
            // After a text that is neither a date nor a UUID, no further text needs to be examined.
            if !property.pointee.kinds.contains(.text) { Self.note(text, property) }
        case .object:
            hash = try nestedObject(&cursor, node, index, array: array, depth: depth, isHashing: isHashing)
        case .array:
            hash = try nestedArray(&cursor, node, index, depth: depth, isHashing: isHashing)
        }
        // The properties may have moved in the meantime.
        node.properties[index].currentHash = hash
        return hash
    }

    private static func note(_ number: JSONNumber, _ property: UnsafeMutablePointer<ShapeProperty>) {
        if let value = number.int64 {
            let isPlain = number.isInteger && !(number.isNegative && value == 0)
            property.pointee.kinds.insert(isPlain ? .integer : number.shapeKind)
            if value < property.pointee.minimum { property.pointee.minimum = value }
            if value > property.pointee.maximum { property.pointee.maximum = value }
            return
        }
        property.pointee.kinds.insert(number.shapeKind)
    }

    private static func note(_ text: JSONSlice, _ property: UnsafeMutablePointer<ShapeProperty>) {
        let kind: ShapeKinds = text.withUTF8 { bytes in
            if let kind = uuidKind(bytes) { return kind }
            return bytes.count >= 10 && bytes.count <= 40 && property.pointee.dates.add(bytes) ? .date : .text
        }
        property.pointee.kinds.insert(kind)
    }

    /// The kind of a UUID whose letters are all of one case; nil for any other text.
    private static func uuidKind(_ text: UnsafeBufferPointer<UInt8>) -> ShapeKinds? {
        guard text.count == 36 else { return nil }
        var letters: UInt8 = 0
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == ASCII.minus else { return nil }
            } else {
                guard ASCII.hexValue(byte) != nil else { return nil }
                if !ASCII.isDigit(byte) { letters |= byte & 0x20 == 0 ? 1 : 2 }
            }
        }
        return letters == 3 ? .text : letters == 1 ? .uppercaseUUID : .lowercaseUUID
    }

    private mutating func nestedObject(
        _ cursor: inout JSONCursor, _ node: ShapeNode, _ index: Int, array: Int, depth: Int, isHashing: Bool
    ) throws(JSONFault) -> UInt64 {
        let property = node.properties + index
        var peek = cursor
        try peek.beginObject()
        let isEmpty = try peek.nextKey() == nil
        property.pointee.kinds.insert(isEmpty ? .emptyObject : .object)
        if property.pointee.kinds.isMixed { return try unexamined(&cursor, isHashing) }
        var child = property.pointee.object
        if child == nil {
            guard depth < Self.maximumDepth, nodes.count < Self.maximumNodeCount else {
                property.pointee.kinds.insert(.unexamined)
                return try unexamined(&cursor, isHashing)
            }
            let new = ShapeNode(name: property.pointee.name)
            nodes.append(new)
            property.pointee.object = new
            child = new
        }
        guard let child else { return 0 }
        arrayCount += 1
        return try object(&cursor, child, array: arrayCount, depth: depth + 1, isHashing: isHashing)
    }

    private mutating func nestedArray(
        _ cursor: inout JSONCursor, _ node: ShapeNode, _ index: Int, depth: Int, isHashing: Bool
    ) throws(JSONFault) -> UInt64 {
        let start = cursor
        if node.properties[index].kinds.isMixed { return try unexamined(&cursor, isHashing) }
        arrayCount += 1
        let array = arrayCount
        var hash = ContentHash.array
        var isEmpty = true
        try cursor.beginArray()
        while try cursor.nextElement() {
            isEmpty = false
            let isObject = try cursor.kind() == .object
            var child = node.properties[index].element
            if child == nil, isObject, depth < Self.maximumDepth, nodes.count < Self.maximumNodeCount {
                let new = ShapeNode(name: Plural.singular(node.properties[index].name))
                nodes.append(new)
                node.properties[index].element = new
                child = new
            }
            guard isObject, let child else {
                node.properties[index].kinds.insert(isObject ? .unexamined : .otherArray)
                cursor = start
                return try unexamined(&cursor, isHashing)
            }
            let element = try object(&cursor, child, array: array, depth: depth + 1, isHashing: isHashing)
            if isHashing { hash = ContentHash.combined(hash, element) }
        }
        node.properties[index].kinds.insert(isEmpty ? .emptyArray : .objects)
        return isHashing ? ContentHash.mixed(hash) : 0
    }

    private func unexamined(_ cursor: inout JSONCursor, _ isHashing: Bool) throws(JSONFault) -> UInt64 {
        if isHashing { return try cursor.contentHash() }
        try cursor.skipValue()
        return 0
    }

    // MARK: Combinations

    private mutating func addCombinations() {
        if examinedPropertyCount < root.propertyCount { findCombinations() }
        for place in combinations.indices where combinations[place].indices.count == combinations[place].keys.count {
            guard combinations[place].isRequested || !combinations[place].identity.repeats else { continue }
            var hash = ContentHash.array
            var isWhole = true
            for index in combinations[place].indices {
                let property = root.properties + index
                guard property.pointee.currentObject == root.objectCount,
                    property.pointee.currentHash != ContentHash.null
                else {
                    isWhole = false
                    break
                }
                hash = ContentHash.combined(hash, property.pointee.currentHash)
            }
            guard isWhole else { continue }
            combinations[place].count += 1
            combinations[place].identity.add(ContentHash.mixed(hash), content: 0, array: 0)
        }
    }

    /// Finds the groups of new properties.
    ///
    /// The values of an element with new properties were read before the groups were known. Groups
    /// of properties that the first element lacks therefore miss an element, and are not an
    /// identity.
    private mutating func findCombinations() {
        let firstNew = examinedPropertyCount
        examinedPropertyCount = root.propertyCount
        if let requested = combinations.first, requested.isRequested {
            combinations[0].indices = requested.keys.compactMap { key in
                (0..<root.propertyCount).first { root.properties[$0].name == key }
            }
            for index in combinations[0].indices { root.examine(index, limit: 1 << 10) }
        }
        guard root.objectCount == 1, combinations.first?.isRequested != true else { return }
        for index in firstNew..<root.propertyCount where KeyNames.isPart(root.properties[index].name) {
            parts.append(index)
        }
        for (place, one) in parts.enumerated() {
            for other in parts[(place + 1)...] where combinations.count < Self.maximumCombinationCount {
                let names = [root.properties[one].name, root.properties[other].name]
                guard names.contains(where: KeyNames.isIdentifying) else { continue }
                combinations.append(
                    Combination(
                        keys: names, identity: IdentityEvidence(limit: identityLimit()), indices: [one, other],
                        isRequested: false))
            }
        }
        for index in parts { root.examine(index, limit: 1 << 13) }
    }
}

extension JSONNumber {
    /// The kind of a number that is not written as a 64-bit integer.
    fileprivate var shapeKind: ShapeKinds {
        if isNegative, mantissa == 0 { return .wholeFraction }
        let isDecimal = holdsDecimal
        if isInteger { return isDecimal ? .largeInteger : .endlessNumber }
        guard let double else { return isDecimal ? .longNumber : .endlessNumber }
        let isWhole = int64 != nil
        // A double distinguishes all decimals of 15 significant digits. A truncated mantissa has
        // more.
        if mantissa < 1_000_000_000_000_000, abs(exponent) < 290 {
            return isWhole ? .wholeFraction : isDecimal ? .fraction : .extremeNumber
        }
        guard isExact(double) else { return isDecimal ? .longNumber : .endlessNumber }
        return isWhole ? .wholeFraction : isDecimal ? .fraction : .extremeNumber
    }

    private var holdsDecimal: Bool {
        if !isTruncated, exponent <= 0, exponent > -30 { return true }
        var batch = RecordBatch(columnCount: 1)
        batch.beginRecord()
        return batch.setDecimal(text.bytes, at: 0)
    }

    /// Whether the shortest text of a double is this number.
    private func isExact(_ double: Double) -> Bool {
        guard !isTruncated else { return false }
        let shortest = Array(double.magnitude.description.utf8)
        return shortest.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            var cursor = JSONCursor(start: start, end: start + bytes.count, options: JSONReader.Options())
            guard let other = try? cursor.readNumber(), !other.isTruncated else { return false }
            return normalized == other.normalized
        }
    }

    /// The digits without zeros at the end, and the power of ten.
    private var normalized: [Int64] {
        guard mantissa != 0 else { return [0, 0] }
        var (digits, power) = (mantissa, exponent)
        while digits % 10 == 0 { (digits, power) = (digits / 10, power + 1) }
        return [Int64(bitPattern: digits), Int64(power)]
    }
}
