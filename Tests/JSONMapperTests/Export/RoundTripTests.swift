import JSONMapper
import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import Testing

/// What is exported of an imported object is the same object in canonical form: export(import(x)) =
/// canonical(x).
@Suite(.endsInTime) struct RoundTripTests {
    /// A model whose names, types, key paths and annotations a seed decides, and JSON for it.
    struct World {
        let model: DataModel
        var random: SeededRandom

        init(seed: UInt64) throws {
            var random = SeededRandom(seed: seed)
            let types = AttributeType.allCases.filter { $0 != .transformable }
            let words = ["first", "name", "url", "created", "at", "user", "json", "zip2"]
            var names: Set<String> = ["id", "kind"]
            var attributes = [SyncAttribute("id", .int64)]
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    words.randomElement(using: &random) ?? ""
                }
                guard let name = JSONKey.camelCase(parts.joined(separator: "_")), names.insert(name).inserted else {
                    continue
                }
                var userInfo: [String: String] = [:]
                switch Int.random(in: 0..<4, using: &random) {
                case 0: userInfo["sync.remoteKey"] = "group.\(name)"
                case 1: userInfo["sync.remoteKey"] = "Custom-\(name)"
                default: break
                }
                let type = types.randomElement(using: &random) ?? .string
                attributes.append(SyncAttribute(name, type, userInfo: userInfo))
            }
            model = try DataModel([SyncEntity("Thing", identity: ["id"], attributes: attributes, relationships: [])])
            self.random = random
        }

        /// An object of JSON under the keys of a style, values in any of the forms that are read,
        /// some absent; and what must come out of it: every key in the model's order, every value
        /// in its one form.
        mutating func object(_ style: RecordMapper.Exporter.Options.KeyStyle) -> (
            input: JSONValue, canonical: JSONValue
        ) {
            var input: JSONValue = .object(["unclaimed": .integer(1)])
            var canonical: JSONValue = .object([:])
            for attribute in EntityKeys(model.layouts[0], in: model).attributes {
                guard let path = attribute.path(style) else { continue }
                let value = value(attribute.attribute.type)
                let isThere = Int.random(in: 0..<5, using: &random) > 0
                if isThere { input = input.setting(path[...], to: value.input) }
                canonical = canonical.setting(path[...], to: isThere ? value.canonical : .null)
            }
            return (input, canonical)
        }

        private mutating func value(_ type: AttributeType) -> (input: JSONValue, canonical: JSONValue) {
            if Int.random(in: 0..<6, using: &random) == 0 { return (.null, .null) }
            let small = Int64.random(in: -30_000...30_000, using: &random)
            let asText = Bool.random(using: &random)
            switch type {
            case .int16, .int32, .int64: return (asText ? .string("\(small)") : .integer(small), .integer(small))
            case .double, .float:
                let number = Double(small) / 16
                return (asText ? .string("\(number)") : .double(number), .double(number))
            case .decimal:
                let text = "\(small).0625"
                return (asText ? .string("+\(text)00".replacing("+-", with: "-")) : .decimal(text), .decimal(text))
            case .string, .transformable:
                let text = JSONValue.string("\"\\\u{1}ü\(small)\u{1F600}")
                return (text, text)
            case .bool: return (.bool(small > 0), .bool(small > 0))
            case .date:
                let milliseconds = asText ? small * 86_400_123 : abs(small) * 1_000_000
                let text = JSONValue.string(DateText.text(milliseconds * 1000, fraction: .shortest))
                return (asText ? text : .integer(milliseconds / 1000), text)
            case .binary, .json:
                let array = JSONValue.array([.integer(small), .object(["a": .null]), .string("x")])
                return (array, array)
            case .uuid:
                let uuid = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
                return (.string(asText ? uuid : uuid.lowercased()), .string(uuid))
            case .uri:
                let uri = JSONValue.string("https://example.com/\(small)?a=b")
                return (uri, uri)
            }
        }
    }

    @Test(arguments: seeds(50, thorough: 200))
    func anExportOfAnImportIsTheCanonicalForm(seed: UInt64) throws {
        var world = try World(seed: seed)
        let mapper = try RecordMapper(
            world.model, JSONMapping(contract: ValueContract(wrongType: .fail, unreadableDate: .fail)))
        for style in RecordMapper.Exporter.Options.KeyStyle.allCases {
            var options = RecordMapper.Exporter.Options()
            options.keyStyle = style
            options.dateFormat = .iso8601
            let exporter = try RecordMapper.Exporter(mapper.model, options: options)
            let objects = (0..<20).map { _ in world.object(style) }
            let records = try mapper.records(of: "Thing", bytes: JSONValue.array(objects.map(\.input)).utf8)
            let exported = try exporter.bytes(ofAll: records)
            #expect(
                String(decoding: exported, as: UTF8.self)
                    == String(decoding: try JSONValue.array(objects.map(\.canonical)).utf8, as: UTF8.self))
            // And from there on nothing changes any more.
            let again = try mapper.records(of: "Thing", bytes: exported)
            #expect(again == records)
            #expect(try exporter.bytes(ofAll: again) == exported)
        }
    }

    /// The graph of a seed: entities that relate to one another in every way, and objects linked at
    /// random.
    @Test(arguments: seeds(15, thorough: 60))
    func anExportOfARandomGraphEndsAndNamesNothingThatIsNotThere(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let names = ["A", "B", "C", "D"]
        let model = try DataModel(
            names.map { name in
                SyncEntity(
                    name, attributes: [SyncAttribute("id", .int64)],
                    relationships: (0..<3).map { index in
                        let destination = names.randomElement(using: &random) ?? name
                        return Bool.random(using: &random)
                            ? SyncRelationship("r\(index)", toMany: destination)
                            : SyncRelationship("r\(index)", toOne: destination)
                    })
            })
        let nodes = model.layouts.map { layout in
            (0..<8).map { GraphNode(layout, ["id": .int(Int64(layout.index * 100 + $0))]) }
        }
        for (layout, objects) in zip(model.layouts, nodes) {
            for object in objects {
                for relationship in layout.relationships {
                    let all = nodes[relationship.destination].shuffled(using: &random)
                    let count = relationship.isToMany ? 4 : 1
                    object[relationship.name] = Array(all.prefix(Int.random(in: 0...count, using: &random)))
                }
            }
        }
        for relationships in [RecordMapper.Exporter.Options.Relationships.array, .nested] {
            var options = RecordMapper.Exporter.Options()
            options.relationships = relationships
            let bytes = try RecordMapper.Exporter(model, options: options).bytes(of: nodes[0][0])
            let ids = try JSONValue(parsing: bytes).ids
            #expect(!ids.isEmpty)
            #expect(Set(ids).isSubset(of: Set((0..<4).flatMap { entity in (0..<8).map { entity * 100 + $0 } })))
        }
    }
}

extension JSONValue {
    fileprivate var utf8: [UInt8] {
        get throws {
            var writer = JSONWriter()
            try writer.value(self)
            return writer.bytes
        }
    }

    fileprivate func setting(_ path: ArraySlice<String>, to value: JSONValue) -> JSONValue {
        guard let key = path.first else { return value }
        var object: JSONValue.Object = [:]
        if case .object(let present) = self { object = present }
        object[key] = (object[key] ?? .object([:])).setting(path.dropFirst(), to: value)
        return .object(object)
    }

    /// The values of all keys `id`, at any depth.
    fileprivate var ids: [Int] {
        switch self {
        case .object(let object):
            object.entries.flatMap { key, value in
                if key == "id", case .integer(let id) = value { [Int(id)] } else { value.ids }
            }
        case .array(let elements): elements.flatMap(\.ids)
        default: []
        }
    }
}
