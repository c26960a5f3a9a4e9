import JSONMapper
import SyncModel

extension RecordMapper.Transformers {
    /// The transformers of a scenario: what the model's annotations use as an entity mapper or a
    /// transformer of objects is registered as one, everything else as a transformer of attributes.
    init(_ world: ScenarioWorld) throws {
        self.init()
        let keys = world.model.layouts.map { EntityKeys($0, in: world.model, dialect: world.dialect) }
        let mappers = Set(keys.compactMap(\.entityMapperName))
        let objectTransformers = Set(keys.compactMap(\.objectTransformerName))
        for table in world.transformers {
            if mappers.contains(table.name) {
                registerEntityMapper(table.name) { object in String(json: try table.transform(.object(object))) }
            } else if objectTransformers.contains(table.name) {
                registerObjectTransformer(table.name) { object in
                    JSONValue.Object(json: try table.transform(.object(object))) ?? object
                }
            } else {
                let reverse: Reverse = { value in try table.reverse(try value.tabulated) }
                register(
                    table.name, forward: { json in try AttributeValue(tabulated: try table.transform(json)) },
                    reverse: table.reverse == nil ? nil : reverse)
            }
        }
    }
}

extension AttributeValue {
    struct NotTabulated: Error {
        let kind: String
    }

    /// A value as tables of transformers write it; nil for null.
    fileprivate init?(tabulated json: JSONValue) throws {
        switch json {
        case .null: return nil
        case .bool(let flag): self = .bool(flag)
        case .integer(let number): self = .int(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .string(text)
        case .object(let object):
            guard object.count == 1, case .string(let text) = object["date"], let date = DateText.microseconds(text)
            else {
                throw NotTabulated(kind: "object")
            }
            self = .date(Timestamp(microseconds: date))
        case .array, .unsigned, .decimal: throw NotTabulated(kind: "other")
        }
    }

    fileprivate var tabulated: JSONValue {
        get throws {
            switch self {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .int(let number): .integer(number)
            case .double(let number): .double(number)
            case .string(let text): .string(text)
            default: throw NotTabulated(kind: "\(self)")
            }
        }
    }
}
