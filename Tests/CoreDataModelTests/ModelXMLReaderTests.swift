import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import Testing

/// The elements of a model file one by one: what is read, and what is reported at which place.
@Suite(.endsInTime) struct ModelXMLReaderTests {
    private func entity(_ properties: String, _ attributes: String = "") throws -> ModelFile {
        try ModelFile(xml: Data("<model>\n<entity name=\"E\" \(attributes)>\n\(properties)\n</entity>\n</model>".utf8))
    }

    private func reasons(_ file: ModelFile) -> [ModelFile.Warning.Reason] {
        file.warnings.map(\.reason)
    }

    /// Elements with an attribute that no version of the format has; those of a list are not read.
    @Test(
        arguments: [
            ("attribute", "<attribute name=\"a\" attributeType=\"String\" shiny=\"1\"/>"),
            ("relationship", "<relationship name=\"r\" destinationEntity=\"E\" shiny=\"1\"/>"),
            ("entry", "<userInfo><entry key=\"k\" value=\"v\" shiny=\"1\"/></userInfo>"),
            (
                "fetchIndex",
                "<attribute name=\"a\" attributeType=\"String\"/><fetchIndex name=\"i\" shiny=\"1\"><fetchIndexElement property=\"a\"/></fetchIndex>"
            ),
            (
                "fetchIndexElement",
                "<attribute name=\"a\" attributeType=\"String\"/><fetchIndex name=\"i\"><fetchIndexElement property=\"a\" shiny=\"1\"/></fetchIndex>"
            ),
            (nil, "<userInfo shiny=\"1\"/><uniquenessConstraints shiny=\"1\"/><compoundIndexes shiny=\"1\"/>"),
        ] as [(String?, String)])
    func anUnknownAttributeIsReported(element: String?, xml: String) throws {
        let file = try entity(xml)
        #expect(reasons(file) == (element.map { [.unknownAttribute(element: $0, attribute: "shiny")] } ?? []))
        #expect(file.warnings.allSatisfy { $0.line == 3 })
        #expect(reasons(try entity("", "shiny=\"1\"")) == [.unknownAttribute(element: "entity", attribute: "shiny")])
    }

    /// The spellings of flags. Nil is reported, and counts as NO.
    private static let flags: [(text: String, isSet: Bool?)] = [
        ("YES", true), ("yes", true), ("true", true), ("1", true), ("NO", false), ("no", false), ("false", false),
        ("0", false), ("maybe", nil), ("", nil), ("2", nil),
    ]

    @Test(arguments: flags) func aFlagIsReadInAnySpelling(text: String, isSet: Bool?) throws {
        func warnings(_ element: String, _ attribute: String) -> [ModelFile.Warning.Reason] {
            isSet == nil ? [.unknownValue(element: element, attribute: attribute, value: text)] : []
        }
        let abstract = try entity("", "isAbstract=\"\(text)\"")
        #expect(abstract.model["E"]?.entity.isAbstract == isSet ?? false)
        #expect(reasons(abstract) == warnings("entity", "isAbstract"))

        func attribute(_ key: String) throws -> ModelFile {
            try entity("<attribute name=\"a\" attributeType=\"String\" \(key)=\"\(text)\"/>")
        }
        let optional = try attribute("optional")
        #expect(optional.model["E"]?.attributes.map(\.isOptional) == [isSet ?? false])
        #expect(reasons(optional) == warnings("attribute", "optional"))
        let indexed = try attribute("indexed")
        #expect(indexed.model["E"]?.entity.indexes.count == (isSet == true ? 1 : 0))
        #expect(reasons(indexed) == warnings("attribute", "indexed"))
        let transient: [ModelFile.Warning.Reason] = isSet == true ? [.unsupported(what: "transient")] : []
        #expect(reasons(try attribute("transient")) == transient + warnings("attribute", "transient"))

        func relationship(_ key: String, _ more: String = "") throws -> ModelFile {
            try entity("<relationship name=\"r\" destinationEntity=\"E\" \(key)=\"\(text)\" \(more)/>")
        }
        let many = try relationship("toMany")
        #expect(many.model["E"]?.relationships.map(\.isToMany) == [isSet ?? false])
        #expect(reasons(many) == warnings("relationship", "toMany"))
        let mandatory = try relationship("optional")
        #expect(mandatory.model["E"]?.relationships.map(\.declaration.isOptional) == [isSet ?? false])
        #expect(reasons(mandatory) == warnings("relationship", "optional"))
        let ordered = try relationship("ordered", "toMany=\"YES\"")
        #expect(ordered.model["E"]?.relationships.map(\.isOrdered) == [isSet ?? false])
        #expect(reasons(ordered) == warnings("relationship", "ordered"))
        #expect(reasons(try relationship("transient")) == transient + warnings("relationship", "transient"))
    }

    @Test(arguments: [
        ("Nullify", SyncRelationship.DeleteRule.nullify, true), ("Cascade", .cascade, true), ("Deny", .deny, true),
        ("No Action", .noAction, true), ("cascade", .nullify, false), ("", .nullify, false),
    ])
    func aDeleteRuleIsReadByItsName(text: String, rule: SyncRelationship.DeleteRule, isKnown: Bool) throws {
        let file = try entity("<relationship name=\"r\" destinationEntity=\"E\" deletionRule=\"\(text)\"/>")
        #expect(file.model["E"]?.relationships.map(\.declaration.deleteRule) == [rule])
        let unknown = ModelFile.Warning.Reason.unknownValue(
            element: "relationship", attribute: "deletionRule", value: text)
        #expect(reasons(file) == (isKnown ? [] : [unknown]))
    }

    /// Numbers of objects other than at most one, or any number, are reported.
    @Test(arguments: [
        ("", "minCount", "0", true), ("", "minCount", "1", true), ("", "minCount", "2", false),
        ("", "maxCount", "0", true), ("", "maxCount", "1", true), ("", "maxCount", "2", false),
        ("toMany=\"YES\"", "minCount", "0", true), ("toMany=\"YES\"", "minCount", "1", true),
        ("toMany=\"YES\"", "minCount", "2", false), ("toMany=\"YES\"", "maxCount", "0", true),
        ("toMany=\"YES\"", "maxCount", "1", false),
    ])
    func aNumberOfObjectsIsUsualOrReported(toMany: String, key: String, count: String, isUsual: Bool) throws {
        let file = try entity("<relationship name=\"r\" destinationEntity=\"E\" \(toMany) \(key)=\"\(count)\"/>")
        #expect(reasons(file) == (isUsual ? [] : [.unsupported(what: key)]))
    }

    @Test(arguments: [
        ("<model>\n\n    &x;\n</model>", 3), ("<model>\n<entity name=\"E\">\n</model>", 3), ("<model a='1' a='2'/>", 1),
        ("<model>\n<entity name=\"E\"/>\n\n    <entity name=\"F\" name=\"G\"/></model>", 4),
    ])
    func anErrorOfTheSyntaxHasItsPlace(xml: String, expected: Int) throws {
        let error = #expect(throws: ModelFile.Failure.self) { try ModelFile(xml: Data(xml.utf8)) }
        guard case .malformed("contents", let line, let column, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(line == expected && column > 1, "\(line):\(column)")
        #expect(reason.hasPrefix("not well-formed XML ("))
    }

    /// What is inside of an element that is not read is not read either.
    @Test(
        arguments: [
            (
                "<novelty><attribute name=\"x\" attributeType=\"String\"/></novelty>",
                ["unknown element <novelty> is ignored"]
            ),
            (
                "<fetchedProperty name=\"x\"><userInfo><entry key=\"k\" value=\"v\"/></userInfo></fetchedProperty>",
                ["fetchedProperty has no counterpart and is ignored"]
            ),
            ("<attribute name=\"x\" attributeType=\"Odd\"><userInfo><entry key=\"k\"/></userInfo></attribute>", nil),
            ("<relationship name=\"x\"><userInfo><entry key=\"k\"/></userInfo></relationship>", nil),
        ] as [(String, [String]?)])
    func theContentOfWhatIsNotReadIsPassedOver(xml: String, texts: [String]?) throws {
        let file = try entity(xml + "<attribute name=\"a\" attributeType=\"String\"/>")
        #expect(file.warnings.count == 1)
        if let texts { #expect(file.warnings.map { "\($0)" } == texts.map { "contents:3: " + $0 }) }
        let layout = try file.model.layout(of: "E")
        #expect(layout.attributes.map(\.name) == ["a"] && layout.relationships.isEmpty)
        #expect(layout.entity.userInfo.isEmpty)
    }
}
