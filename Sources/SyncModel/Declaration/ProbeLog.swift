import Foundation
import SyncBase

/// The two values that probes give a property, in a form that can be compared.
struct ProbeForms: Sendable {
    private var values: [AttributeValue?] = [nil, nil]

    func form(_ bit: Bool) -> AttributeValue? {
        values[bit ? 1 : 0]
    }

    mutating func set(_ form: AttributeValue?, _ bit: Bool) {
        values[bit ? 1 : 0] = form
    }

    /// The form of a value; nil if it has none, so that it matches no property.
    static func form(of value: Any) -> AttributeValue? {
        switch value {
        case let list as any ProbedList: return .int(Int64(list.count))
        case is any SyncObject: return .bool(true)
        case let related as any ProbedRelated: return related.content.flatMap(form)
        case let value as any AttributeValue.Convertible: return value.value
        case let raw as any RawRepresentable: return form(of: raw.rawValue)
        case let value as any Encodable:
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return (try? encoder.encode(value)).map { $0.elementsEqual("null".utf8) ? .null : .binary($0) }
        default: return nil
        }
    }
}

private protocol ProbedList { var count: Int { get } }
extension Array: ProbedList where Element: SyncObject {}

private protocol ProbedRelated { var content: Any? { get } }
extension Related: ProbedRelated { var content: Any? { value.map { $0 as Any } } }

/// Collects the properties of a type while it is decoded from invented values.
///
/// Used by one thread, within the initializer of an `ObjectShape`.
final class ProbeLog {
    let type: String
    var round = 0
    /// The property whose value cannot be decoded in this round; nil for none.
    private var failing: Int?
    /// The parts of the type of each property.
    private var parts: [ProbedParts] = []
    private(set) var properties: [ObjectProperty] = []
    private(set) var forms: [ProbeForms] = []
    private var indices: [String: Int] = [:]

    init(type: String) {
        self.type = type
    }

    /// Returns which of its two values a property has in a round.
    static func bit(property: Int, round: Int) -> Bool {
        // Mixed, so that the patterns are independent.
        let mixed = UInt64(truncatingIfNeeded: property &+ 1).mixed
        return mixed >> UInt64(truncatingIfNeeded: round & 63) & 1 == 1
    }

    func decode<Root: SyncObject>(_ root: Root.Type) throws -> Root {
        do { return try Root(from: ProbeDecoder(log: self)) } catch let error as SyncDeclarationError {
            throw error
        } catch {
            throw SyncDeclarationError.unreadableType(type: type, property: properties.last?.name, reason: "\(error)")
        }
    }

    /// The properties with the parts of those types that cannot hold every value.
    ///
    /// An object that can do without the value of a property, or an enumeration that is decoded
    /// from any value, has a place for other values.
    func propertiesWithLimits<Root: SyncObject>(of root: Root.Type) -> [ObjectProperty] {
        defer { failing = nil }
        return properties.indices.map { index in
            var property = properties[index]
            let cases = parts[index].cases
            failing = index
            guard case .attribute = property.content, let type = property.type as? any Decodable.Type,
                cases.isEmpty
                    ? AttributeType.isWider(than: type)
                    : !ProbedParts.inventions.contains(where: { !cases.contains($0) && type.canHold($0) }),
                (try? decode(root)) == nil
            else { return property }
            property.cases = cases
            property.parts = parts[index].types.sorted()
            return property
        }
    }

    /// The value of a property in this round.
    func value<T: Decodable>(_ wanted: T.Type, _ name: String, isOptional: Bool) throws -> T? {
        let index = try indices[name] ?? add(wanted, name, isOptional: isOptional)
        let bit = Self.bit(property: index, round: round)
        if index == failing {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "an unknown case"))
        }
        do {
            let value: T? =
                if isOptional, wanted is any ObjectParts.RelatedValue.Type, !bit { nil } else {
                    try ProbeValue(bit: bit, depth: 0, parts: parts[index]).value(wanted)
                }
            forms[index].set(value.map { ProbeForms.form(of: $0) } ?? .null, bit)
            return value
        } catch let error as SyncDeclarationError {
            throw error
        } catch {
            throw SyncDeclarationError.unreadableType(type: type, property: name, reason: "\(error)")
        }
    }

    private func add(_ wanted: any Decodable.Type, _ name: String, isOptional: Bool) throws -> Int {
        let index = properties.count
        var content = ObjectProperty.Content.attribute(.json)
        if let related = wanted as? any ObjectParts.RelatedValue.Type {
            content = .related(related.objectType, isToMany: related.isToMany)
        } else {
            content = .attribute(AttributeType(of: wanted))
        }
        properties.append(
            ObjectProperty(
                name: name, type: wanted, isOptional: isOptional || wanted is any OptionalProbe.Type, content: content,
                isSingleValue: AttributeType.isSingleValue(wanted),
                isOptionallyIncluded: wanted is any OptionallyIncluded.Type))
        forms.append(ProbeForms())
        parts.append(ProbedParts())
        indices[name] = index
        return index
    }
}

private protocol OptionalProbe {}
extension Optional: OptionalProbe {}
extension Related: OptionalProbe where Value: OptionalProbe {}

extension ObjectParts.RelatedValue {
    /// The type of the related objects.
    static var objectType: any SyncObject.Type { Object.self }
}

extension AttributeType {
    /// Whether a Swift type stands for one value of an attribute, instead of several parts.
    static func isSingleValue(_ type: any Any.Type) -> Bool {
        type is any AttributeRepresentable.Type || type is any RawRepresentable.Type
    }

    /// The type of the attribute that holds values of a Swift type; JSON for a type that is not a
    /// single value.
    init(of type: any Any.Type) {
        if let known = type as? any AttributeRepresentable.Type {
            self = known.attributeType
        } else if let raw = type as? any RawRepresentable.Type,
            let known = raw.rawType as? any AttributeRepresentable.Type
        {
            self = known.attributeType
        } else {
            self = .json
        }
    }
}

extension RawRepresentable {
    /// The type of the raw value.
    static var rawType: any Any.Type { RawValue.self }
}
