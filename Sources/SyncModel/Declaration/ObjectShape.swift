import SyncBase

/// A property that a type encodes.
package struct ObjectProperty: Sendable {
    package enum Content: Sendable {
        case attribute(AttributeType)
        case related(any SyncObject.Type, isToMany: Bool)
    }

    /// The coding key: the name of the attribute or relationship.
    package let name: String
    /// The Swift type, without its optionality.
    package let type: any Any.Type
    /// Whether the property may be missing.
    package let isOptional: Bool
    package let content: Content
    /// Whether the type stands for one value of an attribute, instead of several parts.
    package let isSingleValue: Bool
    /// Whether the property may be omitted from `including`.
    package let isOptionallyIncluded: Bool
    /// The raw values of the enumerations in the type; empty if their cases are not known, or if
    /// the object can be read with any other value.
    package internal(set) var cases: [AttributeValue] = []
    /// The type and the types inside of it, as texts; empty if the object can be read with every
    /// value of the attribute's type.
    package internal(set) var parts: [String] = []
}

/// The properties of a type, and the key paths that lead to them.
///
/// Swift does not relate key paths to coding keys. The shape decodes the type several times, with
/// one of two values for each property. The pattern of these values shows which property a key path
/// reads.
package final class ObjectShape<Root: SyncObject>: Sendable {
    /// The properties in the order in which the type decodes them.
    package let properties: [ObjectProperty]
    private let indices: [String: Int]
    private let probes: [Root]
    /// For each property, the forms of its two values.
    private let forms: [ProbeForms]
    private let names = Locked<[KeyPathKey: String]>([:])

    /// The number of probes. Two properties share a pattern with a probability of 2⁻³² only, and
    /// then the shape reports it.
    private static var probeCount: Int { 32 }

    private init() throws {
        var probes: [Root] = []
        let log = ProbeLog(type: "\(Root.self)")
        for round in 0..<Self.probeCount {
            log.round = round
            probes.append(try log.decode(Root.self))
        }
        properties = log.propertiesWithLimits(of: Root.self)
        forms = log.forms
        indices = Dictionary(uniqueKeysWithValues: log.properties.enumerated().map { ($1.name, $0) })
        self.probes = probes
    }

    /// The shape of the type, which is examined only once.
    ///
    /// - Throws: `SyncDeclarationError.unreadableType`.
    package static func shared() throws -> ObjectShape {
        let id = ObjectIdentifier(Root.self)
        if let known = knownShapes.withLock({ $0[id] }) as? ObjectShape { return known }
        let shape = try ObjectShape()
        knownShapes.withLock { $0[id] = shape }
        return shape
    }

    /// The property with a name.
    package func property(_ name: String) -> ObjectProperty? {
        indices[name].map { properties[$0] }
    }

    /// The name of the property that a key path leads to.
    ///
    /// - Throws: `SyncDeclarationError.unknownKeyPath`.
    package func name(of path: PartialKeyPath<Root>) throws(SyncDeclarationError) -> String {
        let key = KeyPathKey(path: path)
        if let known = names.withLock({ $0[key] }) { return known }
        var candidates = Array(properties.indices)
        for (round, probe) in probes.enumerated() where !candidates.isEmpty {
            let form = ProbeForms.form(of: probe[keyPath: path])
            candidates.removeAll { forms[$0].form(ProbeLog.bit(property: $0, round: round)) != form }
        }
        guard candidates.count == 1 else {
            throw .unknownKeyPath(type: "\(Root.self)", keyPath: "\(path)")
        }
        let name = properties[candidates[0]].name
        names.withLock { $0[key] = name }
        return name
    }
}

/// The shapes by the identifiers of their types.
private let knownShapes = Locked<[ObjectIdentifier: any Sendable]>([:])

/// A key path as a key of a dictionary.
///
/// Unchecked, because key paths are immutable and the key is only hashed and compared, under the
/// lock of the dictionary.
private struct KeyPathKey: Hashable, @unchecked Sendable {
    let path: AnyKeyPath
}
