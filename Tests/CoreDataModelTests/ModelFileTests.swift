import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ModelFileTests {
    private func read(_ entities: String) throws -> ModelFile {
        try ModelFile(xml: Data("<model>\n\(entities)\n</model>".utf8))
    }

    private func entity(_ properties: String) throws -> ModelFile {
        try read("<entity name=\"E\">\n\(properties)\n</entity>")
    }

    private func reasons(_ file: ModelFile) -> [ModelFile.Warning.Reason] {
        file.warnings.map(\.reason)
    }

    // MARK: What is read

    @Test func everyTypeIsRead() throws {
        let names = [
            "Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Decimal", "String", "Boolean", "Date",
            "Binary", "UUID", "URI", "Transformable",
        ]
        let file = try entity(
            names.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"\($0)\"/>" }.joined(separator: "\n")
        )
        let attributes = try file.model.layout(of: "E").attributes
        // Core Data has no type for JSON, which is an annotated string.
        #expect(attributes.map(\.type) == AttributeType.allCases.filter { $0 != .json })
        #expect(attributes.map(\.name) == names)
        #expect(attributes.allSatisfy { $0.isOptional && $0.defaultValue == .null })
        #expect(file.warnings.isEmpty)
    }

    @Test(arguments: [
        ("Integer 16", "-7", AttributeValue.int(-7)), ("Integer 64", "9223372036854775807", .int(.max)),
        ("Integer 32", "0.0", .int(0)), ("Double", "0.1", .double(0.1)), ("Float", "0.1", .double(Double(Float(0.1)))),
        (
            "Decimal", "12345678901234567890.0123456789",
            .decimal(Decimal(string: "12345678901234567890.0123456789") ?? 0)
        ),
        ("Decimal", "0.0", .decimal(0)), ("String", "", ""), ("String", "a &lt; b", "a < b"), ("Boolean", "YES", true),
        ("Boolean", "NO", false), ("Boolean", "0", false), ("URI", "https://a.b/c", .uri("https://a.b/c")),
        (
            "UUID", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f",
            .uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID())
        ),
    ])
    func aDefaultIsReadAsItsType(type: String, text: String, value: AttributeValue) throws {
        let file = try entity("<attribute name=\"a\" attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
        #expect(try file.model.layout(of: "E").attributes[0].defaultValue == value)
        #expect(try file.model.layout(of: "E").attributes[0].isOptional == false)
        #expect(file.warnings.isEmpty)
    }

    @Test(arguments: [
        ("0", 978_307_200_000_000), ("-978307200", 0), ("1.5", 978_307_201_500_000),
        ("-978307199.999999", 1), ("700000000.123456", 1_678_307_200_123_456),
    ])
    func aDateDefaultCountsFrom2001(text: String, microseconds: Int64) throws {
        let file = try entity("<attribute name=\"a\" attributeType=\"Date\" defaultDateTimeInterval=\"\(text)\"/>")
        let value = try file.model.layout(of: "E").attributes[0].defaultValue
        #expect(value == .date(Timestamp(microseconds: microseconds)))
        #expect(file.warnings.isEmpty)
    }

    @Test func relationshipsInheritanceAndAnnotationsAreRead() throws {
        let file = try read(
            """
            <entity name="Album" representedClassName="Album" syncable="YES" codeGenerationType="class">
              <relationship name="tracks" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES"
                  destinationEntity="Track" inverseName="album" inverseEntity="Track" syncable="YES">
                <userInfo><entry key="sync.remoteKey" value="songs"/><entry key="empty" value=""/></userInfo>
              </relationship>
              <userInfo><entry key="k" value="a &quot;b&quot;&#10;c"/></userInfo>
            </entity>
            <entity name="Item" isAbstract="YES" elementID="Thing">
              <attribute name="id" attributeType="Integer 64" elementID="number">
                <userInfo><entry key="sync.isPrimaryKey" value="YES"/></userInfo>
              </attribute>
              <uniquenessConstraints><uniquenessConstraint>
                <constraint value="id"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            <entity name="Track" parentEntity="Item">
              <attribute name="title" attributeType="Transformable" valueTransformerName="Title"/>
              <relationship name="album" maxCount="1" deletionRule="No Action" destinationEntity="Album"
                  inverseName="tracks" inverseEntity="Album" elementID="record"/>
            </entity>
            <elements><element name="Album" positionX="0" positionY="0" width="1" height="1"/></elements>
            """)
        let expected = try DataModel {
            SyncEntity("Album", userInfo: ["k": "a \"b\"\nc"]) {
                SyncRelationship(
                    "tracks", toOrdered: "Track", inverse: "album", deleteRule: .cascade,
                    userInfo: ["sync.remoteKey": "songs", "empty": ""])
            }
            SyncEntity("Item", abstract: true, identity: "id", formerName: "Thing") {
                SyncAttribute(
                    "id", .int64, optional: false, formerName: "number", userInfo: ["sync.isPrimaryKey": "YES"])
            }
            SyncEntity("Track", parent: "Item") {
                SyncAttribute("title", .transformable, optional: false, transformer: "Title")
                SyncRelationship(
                    "album", toOne: "Album", inverse: "tracks", deleteRule: .noAction, optional: false,
                    formerName: "record")
            }
        }
        #expect(file.model == expected)
        #expect(file.warnings.isEmpty)
    }

    // MARK: What is reported

    /// A default that no export could write is reported.
    @Test(arguments: [
        ("Double", "nan"), ("Double", "-inf"), ("Double", "1e400"), ("Float", "nan"), ("Float", "1e39"),
    ])
    func aDefaultThatIsNoFiniteNumberIsReported(type: String, text: String) throws {
        let file = try entity("<attribute name=\"a\" attributeType=\"\(type)\" defaultValueString=\"\(text)\"/>")
        #expect(
            reasons(file) == [.unknownValue(element: "attribute", attribute: "defaultValueString", value: text)])
        #expect(try file.model.layout(of: "E").attributes[0].defaultValue == .null)
    }

    @Test func whatIsNotUnderstoodIsReportedWithItsLine() throws {
        let file = try entity(
            """
            <attribute name="a" attributeType="String" shiny="YES" minValueString="3"/>
            <attribute name="b" attributeType="Undefined"><userInfo><entry key="x" value="y"/></userInfo></attribute>
            <attribute name="c" attributeType="Integer 16" defaultValueString="70000" optional="maybe"/>
            <attribute name="d" attributeType="Date" defaultValueString="now" transient="YES"/>
            <relationship name="e" destinationEntity="E" deletionRule="Explode" maxCount="4" ordered="YES"/>
            <relationship name="m" toMany="YES" destinationEntity="E" minCount="2" maxCount="9"/>
            <fetchedProperty name="f"><fetchRequest name="g"/></fetchedProperty>
            <novelty><attribute name="inside"/></novelty>
            <userInfo><entry key="k" value="1"/><entry key="k" value="2"/></userInfo>
            <uniquenessConstraints><uniquenessConstraint><constraint value="a"/></uniquenessConstraint>
            <uniquenessConstraint><constraint value="c"/></uniquenessConstraint></uniquenessConstraints>
            """)
        let expected: [(Int, ModelFile.Warning.Reason)] = [
            (3, .unsupported(what: "minValueString")), (3, .unknownAttribute(element: "attribute", attribute: "shiny")),
            (4, .unsupportedType(attribute: "b", type: "Undefined")),
            (5, .unknownValue(element: "attribute", attribute: "defaultValueString", value: "70000")),
            (5, .unknownValue(element: "attribute", attribute: "optional", value: "maybe")),
            (6, .unsupported(what: "transient")),
            (6, .unknownValue(element: "attribute", attribute: "defaultValueString", value: "now")),
            (7, .unknownValue(element: "relationship", attribute: "deletionRule", value: "Explode")),
            (7, .unsupported(what: "maxCount")),
            (7, .unknownValue(element: "relationship", attribute: "ordered", value: "YES")),
            (8, .unsupported(what: "minCount")), (8, .unsupported(what: "maxCount")),
            (9, .unsupported(what: "fetchedProperty")), (10, .unknownElement("novelty")),
            (11, .duplicateUserInfo(key: "k")), (13, .unsupported(what: "a second uniqueness constraint")),
        ]
        #expect(file.warnings.map(\.line) == expected.map(\.0))
        #expect(reasons(file) == expected.map(\.1))
        let layout = try file.model.layout(of: "E")
        #expect(layout.attributes.map(\.name) == ["a", "c", "d"])
        #expect(layout.identityColumns == [0])
        #expect(layout.entity.userInfo == ["k": "2"])
        #expect(file.warnings.first?.description == "contents:3: minValueString has no counterpart and is ignored")
    }

    /// The annotation of a type that Core Data does not have.
    @Test(arguments: [
        ("String", "json", AttributeType.json), ("Binary", "json", .json), ("String", "text", .string),
        ("Integer 16", "json", .int16),
    ])
    func anAnnotationOfATypeFitsOrIsReported(declared: String, annotated: String, type: AttributeType) throws {
        let key = "sync.type"
        let file = try entity(
            """
            <attribute name="a" attributeType="\(declared)">
            <userInfo><entry key="\(key)" value="\(annotated)"/></userInfo></attribute>
            """)
        #expect(try file.model.layout(of: "E").attributes[0].type == type)
        #expect(
            reasons(file)
                == (type == .json ? [] : [.unknownValue(element: "entry", attribute: key, value: annotated)]))
    }

    @Test(arguments: [("[1, 2]", true), ("[1", false), ("", false)])
    func aDefaultThatIsNoJSONIsReported(text: String, isJSON: Bool) throws {
        let file = try entity(
            """
            <attribute name="a" attributeType="String" defaultValueString="\(text)">
            <userInfo><entry key="sync.type" value="json"/></userInfo></attribute>
            """)
        #expect(try file.model.layout(of: "E").attributes[0].defaultValue.isNull == !isJSON)
        let warning = ModelFile.Warning.Reason.unknownValue(
            element: "attribute", attribute: "defaultValueString", value: text)
        #expect(reasons(file) == (isJSON ? [] : [warning]))
    }

    /// Core Data has no list of allowed values, so an annotation states it.
    @Test func allowedValuesAreAnAnnotation() throws {
        func file(_ values: String) throws -> ModelFile {
            try entity(
                """
                <attribute name="a" attributeType="String">
                <userInfo><entry key="sync.allowedValues" value="\(values)"/></userInfo></attribute>
                """)
        }
        let listed = try file("[&quot;open&quot;, &quot;closed&quot;]")
        #expect(try listed.model.layout(of: "E").attributes[0].allowedValues == ["open", "closed"])
        #expect(try ModelFile(xml: listed.model.coreDataXML()).model == listed.model)
        let error = ModelError.unsuitableAllowedValues(entity: "E", attribute: "a", type: .string)
        #expect(throws: ModelFile.Failure.invalid(file: "contents", line: 3, error: error)) { try file("open") }
    }

    @Test func aConstraintOnARelationshipIsReported() throws {
        let file = try entity(
            """
            <relationship name="e" destinationEntity="E"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="e"/></uniquenessConstraint></uniquenessConstraints>
            """)
        #expect(reasons(file) == [.unsupported(what: "a uniqueness constraint on a relationship")])
        #expect(file.model["E"]?.hasIdentity == false)
    }

    @Test func configurationsAndFetchRequestsAreReported() throws {
        let file = try read(
            """
            <entity name="E"/><fetchRequest name="r"/>
            <configuration name="c"><memberEntity name="E"/></configuration>
            """)
        #expect(reasons(file) == ["fetchRequest", "configuration"].map { .unsupported(what: $0) })
    }

    @Test func indexesOfEveryKindAreRead() throws {
        let file = try read(
            """
            <entity name="E">
              <attribute name="a" attributeType="String" indexed="YES"/>
              <attribute name="b" attributeType="Date" indexed="NO"/>
              <relationship name="e" maxCount="1" destinationEntity="E"/>
              <fetchIndex name="byB"><fetchIndexElement property="b" type="Binary" order="descending"/></fetchIndex>
              <fetchIndex name="byBAndA">
                <fetchIndexElement property="b" type="Binary" order="ascending"/>
                <fetchIndexElement property="a" type="Binary" order="ascending"/>
              </fetchIndex>
              <fetchIndex name="byA"><fetchIndexElement property="a" type="Binary" order="ascending"/></fetchIndex>
              <fetchIndex name="byE"><fetchIndexElement property="e" type="Binary" order="ascending"/></fetchIndex>
              <compoundIndexes><compoundIndex><index value="a"/><index value="b"/></compoundIndex></compoundIndexes>
            </entity>
            <entity name="F" parentEntity="E">
              <attribute name="c" attributeType="Integer 16"/>
              <fetchIndex name="byC"><fetchIndexElement property="c"/><fetchIndexElement property="a"/></fetchIndex>
            </entity>
            """)
        // A to-one relationship always has an index, and one index of an attribute is enough.
        #expect(
            file.model["E"]?.entity.indexes == [
                SyncEntity.Index(["a"]), SyncEntity.Index(["b"]), SyncEntity.Index(["b", "a"]),
                SyncEntity.Index(["a", "b"]),
            ])
        #expect(file.model["F"]?.entity.indexes == [SyncEntity.Index(["c", "a"])])
        #expect(file.warnings.isEmpty)
    }

    @Test func attributesOfTheModelItselfAreRead() throws {
        let file = try ModelFile(xml: Data("<model type=\"x\"\n name=\"m\" shiny=\"YES\"/>".utf8))
        #expect(reasons(file) == [.unknownAttribute(element: "model", attribute: "shiny")])
    }

    @Test func indexesThatTheModelCannotHaveAreReported() throws {
        let file = try entity(
            """
            <attribute name="a" attributeType="String"/><attribute name="t" attributeType="Transformable"/>
            <relationship name="e" destinationEntity="E"/>
            <fetchIndex name="i" partial="a != nil"><fetchIndexElement property="a"/></fetchIndex>
            <fetchIndex name="j"><fetchIndexElement expression="lower(a)" type="Binary"/></fetchIndex>
            <fetchIndex name="k"><fetchIndexElement property="a" type="RTree"/></fetchIndex>
            <fetchIndex name="l"><fetchIndexElement property="t"/></fetchIndex>
            <fetchIndex name="m"><fetchIndexElement property="a"/><fetchIndexElement property="e"/></fetchIndex>
            <fetchIndex name="n"><fetchIndexElement property="x"/></fetchIndex>
            <fetchIndex name="o"/>
            <fetchIndex name="p"><fetchIndexElement property="a" collation="x"/></fetchIndex>
            """)
        #expect(
            reasons(file) == [
                .unknownAttribute(element: "fetchIndex", attribute: "partial"),
                .unsupported(what: "an index with an expression"), .unsupported(what: "an index with an R-tree"),
                .unsupported(what: "an index on a transformable attribute"),
                .unsupported(what: "an index on a relationship"),
                .unsupported(what: "an index on x, which is not an attribute"),
                .unsupported(what: "an index on nothing"),
                .unknownAttribute(element: "fetchIndexElement", attribute: "collation"),
            ])
        #expect(file.warnings.map(\.line) == [5, 6, 7, 8, 9, 10, 11, 12])
        #expect(file.model["E"]?.entity.indexes == [SyncEntity.Index(["a"])])
    }

    @Test func anIndexInMixedOrdersIsReadWithAWarning() throws {
        let file = try entity(
            """
            <attribute name="a" attributeType="String"/><attribute name="b" attributeType="String"/>
            <fetchIndex name="i"><fetchIndexElement property="a" order="ascending"/>
            <fetchIndexElement property="b" order="descending"/></fetchIndex>
            """)
        #expect(reasons(file) == [.unsupported(what: "the descending order of a part of an index")])
        #expect(file.model["E"]?.entity.indexes == [SyncEntity.Index(["a", "b"])])
    }

    // MARK: What is refused

    @Test func whatContradictsItselfIsRefusedWithItsLine() throws {
        #expect(
            throws: ModelFile.Failure.invalid(
                file: "contents", line: 4, error: .duplicateProperty(entity: "E", property: "r"))
        ) {
            try entity(
                "<attribute name=\"r\" attributeType=\"String\"/>\n<relationship name=\"r\" destinationEntity=\"E\"/>")
        }
        #expect(
            throws: ModelFile.Failure.invalid(
                file: "contents", line: 3, error: .unknownParent(entity: "B", parent: "C"))
        ) { try read("<entity name=\"A\"/>\n<entity name=\"B\" parentEntity=\"C\"/>") }
    }

    @Test(arguments: [
        ("<entity/>", "entity", "name"), ("<entity name='E'><attribute/></entity>", "attribute", "name"),
        ("<entity name='E'><relationship destinationEntity='E'/></entity>", "relationship", "name"),
    ])
    func whatLacksItsNameIsRefused(xml: String, element: String, attribute: String) {
        #expect(
            throws: ModelFile.Failure.missingAttribute(
                file: "contents", line: 2, element: element, attribute: attribute)
        ) { try read(xml) }
    }

    @Test(arguments: [
        "", "{}", "<model>", "<model></entity>", "<model/><model/>", "<?xml version='1.0'\n<?a?>",
        "<model a='1' a='2'/>", "<model>&x;</model>",
    ])
    func whatIsNotWellFormedIsRefusedWithAPosition(xml: String) {
        #expect {
            try ModelFile(xml: Data(xml.utf8), named: "odd")
        } throws: { error in
            guard case ModelFile.Failure.malformed("odd", let line, let column, _) = error else { return false }
            return line >= 1 && column >= 1
        }
    }

    @Test func anotherRootIsRefused() {
        #expect(throws: ModelFile.Failure.unexpectedRoot(file: "contents", line: 2, element: "html")) {
            try ModelFile(xml: Data("<!-- a page -->\n<html/>".utf8))
        }
    }

    @Test(arguments: [
        "<!DOCTYPE model [<!ENTITY a \"b\">]>\n<model/>",
        "<!DOCTYPE model SYSTEM \"file:///etc/passwd\"><model/>",
        "<?xml version='1.0'?><!-- <model> --><!DOCTYPE model><model/>",
    ])
    func aDocumentTypeIsRefused(xml: String) {
        #expect(throws: ModelFile.Failure.documentType(file: "contents", line: 1)) {
            try ModelFile(xml: Data(xml.utf8))
        }
    }

    @Test(arguments: [
        "<?xml version='1.0'?>\n<?a?><model/>", "<model>\n<?a b?></model>", "<model/>\n<?a?>",
        "\n<?xml version='1.0'?><model/>",
        "<!--\n<?-->", "<?xml-stylesheet href='\n<?a?>'?><model/>",
    ])
    func aProcessingInstructionIsRefused(xml: String) {
        let line = xml.hasPrefix("<?xml-") ? 1 : 2
        #expect(throws: ModelFile.Failure.processingInstruction(file: "contents", line: line)) {
            try ModelFile(xml: Data(xml.utf8))
        }
    }

    @Test(arguments: [
        Data([0xFE, 0xFF, 0x00, 0x3C]), Data([0xFF, 0xFE, 0x3C, 0x00]), Data("<model\0/>".utf8),
        Data([0x3C, 0x6D, 0xFC, 0x2F, 0x3E]), Data("<?xml version='1.0' encoding='UTF-7'?><model/>".utf8),
        Data("<?xml version='1.0' encoding = \"ISO-8859-1\"?><model/>".utf8),
    ])
    func anythingButUTF8IsRefused(xml: Data) {
        #expect(throws: ModelFile.Failure.unsupportedEncoding(file: "contents")) { try ModelFile(xml: xml) }
    }

    @Test(arguments: ["\r\n", "\n\t", " = "])
    func whiteSpaceIsAllowedBeforeTheNameOfTheEncoding(space: String) throws {
        let sign = space.contains("=") ? "" : "="
        let file = try ModelFile(xml: Data("<?xml version=\"1.0\" encoding\(sign)\(space)\"UTF-8\"?><model/>".utf8))
        #expect(file.model.entities.isEmpty)
    }

    @Test func aByteOrderMarkIsPassedOver() throws {
        let file = try ModelFile(xml: Data("\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?><model/>".utf8))
        #expect(file.model.entities.isEmpty)
    }

    @Test func depthAndSizeAreBounded() {
        let depth = ModelFile.maximumDepth + 1
        let deep =
            "<model>" + String(repeating: "<x>", count: depth) + String(repeating: "</x>", count: depth) + "</model>"
        #expect(throws: ModelFile.Failure.tooDeep(file: "contents", line: 1)) { try ModelFile(xml: Data(deep.utf8)) }
        let large = ModelFile.Failure.tooLarge(file: "contents")
        #expect(throws: large) { try ModelFile(xml: Data(count: ModelFile.maximumByteCount + 1)) }
        // Zeros are no text, which is found out first.
        let error = #expect(throws: ModelFile.Failure.self) {
            try ModelFile(xml: Data(count: ModelFile.maximumByteCount))
        }
        #expect(error != large)
    }

    @Test func everyPrefixAndEveryFlippedBitGivesAModelOrAnError() throws {
        let xml = try #require(
            try? DataModel {
                SyncEntity("A", identity: "id") {
                    SyncAttribute("id", .int64, default: 1, userInfo: ["k": "v"])
                    SyncRelationship("b", toOne: "A", inverse: "b")
                }
            }.coreDataXML())
        for count in 0..<xml.count {
            let isRead = (try? ModelFile(xml: xml.prefix(count))) != nil
            #expect(!isRead || count == xml.count - 1)
        }
        for index in xml.indices {
            for bit in 0..<8 {
                var flipped = xml
                flipped[index] ^= 1 << bit
                _ = try? ModelFile(xml: flipped)
            }
        }
    }
}
