import Foundation

// Null, Booleans, integers and texts are plain JSON values. A value of any other kind is an object
// with one key, because JSON could not distinguish it from them.
extension AttributeValue: Codable {
    private enum CodingKeys: String, CodingKey {
        case double, decimal, date, binary, uuid, uri, json
    }

    /// Decodes a value that `encode(to:)` has written.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: CodingKeys.self) {
            self = try Self(from: container)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .int(number)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    private init(from container: KeyedDecodingContainer<CodingKeys>) throws {
        guard let key = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: container.codingPath, debugDescription: "A value has exactly one known kind."))
        }
        // Converts the text of the key, and fails if the text is not a value of the kind.
        func value<Value>(_ convert: (String) -> Value?) throws -> Value {
            guard let value = convert(try container.decode(String.self, forKey: key)) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "The text is no \(key.rawValue).")
            }
            return value
        }
        self =
            switch key {
            case .double: .double(try value { Double($0) })
            case .decimal: .decimal(try value { Decimal(string: $0, locale: nil) })
            case .date: .date(try container.decode(Timestamp.self, forKey: key))
            case .binary: .binary(try value { Data(base64Encoded: $0) })
            case .uuid: .uuid(try value(UUID.init(uuidString:)))
            case .uri: .uri(try container.decode(String.self, forKey: key))
            case .json: .json(try value { CanonicalJSON($0) })
            }
    }

    /// Encodes null, a Boolean, an integer or a text as itself, and other values as objects.
    ///
    /// Such an object has one key, as in `{"uuid": "…"}`.
    ///
    /// Decimals and floating-point numbers are texts, because encoders round them and refuse NaN.
    /// Dates are microseconds since 1970; bytes are Base64.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let flag): try flag.encode(to: encoder)
        case .int(let number): try number.encode(to: encoder)
        case .string(let text): try text.encode(to: encoder)
        case .double(let number): try encode(number.description, as: .double, to: encoder)
        case .decimal(let number): try encode(number.description, as: .decimal, to: encoder)
        case .date(let moment): try encode(moment, as: .date, to: encoder)
        case .binary(let bytes): try encode(bytes.base64EncodedString(), as: .binary, to: encoder)
        case .uuid(let uuid): try encode(uuid.uuidString, as: .uuid, to: encoder)
        case .uri(let text): try encode(text, as: .uri, to: encoder)
        case .json(let json): try encode(json.text, as: .json, to: encoder)
        }
    }

    private func encode(_ content: some Encodable, as key: CodingKeys, to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(content, forKey: key)
    }
}

extension Timestamp: Codable {
    /// Decodes microseconds since 1970.
    public init(from decoder: any Decoder) throws {
        microseconds = try Int64(from: decoder)
    }

    /// Encodes the microseconds since 1970.
    public func encode(to encoder: any Encoder) throws {
        try microseconds.encode(to: encoder)
    }
}
