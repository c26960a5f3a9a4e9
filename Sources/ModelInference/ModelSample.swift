import Foundation
import JSONMapper
import SyncModel

/// The observations from a sample: its entities, their keys, and the values under them.
struct ModelSample {
    /// The maximum number of different keys in an object; an object with more is a dictionary.
    static let maximumKeyCount = 256

    let root: String
    /// The entities by name; ``names`` has their order.
    private(set) var entities: [String: EntitySketch] = [:]
    /// The names of the entities, in the order in which they were found.
    private(set) var names: [String] = []

    init(root: String) {
        self.root = root
    }

    /// Adds an element of the sample.
    mutating func add(_ object: JSONObject) {
        add(object, to: root, isElement: true)
    }

    /// Adds an object of an entity, and all objects nested in it.
    private mutating func add(_ object: JSONObject, to entity: String, isElement: Bool = false) {
        // Removing the sketch during the update avoids a copy. Nested objects, which can be of the
        // same entity, are added after it is back.
        var sketch = entities.removeValue(forKey: entity) ?? EntitySketch()
        if sketch.objectCount == 0 { names.append(entity) }
        sketch.objectCount += 1
        let identifier = EntitySketch.identifier(in: object, of: entity) ?? "#\(sketch.objectCount)"
        var nested: [(object: JSONObject, entity: String)] = []
        for (key, value) in object.entries where !key.isEmpty {
            sketch.properties.update(key) { property in
                nested += property.add(value, of: identifier)
                if isElement { property.noteElementValue(value) }
            }
            if sketch.properties.count > Self.maximumKeyCount { break }
        }
        entities[entity] = sketch
        guard !sketch.isDictionary else { return }
        for (object, entity) in nested { add(object, to: entity) }
    }
}

/// The observations about the objects of one entity.
struct EntitySketch {
    var objectCount = 0
    var properties = PropertySketches()

    var isDictionary: Bool {
        properties.count > ModelSample.maximumKeyCount
    }

    /// Returns the names of attributes that can be a primary key, in order of preference.
    static func keyNames(of entity: String) -> [String] {
        ["id", "remoteID", EntityNaming.toOne(entity) + "ID", EntityNaming.toOne(entity) + "Id", "uuid", "guid"]
    }

    /// Returns the value of an object's first possible primary key, or nil if it has none.
    static func identifier(in object: JSONObject, of entity: String) -> String? {
        let names = keyNames(of: entity)
        return names.lazy.compactMap { name in
            let value = object[name] ?? object.entries.first { EntityNaming.property(ofKey: $0.key) == name }?.value
            return value?.identifier
        }.first
    }
}

/// The properties of an entity, in the order in which they were found.
///
/// Spellings of a key that the convention maps to one property (`firstName`, `first_name`) are
/// merged. Any other spelling is a property of its own, because it needs an annotation.
struct PropertySketches {
    private(set) var entries: [PropertySketch] = []
    private var indices: [String: Int] = [:]

    var count: Int { entries.count }

    mutating func update(_ key: String, _ body: (inout PropertySketch) -> Void) {
        let name = EntityNaming.property(ofKey: key)
        let isConventional = EntityNaming.isConventional(key, for: name)
        // A conventional name has no null character, which keeps the two kinds apart.
        let place = isConventional ? name : "\0\(key)"
        if let index = indices[place] {
            body(&entries[index])
        } else {
            indices[place] = entries.count
            entries.append(PropertySketch(key: key, isConventional: isConventional))
            body(&entries[entries.count - 1])
        }
    }
}

/// The observations about one key, in all objects of an entity.
struct PropertySketch {
    /// A kind of scalar value.
    enum Scalar: Hashable {
        /// Numbers, by the types that can hold them.
        ///
        /// In order: integers in `Int64`, integers beyond it, fractions, doubles that no decimal
        /// holds, decimals that no double holds, and numbers that neither holds.
        case integer, largeInteger, fraction, extremeFraction, longNumber, endlessNumber
        case bool, uuid, date, text
    }

    /// The key in its first spelling.
    let key: String
    /// Whether the key is found without an annotation.
    let isConventional: Bool
    private(set) var scalars: Set<Scalar> = []
    /// The number of objects in which the value is not null.
    private(set) var valueCount = 0
    /// Whether the values include an object, an array of objects, another nonempty array, or an
    /// empty array.
    private(set) var hasObject = false
    private(set) var hasObjects = false
    private(set) var hasOtherArray = false
    private(set) var hasEmptyArray = false
    /// Whether one object was nested in two different parents.
    private(set) var isShared = false
    private var parents: [String: String] = [:]
    /// Whether two elements had the same value.
    private(set) var isRepeated = false
    private var elementValues: Set<String> = []

    init(key: String, isConventional: Bool) {
        self.key = key
        self.isConventional = isConventional
    }

    /// The entity of nested objects; meaningless if there are none.
    var destination: String {
        hasObjects ? EntityNaming.entity(ofArrayKey: key) : EntityNaming.entity(ofKey: key)
    }

    /// Adds a value.
    ///
    /// - Parameter parent: An identifier of the object that contains the value.
    /// - Returns: The objects nested in the value, with their entities.
    mutating func add(_ value: JSONValue, of parent: String) -> [(object: JSONObject, entity: String)] {
        if value != .null { valueCount += 1 }
        switch value {
        case .null: break
        case .bool: scalars.insert(.bool)
        case .integer: scalars.insert(.integer)
        case .unsigned: scalars.insert(.largeInteger)
        case .double(let number): scalars.insert(Self.isDecimal("\(number)") ? .fraction : .extremeFraction)
        case .decimal(let text): scalars.insert(Self.isDecimal(text) ? .longNumber : .endlessNumber)
        case .string(let text): scalars.insert(Self.kind(of: text))
        case .object(let object):
            hasObject = true
            return nest([object], in: EntityNaming.entity(ofKey: key), of: parent)
        case .array(let elements):
            let objects = elements.compactMap { JSONObject(json: $0) }
            if elements.isEmpty {
                hasEmptyArray = true
            } else if objects.isEmpty || objects.count < elements.count(where: { $0 != .null }) {
                hasOtherArray = true
            } else {
                hasObjects = true
                return nest(objects, in: EntityNaming.entity(ofArrayKey: key), of: parent)
            }
        }
        return []
    }

    private mutating func nest(
        _ objects: [JSONObject], in entity: String, of parent: String
    ) -> [(object: JSONObject, entity: String)] {
        for object in objects {
            guard let child = EntitySketch.identifier(in: object, of: entity) else { continue }
            if parents.updateValue(parent, forKey: child).map({ $0 != parent }) == true { isShared = true }
        }
        return objects.map { ($0, entity) }
    }

    /// Records a value of an element, to detect repeated primary keys.
    mutating func noteElementValue(_ value: JSONValue) {
        guard !isRepeated, let identifier = value.identifier else { return }
        if !elementValues.insert(identifier).inserted {
            isRepeated = true
            elementValues = []
        }
    }

    private static func isDecimal(_ text: String) -> Bool {
        var batch = RecordBatch(columnCount: 1)
        batch.beginRecord()
        var text = text
        return text.withUTF8 { batch.setDecimal($0, at: 0) }
    }

    private static func kind(of text: String) -> Scalar {
        let bytes = Array(text.utf8.prefix(37))
        if bytes.count == 36, UUID(uuidString: text) != nil { return .uuid }
        // A timestamp in a text cannot be distinguished from a number, so it is not a date by
        // default.
        if bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), DateText.microseconds(text) != nil { return .date }
        return .text
    }
}

extension JSONValue {
    /// A text that identifies an object by this value; nil if the value cannot be a primary key.
    fileprivate var identifier: String? {
        switch self {
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .decimal(let text), .string(let text): text
        case .null, .bool, .double, .array, .object: nil
        }
    }
}
