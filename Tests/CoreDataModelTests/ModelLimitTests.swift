import CoreDataModel
import Foundation
import OneWayTestLimits
import SyncModel
import Testing

/// Files of others, whose size is the only bound of the time that they take.
@Suite(.endsInTime) struct ModelLimitTests {
    private func read(_ entities: String) throws(ModelFile.Failure) -> ModelFile {
        try ModelFile(xml: Data("<model>\n\(entities)\n</model>".utf8))
    }

    private func entity(_ name: String, parent: String? = nil, _ content: String = "") -> String {
        "<entity name=\"\(name)\"" + (parent.map { " parentEntity=\"\($0)\"" } ?? "") + ">\(content)</entity>\n"
    }

    private func attribute(_ name: String, _ more: String = "") -> String {
        "<attribute name=\"\(name)\" attributeType=\"String\" \(more)/>"
    }

    /// Each entity inherits from the one after it, with a property of its own.
    private func chain(_ count: Int) -> String {
        (0..<count).map { index in
            entity("E\(index)", parent: index + 1 < count ? "E\(index + 1)" : nil, attribute("a\(index)"))
        }.joined()
    }

    @Test func ancestorsAreBounded() throws {
        #expect(try read(chain(101)).model["E0"]?.attributes.count == 101)
        for count in [102, 4_000, 40_000] {
            let error = #expect(throws: ModelFile.Failure.self) { try read(chain(count)) }
            guard case .invalid(_, _, .tooManyAncestors(_, limit: 100)) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test(arguments: [2, 4_000, 40_000]) func aLongCycleIsAnError(count: Int) throws {
        let entities = (0..<count).map { entity("E\($0)", parent: "E\(($0 + 1) % count)") }
        let error = #expect(throws: ModelFile.Failure.self) { try read(entities.joined() + entity("F", parent: "E0")) }
        guard case .invalid(_, _, .inheritanceCycle("E0", let through)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(through.count == count + 1)
        #expect((error?.description.count ?? 0) < 500)
    }

    @Test func manyEntitiesOnTheWayToACycleAreAnError() throws {
        let way = (0..<20_000).map { entity("W\($0)", parent: $0 == 0 ? "E0" : "W\($0 - 1)") }.joined()
        #expect(throws: ModelFile.Failure.self) {
            try read(way + entity("E0", parent: "E1") + entity("E1", parent: "E0"))
        }
    }

    @Test func attributesOfAnElementAreBounded() throws {
        let names = { (count: Int) in (0..<count).map { "x\($0)=\"\"" }.joined(separator: " ") }
        #expect(try read("<entity name=\"E\" \(names(999))/>").warnings.count == 999)
        for count in [1_000, 200_000] {
            #expect(throws: ModelFile.Failure.tooManyElementAttributes(file: "contents", line: 2)) {
                try read("<entity name=\"E\" \(names(count))/>")
            }
        }
    }

    @Test func propertiesAreBounded() throws {
        let attributes = (0..<1_000).map { attribute("a\($0)") }.joined()
        let children = { (count: Int) in
            entity("P", attributes) + (0..<count).map { entity("C\($0)", parent: "P", attribute("b")) }.joined()
        }
        #expect(try read(children(198)).model.layouts.count == 199)
        let error = #expect(throws: ModelFile.Failure.self) { try read(children(200)) }
        guard case .invalid(_, _, .tooManyProperties("C198", limit: 200_000)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func manyIndexesConstraintsAndInversesTakeLinearTime() throws {
        let count = 20_000
        let attributes = (0..<count).map { attribute("a\($0)", "indexed=\"YES\"") }.joined()
        let constraint =
            "<uniquenessConstraints><uniquenessConstraint>"
            + (0..<count).map { "<constraint value=\"a\($0)\"/>" }.joined()
            + "</uniquenessConstraint></uniquenessConstraints>"
        let index =
            "<fetchIndex name=\"all\">" + (0..<count).map { "<fetchIndexElement property=\"a\($0)\"/>" }.joined()
            + "</fetchIndex>"
        let relationship = { (name: String, destination: String, inverse: String) in
            "<relationship name=\"\(name)\" destinationEntity=\"\(destination)\" inverseName=\"\(inverse)\"/>"
        }
        let file = try read(
            entity("E", attributes + constraint + index)
                + entity("F", (0..<count).map { relationship("f\($0)", "G", "g\($0)") }.joined())
                + entity("G", (0..<count).map { relationship("g\($0)", "F", "f\($0)") }.joined()))
        #expect(file.model["E"]?.entity.indexes.count == count + 1)
        #expect(file.model["E"]?.identityColumns.count == count)
        #expect(file.model["F"]?.relationships.last?.inverse == count - 1)
    }
}
