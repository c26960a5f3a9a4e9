import SyncModel

extension MappingError.Problem.Reason: Codable {
    private enum CodingKeys: CodingKey {
        case kind, type, by, text, allowed
    }

    private enum Kind: String, Codable {
        case unknownKey, wrongType, outOfRange, notAllowed, unreadableDate, missingMandatory, refused, refusedByStore,
            notAnObject, noIdentity
    }

    /// Decodes a reason that `encode(to:)` has written.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self =
            switch try container.decode(Kind.self, forKey: .kind) {
            case .unknownKey: .unknownKey
            case .wrongType: .wrongType(try container.decode(AttributeType.self, forKey: .type))
            case .outOfRange: .outOfRange(try container.decode(AttributeType.self, forKey: .type))
            case .notAllowed:
                .notAllowed("", allowed: try container.decode([AttributeValue].self, forKey: .allowed))
            case .unreadableDate: .unreadableDate
            case .missingMandatory: .missingMandatory
            case .refused:
                .refused(by: try container.decode(String.self, forKey: .by), "")
            case .refusedByStore: .refusedByStore(try container.decode(String.self, forKey: .text))
            case .notAnObject: .notAnObject
            case .noIdentity: .noIdentity
            }
    }

    /// Encodes the kind and its details, such as `{"kind": "wrongType", "type": "int64"}`.
    ///
    /// The text of a transformer's error is omitted, because it may contain the value, and so is a
    /// value that is not allowed.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .unknownKey: try container.encode(Kind.unknownKey, forKey: .kind)
        case .wrongType(let type):
            try container.encode(Kind.wrongType, forKey: .kind)
            try container.encode(type, forKey: .type)
        case .outOfRange(let type):
            try container.encode(Kind.outOfRange, forKey: .kind)
            try container.encode(type, forKey: .type)
        case .notAllowed(_, let allowed):
            try container.encode(Kind.notAllowed, forKey: .kind)
            try container.encode(allowed, forKey: .allowed)
        case .unreadableDate: try container.encode(Kind.unreadableDate, forKey: .kind)
        case .missingMandatory: try container.encode(Kind.missingMandatory, forKey: .kind)
        case .refused(let name, _):
            try container.encode(Kind.refused, forKey: .kind)
            try container.encode(name, forKey: .by)
        case .refusedByStore(let text):
            try container.encode(Kind.refusedByStore, forKey: .kind)
            try container.encode(text, forKey: .text)
        case .notAnObject: try container.encode(Kind.notAnObject, forKey: .kind)
        case .noIdentity: try container.encode(Kind.noIdentity, forKey: .kind)
        }
    }
}
