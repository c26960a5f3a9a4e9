import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Statements that select columns, groups and what comes after a position.
@Suite(.endsInTime) struct SelectionTextTests {
    private let world: StatementWorld

    init() throws {
        world = try StatementWorld()
    }

    private func texts(_ selections: [StoreSelection]) throws -> [String] {
        try selections.map { try world.text(of: $0, for: \.sqlite) }
    }

    @Test func columnsAreSelected() throws {
        let columns: [StoreSelection.Column] = [
            .object, .value(PropertyPath("title")), .value(PropertyPath("owner.name")),
            .value(PropertyPath("tags.@count")),
            .target(PropertyPath("owner")), .target(PropertyPath("owner.items")),
        ]
        let query = StoreQuery(
            "Item", where: PropertyPath("count") > 1, orderedBy: [Ordering("title")], limit: 3, offset: 1)
        #expect(
            try texts([StoreSelection(query, columns: Array(columns.dropLast()))]) == [
                #"SELECT t."_id", t."title", (SELECT r1."name" FROM "Owner" r1 WHERE r1."_id" = "#
                    + #"t."owner"), (SELECT count(*) FROM "Item_tags" r2 WHERE r2."Item" = t."_id"), t."owner" "#
                    + #"FROM "Item" t WHERE (t."count" > ?) ORDER BY t."title" COLLATE BINARY ASC NULLS FIRST, "#
                    + #"t."_id" LIMIT ? OFFSET ? <- 1, 3, 1"#
            ])
        let label = StoreSelection(
            StoreQuery("Label"), columns: [.target(PropertyPath("item")), .value(PropertyPath("item.owner.id"))])
        #expect(
            try texts([label]) == [
                #"SELECT (SELECT r1."_id" FROM "Item" r1 WHERE r1."label" = t."_id"), (SELECT (SELECT "#
                    + #"r3."id" FROM "Owner" r3 WHERE r3."_id" = r2."owner") FROM "Item" r2 WHERE r2."label" = "#
                    + #"t."_id") FROM "Label" t ORDER BY t."_id""#
            ])
    }

    @Test func groupsAreOrderedByTheirKeys() throws {
        let query = StoreQuery("Item", objects: .except(ObjectSet([3])), orderedBy: [Ordering("count")])
        let group = StoreSelection(
            query,
            columns: [
                .value(PropertyPath("title")), .target(PropertyPath("owner")), .count,
                .aggregate(.sum, PropertyPath("count")),
                .aggregate(.average, PropertyPath("size")), .aggregate(.minimum, PropertyPath("title")),
                .aggregate(.maximum, PropertyPath("price")),
            ])
        var distinct = StoreSelection(query, columns: [.target(PropertyPath("owner")), .object])
        distinct.isDistinct = true
        let one = StoreSelection(StoreQuery("Item"), columns: [.count])
        #expect(
            try texts([group, distinct, one]) == [
                #"SELECT (t."title" COLLATE BINARY), t."owner", count(*), sync_integer_sum(t."count"), "#
                    + #"sync_average(t."size"), min(t."title" COLLATE BINARY), max(t."price" COLLATE "#
                    + #"sync_decimal) FROM "Item" t WHERE NOT sync_contains(?, t."_id") GROUP BY (t."title" "#
                    + #"COLLATE BINARY), t."owner" ORDER BY (t."title" COLLATE BINARY) ASC NULLS FIRST, "#
                    + #"t."owner" ASC NULLS FIRST <- 7"#,
                #"SELECT t."owner", t."_id" FROM "Item" t WHERE NOT sync_contains(?, t."_id") GROUP BY "#
                    + #"t."owner", t."_id" ORDER BY t."owner" ASC NULLS FIRST, t."_id" ASC NULLS FIRST <- 7"#,
                #"SELECT count(*) FROM "Item" t"#,
            ])
        var some = group
        some.query = StoreQuery("Item", objects: .only([3]))
        let lines = [try world.text(of: some, for: \.postgres)]
        #expect(
            lines == [
                #"SELECT (t."title"::text COLLATE "C")::text, t."owner", count(*), sum(t."count")::bigint, "#
                    + #"avg(t."size")::double precision, min(t."title"::text COLLATE "C")::text, "#
                    + #"max(t."price")::numeric::text FROM "Item" t WHERE t."_id" = ANY($1::bigint[]) GROUP BY "#
                    + #"(t."title"::text COLLATE "C"), t."owner" ORDER BY (t."title"::text COLLATE "C") "#
                    + #"ASC NULLS FIRST, "#
                    + #"t."owner" ASC NULLS FIRST <- [3]"#
            ])
    }

    @Test func aSelectionGoesOnAfterAPosition() throws {
        func after(_ ordering: [Ordering], _ values: [AttributeValue]) -> StoreSelection {
            var selection = StoreSelection(StoreQuery("Item", orderedBy: ordering), columns: [.object])
            selection.after = StoreSelection.Position(values: values, object: 5)
            return selection
        }
        let selections = [
            after([], []), after([Ordering("count")], [1]), after([Ordering("count")], [.null]),
            after([Ordering("count", ascending: false)], [1]),
            after([Ordering("count", nulls: .last)], [1]), after([Ordering("count", nulls: .last)], [.null]),
            after([Ordering("count", ascending: false, nulls: .last), Ordering("size")], [1, 2.5]),
            after([Ordering("count"), Ordering("size", ascending: false, nulls: .last)], [1, .null]),
        ]
        #expect(
            try texts(selections) == [
                #"SELECT t."_id" FROM "Item" t WHERE ((t."_id" > ?)) ORDER BY t."_id" <- 5"#,
                #"SELECT t."_id" FROM "Item" t WHERE t."count" >= ? AND ((t."count" > ?) OR (t."count" = "#
                    + #"? AND t."_id" > ?)) ORDER BY t."count" ASC NULLS FIRST, t."_id" <- 1, 1, 1, 5"#,
                #"SELECT t."_id" FROM "Item" t WHERE ((t."count" IS NOT NULL) OR (t."count" IS NULL AND "#
                    + #"t."_id" > ?)) ORDER BY t."count" ASC NULLS FIRST, t."_id" <- 5"#,
                #"SELECT t."_id" FROM "Item" t WHERE t."count" <= ? AND ((t."count" < ?) OR (t."count" = "#
                    + #"? AND t."_id" > ?)) ORDER BY t."count" DESC NULLS LAST, t."_id" <- 1, 1, 1, 5"#,
                #"SELECT t."_id" FROM "Item" t WHERE (((t."count" > ? OR t."count" IS NULL)) OR "#
                    + #"(t."count" = ? AND t."_id" > ?)) ORDER BY t."count" ASC NULLS LAST, t."_id" <- 1, 1, 5"#,
                #"SELECT t."_id" FROM "Item" t WHERE ((t."count" IS NULL AND t."_id" > ?)) ORDER BY "#
                    + #"t."count" ASC NULLS LAST, t."_id" <- 5"#,
                #"SELECT t."_id" FROM "Item" t WHERE (((t."count" < ? OR t."count" IS NULL)) OR "#
                    + #"(t."count" = ? AND t."size" > ?) OR (t."count" = ? AND t."size" = ? AND t."_id" > ?)) "#
                    + #"ORDER BY t."count" DESC NULLS LAST, t."size" ASC NULLS FIRST, t."_id" <- 1, 1, 2.5, 1, "#
                    + "2.5, 5",
                #"SELECT t."_id" FROM "Item" t WHERE t."count" >= ? AND ((t."count" > ?) OR (t."count" = "#
                    + #"? AND t."size" IS NULL AND t."_id" > ?)) ORDER BY t."count" ASC NULLS FIRST, t."size" "#
                    + #"DESC NULLS LAST, t."_id" <- 1, 1, 1, 5"#,
            ])
    }
}
