import Foundation
import JSONMapper
import SyncModel

/// The values and conditions of scenarios, in the terms of a model.
struct ScenarioValues {
    struct Unreadable: Error {
        let value: JSONValue
        let type: AttributeType
    }

    let model: DataModel

    /// A value as an attribute of a type holds it.
    func value(_ json: JSONValue, for type: AttributeType) throws -> AttributeValue {
        if case .object(let object) = json, object.count == 1, let (kind, content) = object.entries.first {
            switch (kind, content) {
            case ("date", .string(let text)):
                if let microseconds = DateText.microseconds(text) {
                    return .date(Timestamp(microseconds: microseconds))
                }
            case ("decimal", .string(let text)):
                if let number = Decimal(string: text) { return .decimal(number) }
            case ("uuid", .string(let text)):
                if let uuid = UUID(uuidString: text) { return .uuid(uuid) }
            case ("uri", .string(let text)): return .uri(text)
            case ("json", _) where type == .json:
                return CanonicalJSON(String(decoding: try content.bytes, as: UTF8.self)).value
            case ("json", _): return .binary(Data(try content.bytes))
            default: break
            }
        }
        switch (json, type) {
        case (.null, _): return .null
        case (.bool(let flag), .bool): return .bool(flag)
        case (.string(let text), .string): return .string(text)
        case (.integer(let number), .int16), (.integer(let number), .int32), (.integer(let number), .int64):
            return .int(number)
        case (.integer(let number), .double), (.integer(let number), .float): return .double(Double(number))
        case (.double(let number), .double): return .double(number)
        case (.double(let number), .float): return .double(Double(Float(number)))
        // A transformable attribute keeps what its transformer gave as JSON text.
        case (_, .transformable): return .binary(Data(try json.bytes))
        default: throw Unreadable(value: json, type: type)
        }
    }

    /// The condition that all of a `where` hold.
    func predicate(_ filter: JSONValue.Object, of entity: String) throws -> RecordPredicate {
        let layout = try model.layout(of: entity)
        return .and(
            try filter.entries.flatMap { path, condition in
                let key = PropertyPath(path)
                let bound = try key.bound(to: layout, in: model)
                guard case .object(let comparisons) = condition, let first = comparisons.entries.first?.key,
                    first == "in" || Self.comparisons[first] != nil
                else {
                    return [key == (try value(condition, at: bound))]
                }
                return try comparisons.entries.map { name, operand in
                    if name == "in", case .array(let operands) = operand {
                        return key.isIn(try operands.map { try value($0, at: bound) })
                    }
                    guard let comparison = Self.comparisons[name] else {
                        throw JSONFields.Malformed(description: "unknown comparison \(name)")
                    }
                    // A bound of a range is of no exact type: 12.1 may be compared with a whole
                    // number.
                    let other = try value(operand, at: bound, orAny: true)
                    return comparison == .notEqual ? key != other : .comparison(key, comparison, other)
                }
            })
    }

    private static let comparisons: [String: PropertyPath.Comparison] = [
        ">": .greater, ">=": .greaterOrEqual, "<": .less, "<=": .lessOrEqual, "!=": .notEqual,
    ]

    private func value(_ json: JSONValue, at key: PropertyPath.Bound, orAny: Bool = false) throws -> AttributeValue {
        if orAny, case .double(let number) = json { return .double(number) }
        switch key.leaf {
        case .attribute(_, let type): return try value(json, for: type)
        case .count, .target: return try value(json, for: .int64)
        }
    }

    /// Whether a key's value is the expected one; binary values are compared as the JSON that they
    /// hold.
    func isEqual(_ value: AttributeValue, to expected: JSONValue, at key: String, of entity: String) throws -> Bool {
        let bound = try PropertyPath(key).bound(to: try model.layout(of: entity), in: model)
        let other = try self.value(expected, at: bound)
        if case .attribute(_, .transformable) = bound.leaf,
            case (.binary(let data), .date(let moment)) = (value, other),
            case .string(let text) = try JSONValue(parsing: Array(data))
        {
            return DateText.microseconds(text) == moment.microseconds
        }
        if case (.binary(let data), .binary(let other)) = (value, other) {
            return try JSONValue(parsing: Array(data)) == JSONValue(parsing: Array(other))
        }
        return value == other
    }
}

extension JSONValue {
    /// The value as UTF-8.
    var bytes: [UInt8] {
        get throws {
            var writer = JSONWriter()
            try writer.value(self)
            return writer.bytes
        }
    }

    /// Whether both are the same where an array of objects, and an object whose keys are the
    /// indices from 0 on, are in any order, and numbers are compared by their worth.
    func isEquivalent(to other: JSONValue) -> Bool {
        if let one = number, let another = other.number { return one == another }
        switch (self, other) {
        case (.array(let elements), .array(let others)):
            guard elements.count == others.count else { return false }
            guard elements.allSatisfy(\.isObject) else {
                return zip(elements, others).allSatisfy { $0.isEquivalent(to: $1) }
            }
            return Self.areEquivalentInAnyOrder(elements, others)
        case (.object(let object), .object(let other)):
            guard object.count == other.count else { return false }
            let indices = Set((0..<object.count).map(String.init))
            if object.count > 1, Set(object.entries.map(\.key)) == indices, Set(other.entries.map(\.key)) == indices {
                return Self.areEquivalentInAnyOrder(object.entries.map(\.value), other.entries.map(\.value))
            }
            return object.entries.allSatisfy { key, value in other[key].map { value.isEquivalent(to: $0) } ?? false }
        default: return self == other
        }
    }

    private static func areEquivalentInAnyOrder(_ elements: [JSONValue], _ others: [JSONValue]) -> Bool {
        var rest = others
        for element in elements {
            guard let index = rest.firstIndex(where: { element.isEquivalent(to: $0) }) else { return false }
            rest.remove(at: index)
        }
        return rest.isEmpty
    }

    private var isObject: Bool {
        if case .object = self { true } else { false }
    }

    private var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .unsigned(let number): Double(number)
        case .double(let number): number
        case .decimal(let text): Double(text)
        case .null, .bool, .string, .array, .object: nil
        }
    }
}
