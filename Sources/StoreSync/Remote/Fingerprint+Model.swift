import Foundation
import SyncBase
import SyncModel

// Values are hashed instead of their descriptions, because descriptions are for people and may
// change between versions.
extension Fingerprint {
    /// Adds everything that a model's entities declare.
    mutating func combine(_ model: DataModel) {
        combine(model.entities.count)
        for entity in model.entities { combine(entity) }
    }

    private mutating func combine(_ entity: SyncEntity) {
        combine(entity.name)
        combine(entity.parent)
        combine(entity.isAbstract)
        combine(entity.identity.count)
        for name in entity.identity { combine(name) }
        combine(entity.userInfo)
        combine(entity.attributes.count)
        for attribute in entity.attributes {
            combine(attribute.name)
            combine(attribute.type.rawValue)
            combine(attribute.isOptional)
            combine(attribute.defaultValue)
            combine(attribute.transformerName)
            combine(attribute.userInfo)
            for part in attribute.typeLimits.parts { combine(part) }
        }
        combine(entity.relationships.count)
        for relationship in entity.relationships {
            combine(relationship.name)
            combine(relationship.destination)
            combine(relationship.isToMany)
            combine(relationship.isOrdered)
            combine(relationship.inverse)
            combine(relationship.deleteRule.rawValue)
            combine(relationship.userInfo)
        }
    }

    /// Adds a predicate: a number for each kind of node, then its parts.
    mutating func combine(_ predicate: RecordPredicate) {
        switch predicate {
        case .constant(let isTrue):
            combine(byte: 0)
            combine(isTrue)
        case .comparison(let path, let comparison, let value):
            combine(byte: 1)
            combine(path)
            combine(comparison.rawValue)
            combine(value)
        case .isIn(let path, let values):
            combine(byte: 2)
            combine(path)
            combine(values.count)
            for value in values { combine(value) }
        case .isNull(let path):
            combine(byte: 3)
            combine(path)
        case .text(let path, let match, let text):
            combine(byte: 4)
            combine(path)
            combine(match.rawValue)
            combine(text)
        case .related(let path, let quantifier, let part):
            combine(byte: 8)
            combine(path)
            switch quantifier {
            case .any: combine(byte: 0)
            case .all: combine(byte: 1)
            case .count(let range):
                combine(byte: 2)
                combine(range.lowerBound)
                combine(range.upperBound)
            }
            combine(part)
        case .and(let parts):
            combine(byte: 5)
            combine(parts.count)
            for part in parts { combine(part) }
        case .or(let parts):
            combine(byte: 6)
            combine(parts.count)
            for part in parts { combine(part) }
        case .not(let part):
            combine(byte: 7)
            combine(part)
        }
    }

    private mutating func combine(_ path: PropertyPath) {
        combine(path.components.count)
        for component in path.components { combine(component) }
    }

    /// Adds a value: a number for its kind, then its exact content.
    mutating func combine(_ value: AttributeValue) {
        switch value {
        case .null:
            combine(byte: 0)
        case .bool(let flag):
            combine(byte: 1)
            combine(flag)
        case .int(let number):
            combine(byte: 2)
            combine(number)
        case .double(let number):
            combine(byte: 3)
            combine(number.bitPattern)
        case .decimal(let number):
            combine(byte: 4)
            // The decimal digits are the value. Equal decimals may differ in their stored parts.
            combine(number.description)
        case .string(let text):
            combine(byte: 5)
            combine(text)
        case .date(let moment):
            combine(byte: 6)
            combine(moment.microseconds)
        case .binary(let data):
            combine(byte: 7)
            combine(data.count)
            combine(bytes: data)
        case .uuid(let uuid):
            combine(byte: 8)
            withUnsafeBytes(of: uuid.uuid) { combine(bytes: $0) }
        case .uri(let text):
            combine(byte: 9)
            combine(text)
        case .json(let json):
            combine(byte: 10)
            combine(json.text)
        }
    }

    private mutating func combine(_ text: String?) {
        combine(text != nil)
        if let text { combine(text) }
    }

    private mutating func combine(_ userInfo: [String: String]) {
        combine(userInfo.count)
        for (key, value) in userInfo.sortedByKey {
            combine(key)
            combine(value)
        }
    }
}
