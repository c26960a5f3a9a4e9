// swift-format-ignore-file
import Foundation
import SyncModel

struct Shape: SyncObject {
    var id: Int
    var `class`: String?
    var a_b: Bool?
    var a_b2: Int16?
    var self2: Double?
    var price: Decimal?
    var madeAt: Date?
    var meta: CanonicalJSON?
    var link: URL?
    var tag: UUID?
    var color: Data?
    var Date2: Date?

    enum CodingKeys: String, CodingKey {
        case id
        case `class`
        case a_b = "a-b"
        case a_b2 = "a b"
        case self2 = "self"
        case price
        case madeAt
        case meta
        case link
        case tag
        case color
        case Date2 = "Date"
    }

    static let declaration = SyncDeclaration<Shape>(
        .abstract,
        .attribute(\.`class`, default: "é\t", allowedValues: ["é\t", "\"/"], formerName: "title"),
        .attribute(\.a_b, default: true),
        .attribute(\.a_b2, default: -7, userInfo: ["sync.allowedValues": "[ -7 ]"]),
        .attribute(\.self2, default: .double(-.infinity)),
        .attribute(\.price, default: .decimal(Decimal(string: "-12345678901234567890.25") ?? 0)),
        .attribute(\.madeAt, default: .date(Timestamp(microseconds: 1500000))),
        .attribute(\.meta, default: CanonicalJSON("{\"a\":[1.5]}")?.value ?? .null),
        .attribute(\.link, default: .uri("a:b")),
        .attribute(\.tag, default: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6)))),
        .attribute(\.color, type: .transformable, remoteKey: "hue", transformer: "ColorTransformer"),
        .unique(\.madeAt, where: \.madeAt != nil && \.tag == UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6))),
        .index(\.price, \.`class`, where: \.madeAt >= Timestamp(microseconds: 1500000).date),
        .userInfo(["a": "x", "b": "say \"\\(this)\"\n"]))
}

struct Group: SyncObject {
    var id: Int
    var `class`: String?
    var a_b: Bool?
    var a_b2: Int16?
    var self2: Double?
    var price: Decimal?
    var madeAt: Date?
    var meta: CanonicalJSON?
    var link: URL?
    var tag: UUID?
    var color: Data?
    var Date2: Date?
    var parts: Related<[Part]>

    enum CodingKeys: String, CodingKey {
        case id
        case `class`
        case a_b = "a-b"
        case a_b2 = "a b"
        case self2 = "self"
        case price
        case madeAt
        case meta
        case link
        case tag
        case color
        case Date2 = "Date"
        case parts
    }

    static let declaration = SyncDeclaration<Group>(
        .parent(Shape.self),
        .identity(\.`class`),
        .toMany(\.parts, inverse: \.group, ordered: true, deleteRule: .cascade, owns: true),
        .formerEntity("Set"))
}

struct Part: SyncObject {
    var number: Int32
    var ratio: Float?
    var group: Related<Group>

    static let declaration = SyncDeclaration<Part>(
        .identity(\.number, within: \.group),
        .attribute(\.ratio, userInfo: ["x": "y"]),
        .toOne(\.group, inverse: \.parts, formerName: "set"))
}

// Not part of the type: previous is mandatory.
struct DataObject: SyncObject {
    var id: String
    var content: Data?
    var next: Related<DataObject?>
    var previous: Related<[DataObject]>

    static let declaration = SyncDeclaration<DataObject>(
        "Data",
        .toOne(\.next, inverse: \.previous, remoteKey: "n"),
        .toMany(\.previous, inverse: \.next, userInfo: ["sync.unmapped": "YES"]))
}

struct _3_d: SyncObject {
    static let declaration = SyncDeclaration<_3_d>(
        "3 d")
}

struct caseObject: SyncObject {
    var value: Int?

    static let declaration = SyncDeclaration<caseObject>(
        "case")
}

struct Base: SyncObject {
    var owner: Related<Owner?>
}

struct Item: SyncObject {
    var owner: Related<Owner?>

    static let declaration = SyncDeclaration<Item>(
        .parent(Base.self))
}

struct Owner: SyncObject {
    var items: Related<[Item]>

    static let declaration = SyncDeclaration<Owner>(
        .toMany(\.items, inverse: \.owner))
}

/// Returns the model of all types.
func makeModel() throws -> DataModel {
    try DataModel(Shape.self, Group.self, Part.self, DataObject.self, _3_d.self, caseObject.self, Base.self, Item.self, Owner.self)
}
