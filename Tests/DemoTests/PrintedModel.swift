import Foundation
import SyncModel

func makeModel() throws(ModelError) -> DataModel {
    try DataModel([
        makeShape(),
        makeGroup(),
        makePart(),
        makeNothing(),
    ])
}

private func makeShape() -> SyncEntity {
    SyncEntity("Shape", abstract: true, identity: "id", userInfo: ["a": "x", "b": "say \"\\(this)\"\n"]) {
        SyncAttribute("id", .int64, optional: false)
        SyncAttribute("name", .string, default: .string("é\t☃"), formerName: "title")
        SyncAttribute("isVisible", .bool, default: .bool(true))
        SyncAttribute("count", .int16, default: .int(-7))
        SyncAttribute("ratio", .double, default: .double(-0.5))
        SyncAttribute("limit", .double, default: .double(.infinity))
        SyncAttribute("floor", .double, default: .double(-.infinity))
        SyncAttribute("price", .decimal, default: .decimal(Decimal(string: "-12345678901234567890.25") ?? 0))
        SyncAttribute("madeAt", .date, default: .date(Timestamp(microseconds: 1500000)))
        SyncAttribute("meta", .json, default: CanonicalJSON("{\"a\":[1.5]}")?.value ?? .null)
        SyncAttribute("link", .uri, default: .uri("a:b"))
        SyncAttribute("data", .binary, default: .binary(Data([0, 255])))
        SyncAttribute("tag", .uuid, default: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6))))
        SyncAttribute("color", .transformable, transformer: "ColorTransformer", userInfo: ["sync.remoteKey": "hue"])
    }
}

private func makeGroup() -> SyncEntity {
    SyncEntity("Group", parent: "Shape", formerName: "Set") {
        SyncRelationship("parts", toOrdered: "Part", inverse: "group", deleteRule: .cascade)
    }
}

private func makePart() -> SyncEntity {
    SyncEntity("Part", identity: "group_id", "number") {
        SyncAttribute("group_id", .int32)
        SyncAttribute("number", .float)
        SyncRelationship("group", toOne: "Group", inverse: "parts", optional: false, formerName: "set")
    }
}

private func makeNothing() -> SyncEntity {
    SyncEntity("Nothing") {}
}
