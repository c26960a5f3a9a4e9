import Foundation
import SyncModel

func makeModel() throws(ModelError) -> Model {
    try Model {
        Entity("Shape", abstract: true, identity: "id", userInfo: ["a": "x", "b": "say \"\\(this)\"\n"]) {
            Attribute("id", .int64, optional: false)
            Attribute("name", .string, default: .string("é\t☃"), formerName: "title")
            Attribute("isVisible", .bool, default: .bool(true))
            Attribute("count", .int16, default: .int(-7))
            Attribute("ratio", .double, default: .double(-0.5))
            Attribute("limit", .double, default: .double(.infinity))
            Attribute("floor", .double, default: .double(-.infinity))
            Attribute("price", .decimal, default: .decimal(Decimal(string: "-12345678901234567890.25") ?? 0))
            Attribute("madeAt", .date, default: .date(Timestamp(microseconds: 1500000)))
            Attribute("link", .uri, default: .uri("a:b"))
            Attribute("data", .binary, default: .binary(Data([0, 255])))
            Attribute("tag", .uuid, default: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))))
            Attribute("color", .transformable, transformer: "ColorTransformer", userInfo: ["sync.remoteKey": "colour"])
        }
        Entity("Group", parent: "Shape", formerName: "Set") {
            Relationship("parts", toMany: "Part", ordered: true, inverse: "group", deleteRule: .cascade)
        }
        Entity("Part", identity: "group_id", "number") {
            Attribute("group_id", .int32)
            Attribute("number", .float)
            Relationship("group", toOne: "Group", inverse: "parts", optional: false, formerName: "set")
        }
        Entity("Nothing") {}
    }
}
