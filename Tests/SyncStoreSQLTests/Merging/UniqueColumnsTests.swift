import OneWayTestLimits
import SyncModel
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// What a row has in the columns of a unique index while another row has its values.
@Suite(.endsInTime) struct UniqueColumnsTests {
    private static func schema(_ type: AttributeType) throws -> SQLSchema {
        SQLSchema(
            try DataModel {
                SyncEntity("Item", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("value", type)
                    SyncAttribute("other", .int64)
                }
            }, dialect: .sqlite)
    }

    private static func contents(
        _ index: SQLUniqueColumns.Index, _ type: AttributeType = .string, mandatory: Set<String> = []
    ) throws -> [String: SQLUniqueColumns.Content] {
        let schema = try schema(type)
        let layout = try schema.model.layout(of: "Item")
        let columns = SQLUniqueColumns([index], of: layout, in: schema, mandatory: mandatory)
        return Dictionary(
            uniqueKeysWithValues: columns.contents.map { (layout.attributes[$0.key].name, $0.value) })
    }

    @Test func aColumnThatAcceptsNullIsEmpty() throws {
        #expect(try Self.contents(.init(keys: ["value", "other"])) == ["value": .null, "other": .null])
        #expect(try Self.contents(.init(keys: ["VALUE"])) == ["value": .null])
        // The identity is never left empty.
        #expect(try Self.contents(.init(keys: ["id", "value"])) == ["value": .null])
        // A condition that no longer holds takes the row out of the index.
        #expect(try Self.contents(.init(keys: ["id"], conditions: ["other"])) == ["other": .null])
        #expect(try Self.contents(.init(keys: ["id"], conditions: ["other"]), mandatory: ["other"]) == [:])
    }

    /// A type of few values has none that no other row has.
    @Test(arguments: [
        (AttributeType.string, true), (.int16, true), (.double, true), (.decimal, true), (.date, true), (.uuid, true),
        (.binary, true), (.uri, true), (.bool, false), (.json, false),
    ])
    func whereNullIsNoWayOutAPlaceholderIs(type: AttributeType, hasPlaceholder: Bool) throws {
        let expected: [String: SQLUniqueColumns.Content] = hasPlaceholder ? ["value": .placeholder] : [:]
        #expect(try Self.contents(.init(keys: ["value"]), type, mandatory: ["value"]) == expected)
        #expect(try Self.contents(.init(keys: ["value"], separatesNulls: false), type) == expected)
        #expect(try Self.contents(.init(keys: ["value"]), type) == ["value": .null])
    }

    /// An error names the first column in the order of names, so that it is the same each time.
    @Test func theFirstUnsuitableColumnIsNamed() throws {
        let world = try StatementWorld()
        let schema = SQLSchema(
            world.model, suppliedValues: ["Item": ["title": .syncDate, "count": .syncDate, "size": .syncDate]],
            dialect: .sqlite)
        do {
            try schema.checkSuppliedValues()
            Issue.record("no error")
        } catch {
            #expect("\(error)".contains("count has values of the model"))
        }
    }
}
