import Foundation
import JSONMapper
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct ExportCycleTests {
    private static func entity(_ name: String, _ relationships: SyncRelationship...) -> SyncEntity {
        SyncEntity(name, attributes: [SyncAttribute("id", .int64)], relationships: relationships)
    }

    @Test func theWayStraightBackIsLeftOut() throws {
        let model = try DataModel([
            Self.entity("User", SyncRelationship("notes", toMany: "Note", inverse: "user")),
            Self.entity("Note", SyncRelationship("user", toOne: "User", inverse: "notes")),
        ])
        let user = GraphNode(model.layouts[0], ["id": 1])
        let notes = [2, 3].map { GraphNode(model.layouts[1], ["id": .int($0)]) }
        user["notes"] = notes
        for note in notes { note["user"] = [user] }
        let exporter = try RecordMapper.Exporter(model)
        #expect(try exporter.text(of: user) == #"{"id":1,"notes":[{"id":2},{"id":3}]}"#)
        #expect(try exporter.text(of: notes[0]) == #"{"id":2,"user":{"id":1}}"#)
    }

    @Test func aRingEndsWithTheAttributesOfItsStart() throws {
        let model = try DataModel([Self.entity("Node", SyncRelationship("next", toOne: "Node"))])
        let nodes = (1...3).map { GraphNode(model.layouts[0], ["id": .int($0)]) }
        for index in nodes.indices { nodes[index]["next"] = [nodes[(index + 1) % 3]] }
        #expect(
            try RecordMapper.Exporter(model).text(of: nodes[0])
                == #"{"id":1,"next":{"id":2,"next":{"id":3,"next":{"id":1}}}}"#)
        let alone = GraphNode(model.layouts[0], ["id": 9])
        alone["next"] = [alone]
        #expect(try RecordMapper.Exporter(model).text(of: alone) == #"{"id":9,"next":{"id":9}}"#)
    }

    @Test func whatIsOnNoCycleIsWrittenInFullEachTime() throws {
        let model = try DataModel([
            Self.entity("Order", SyncRelationship("products", toMany: "Product", inverse: "orders")),
            Self.entity(
                "Product", SyncRelationship("orders", toMany: "Order", inverse: "products"),
                SyncRelationship("maker", toOne: "Maker")),
            Self.entity("Maker"),
        ])
        let order = GraphNode(model.layouts[0], ["id": 1])
        let product = GraphNode(model.layouts[1], ["id": 2])
        let maker = GraphNode(model.layouts[2], ["id": 3])
        product["maker"] = [maker]
        product["orders"] = [order]
        order["products"] = [product, product]
        let one = #"{"id":2,"maker":{"id":3}}"#
        #expect(try RecordMapper.Exporter(model).text(of: order) == #"{"id":1,"products":[\#(one),\#(one)]}"#)
    }

    @Test func exportsOfFullyConnectedObjectsEnd() throws {
        let model = try DataModel([Self.entity("Person", SyncRelationship("friends", toMany: "Person"))])
        let people = (0..<60).map { GraphNode(model.layouts[0], ["id": .int($0)]) }
        for person in people { person["friends"] = people }
        let text = try RecordMapper.Exporter(model).text(of: people[0])
        // Each in full once, and once below each as attributes: no more than the links there are.
        #expect(text.components(separatedBy: #""id":"#).count - 1 == 1 + 60 * 60)
        #expect(text.components(separatedBy: #""friends":"#).count - 1 == 60)
    }

    @Test func aWebOfManyToManyRelationshipsEnds() throws {
        let model = try DataModel([
            Self.entity(
                "User", SyncRelationship("notes", toMany: "Note", inverse: "users"),
                SyncRelationship("tags", toMany: "Tag", inverse: "users")),
            Self.entity(
                "Note", SyncRelationship("users", toMany: "User", inverse: "notes"),
                SyncRelationship("tags", toMany: "Tag", inverse: "notes")),
            Self.entity(
                "Tag", SyncRelationship("users", toMany: "User", inverse: "tags"),
                SyncRelationship("notes", toMany: "Note", inverse: "tags")),
        ])
        let all = model.layouts.map { layout in (0..<12).map { GraphNode(layout, ["id": .int($0)]) } }
        for user in all[0] { (user["notes"], user["tags"]) = (all[1], all[2]) }
        for note in all[1] { (note["users"], note["tags"]) = (all[0], all[2]) }
        for tag in all[2] { (tag["users"], tag["notes"]) = (all[0], all[1]) }
        for relationships in RecordMapper.Exporter.Options.Relationships.allCases {
            var options = RecordMapper.Exporter.Options()
            options.relationships = relationships
            let bytes = try RecordMapper.Exporter(model, options: options).bytes(of: all[0][0])
            #expect(bytes.count < 100_000)
            #expect(throws: Never.self) { try JSONValue(parsing: bytes) }
        }
    }

    @Test func aSubEntityCanCloseACycle() throws {
        let model = try DataModel([
            Self.entity("Base"), Self.entity("Holder", SyncRelationship("bases", toMany: "Base")),
            SyncEntity(
                "Sub", parent: "Base", attributes: [], relationships: [SyncRelationship("holder", toOne: "Holder")]),
        ])
        let holder = GraphNode(model.layouts[1], ["id": 1])
        let sub = GraphNode(model.layouts[2], ["id": 2])
        holder["bases"] = [sub, sub]
        sub["holder"] = [holder]
        #expect(
            try RecordMapper.Exporter(model).text(of: holder)
                == #"{"id":1,"bases":[{"id":2,"holder":{"id":1}},{"id":2}]}"#)
    }

    @Test func aChainThatIsTooLongIsAnError() throws {
        let model = try DataModel([Self.entity("Node", SyncRelationship("next", toOne: "Node"))])
        let nodes = (0..<5000).map { GraphNode(model.layouts[0], ["id": .int($0)]) }
        for (node, next) in zip(nodes, nodes.dropFirst()) { node["next"] = [next] }
        var options = RecordMapper.Exporter.Options()
        for depth in [1, 128, 2048] {
            options.maximumDepth = depth
            let exporter = try RecordMapper.Exporter(model, options: options)
            #expect(throws: MappingError.nestedTooDeep(entity: "Node", maximumDepth: depth)) {
                try exporter.bytes(of: nodes[0])
            }
            #expect(throws: Never.self) { try exporter.bytes(of: nodes[5000 - depth]) }
        }
        options.maximumDepth = 1_000_000
        #expect(options.maximumDepth == 2048)
    }
}
