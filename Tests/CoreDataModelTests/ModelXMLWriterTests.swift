import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct ModelXMLWriterTests {
    @Test func aModelIsWrittenAsTheEditorWritesIt() throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id", userInfo: ["b": "2", "a": "1 < 2"]) {
                SyncAttribute("id", .int32, optional: false, default: 0)
                SyncRelationship("friends", toMany: "User", inverse: "friends")
            }
        }
        let text = String(decoding: try model.coreDataXML(), as: UTF8.self)
        #expect(
            text == """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" minimumToolsVersion="Automatic" \
                sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
                    <entity name="User" syncable="YES">
                        <attribute name="id" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="NO"/>
                        <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" \
                destinationEntity="User" inverseName="friends" inverseEntity="User"/>
                        <uniquenessConstraints>
                            <uniquenessConstraint>
                                <constraint value="id"/>
                            </uniquenessConstraint>
                        </uniquenessConstraints>
                        <userInfo>
                            <entry key="a" value="1 &lt; 2"/>
                            <entry key="b" value="2"/>
                        </userInfo>
                    </entity>
                </model>

                """)
    }

    @Test func whatTheFormatCannotExpressIsRefused() throws {
        let control = try DataModel { SyncEntity("E", userInfo: ["k": "\u{1}"]) {} }
        #expect(throws: ModelFile.Failure.unwritable(entity: "E", property: nil, reason: "XML has no U+0001")) {
            try control.coreDataXML()
        }
        let bytes = try DataModel { SyncEntity("E") { SyncAttribute("a", .binary, default: .binary(Data([1]))) } }
        #expect(throws: ModelFile.Failure.unwritable(entity: "E", property: "a", reason: "bytes cannot be a default")) {
            try bytes.coreDataXML()
        }
    }

    @Test(arguments: [
        SyncEntity.Index(["a"], unique: true), SyncEntity.Index(["a"], where: PropertyPath("a") > 1),
    ])
    func anIndexThatTheFormatCannotExpressIsRefused(index: SyncEntity.Index) throws {
        var entity = SyncEntity("E") { SyncAttribute("a", .int64) }
        entity.indexes = [index]
        let model = try DataModel([entity])
        #expect(
            throws: ModelFile.Failure.unwritable(
                entity: "E", property: nil, reason: "an index that is unique or partial has no counterpart")
        ) { try model.coreDataXML() }
    }

    @Test(arguments: sampled(0..<200 as Range<UInt64>))
    func aRandomModelIsReadBackAsItWas(seed: UInt64) throws {
        var random = RandomModel(seed: seed)
        let model = try random.model()
        let xml = try model.coreDataXML()
        let file = try ModelFile(xml: xml)
        #expect(file.model == model)
        #expect(file.warnings.isEmpty)
        #expect(try file.model.coreDataXML() == xml)
    }
}

/// Models made at random, the same for the same seed.
private struct RandomModel {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    mutating func model() throws -> DataModel {
        let count = Int.random(in: 0...6, using: &random)
        var entities: [SyncEntity] = []
        for index in 0..<count {
            let parent = index > 0 && chance(3) ? "E\(Int.random(in: 0..<index, using: &random))" : nil
            var entity = SyncEntity(
                "E\(index)", parent: parent, abstract: chance(5), attributes: [], relationships: [],
                userInfo: userInfo())
            entity.formerName = chance(4) ? text() : nil
            for place in 0..<Int.random(in: 0...8, using: &random) {
                entity.attributes.append(attribute("a\(index)_\(place)"))
            }
            let suitable = entity.attributes.filter { $0.type != .transformable && $0.type != .json }.map(\.name)
            entity.identity = chance(2) ? Array(suitable.shuffled(using: &random).prefix(2)) : []
            if chance(3), !suitable.isEmpty {
                entity.indexes = [SyncEntity.Index(Array(suitable.shuffled(using: &random).prefix(3)))]
            }
            entities.append(entity)
        }
        for place in 0..<(count == 0 ? 0 : Int.random(in: 0...8, using: &random)) {
            let one = Int.random(in: 0..<count, using: &random)
            let other = Int.random(in: 0..<count, using: &random)
            let hasInverse = chance(2)
            entities[one].relationships.append(
                relationship("r\(place)", to: "E\(other)", inverse: hasInverse ? "i\(place)" : nil))
            if hasInverse {
                entities[other].relationships.append(relationship("i\(place)", to: "E\(one)", inverse: "r\(place)"))
            }
        }
        return try DataModel(entities)
    }

    private mutating func chance(_ sides: Int) -> Bool {
        Int.random(in: 0..<sides, using: &random) == 0
    }

    private mutating func text() -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "é", "e", "\u{301}", "<", ">", "&", "\"", "'", "\n", "\t", "\r", " ", "😀", "]", "\u{85}",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            text.unicodeScalars.append(scalars[Int.random(in: 0..<scalars.count, using: &random)])
        }
        return text
    }

    private mutating func userInfo() -> [String: String] {
        var info: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            info[text()] = text()
        }
        return info
    }

    private mutating func attribute(_ name: String) -> SyncAttribute {
        let type = AttributeType.allCases[Int.random(in: 0..<AttributeType.allCases.count, using: &random)]
        return SyncAttribute(
            name, type, optional: chance(2), default: chance(2) ? defaultValue(type) : .null,
            transformer: chance(6) ? text() : nil, formerName: chance(6) ? text() : nil, userInfo: userInfo())
    }

    private mutating func defaultValue(_ type: AttributeType) -> AttributeValue {
        switch type {
        case .int16: .int(Int64(Int16.random(in: .min ... .max, using: &random)))
        case .int32: .int(Int64(Int32.random(in: .min ... .max, using: &random)))
        case .int64: .int(Int64.random(in: .min ... .max, using: &random))
        case .double: .double(Double(bitPattern: random.next()))
        case .float: .double(Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))))
        case .decimal:
            .decimal(
                Decimal(
                    sign: chance(2) ? .minus : .plus, exponent: Int.random(in: -20...20, using: &random),
                    significand: Decimal(random.next())))
        case .string: .string(text())
        case .bool: .bool(chance(2))
        case .date: .date(Timestamp(microseconds: Int64(truncatingIfNeeded: random.next()) / 4))
        case .uuid: .uuid(uuid())
        case .uri: .uri(text())
        case .json: CanonicalJSON("{\"a\":\(Int.random(in: 0...9, using: &random)),\"é\":\"<\\n\"}")?.value ?? .null
        case .binary, .transformable: .null
        }
    }

    private mutating func uuid() -> UUID {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let halves = [random.next(), random.next()]
        halves.withUnsafeBytes { source in withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: source) } }
        return UUID(uuid: bytes)
    }

    private mutating func relationship(_ name: String, to entity: String, inverse: String?) -> SyncRelationship {
        let rule = SyncRelationship.DeleteRule.allCases[
            Int.random(in: 0..<SyncRelationship.DeleteRule.allCases.count, using: &random)]
        var relationship =
            chance(2)
            ? SyncRelationship(
                name, toOne: entity, inverse: inverse, deleteRule: rule, optional: chance(2),
                formerName: chance(6) ? text() : nil, userInfo: userInfo())
            : SyncRelationship(
                name, toMany: entity, inverse: inverse, deleteRule: rule, optional: chance(2),
                formerName: chance(6) ? text() : nil, userInfo: userInfo())
        relationship.isOrdered = relationship.isToMany && chance(2)
        return relationship
    }
}
