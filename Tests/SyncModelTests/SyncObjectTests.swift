import Foundation
import OneWayTestLimits
import SyncModel
import Testing

@Suite(.endsInTime) struct SyncObjectTests {
    enum Role: String, Codable, CaseIterable, Sendable { case reader, editor, admin }
    enum Level: Int, Codable, Sendable { case low = 1, high = 2 }
    struct Address: Codable, Equatable, Sendable { var city: String, zip: Int? }

    struct User: SyncObject {
        var id: Int
        var name: String
        var age: Int16?
        var isActive: Bool
        var isAdmin: Bool
        var hasPaid: Bool?
        var role: Role
        var level: Level?
        var score: Double
        var born: Date?
        var link: URL?
        var token: UUID
        var balance: Decimal
        var photo: Data
        var tags: [String]
        var address: Address?
        var company: Company?
        var notes: [Note]
        var fullName: String { name + "!" }
        var isIdle: Bool { !isActive }
        var next: Int { id + 1 }

        static let declaration = SyncDeclaration<User>(
            .identity(\.id), .toMany(\.notes, inverse: \.author, ordered: true, deleteRule: .cascade),
            .attribute(\.born, remoteKey: "birthday"), .index(\.name), .unique(\.token, where: \.isActive == true))
    }

    struct Company: SyncObject {
        var id: Int
        var name: String?
        var staff: [User]

        static let declaration = SyncDeclaration<Company>("Firm", .identity(\.id), .toMany(\.staff, inverse: \.company))
    }

    struct Note: SyncObject {
        enum CodingKeys: String, CodingKey { case number, text = "body", author }
        var number: Int32
        var text: String?
        var author: Related<User?>

        static let declaration = SyncDeclaration<Note>(.identity(\.number))
    }

    @Test func anObjectThatIsNotIncludedIsNullInJSON() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let note = Note(number: 1, text: "a", author: .notIncluded)
        #expect(String(decoding: try encoder.encode(note), as: UTF8.self) == #"{"author":null,"body":"a","number":1}"#)
    }

    @Test func aTypeBecomesAModel() throws {
        let model = try DataModel(User.self)
        let expected = try DataModel {
            var user = SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string, optional: false)
                SyncAttribute("age", .int16)
                SyncAttribute("isActive", .bool, optional: false)
                SyncAttribute("isAdmin", .bool, optional: false)
                SyncAttribute("hasPaid", .bool)
                SyncAttribute(
                    "role", .string, optional: false, allowedValues: ["reader", "editor", "admin"])
                SyncAttribute("level", .int64)
                SyncAttribute("score", .double, optional: false)
                SyncAttribute("born", .date, userInfo: ["sync.remoteKey": "birthday"])
                SyncAttribute("link", .uri)
                SyncAttribute("token", .uuid, optional: false)
                SyncAttribute("balance", .decimal, optional: false)
                SyncAttribute("photo", .binary, optional: false)
                SyncAttribute("tags", .json, optional: false)
                SyncAttribute("address", .json)
                SyncRelationship("company", toOne: "Firm", inverse: "staff")
                SyncRelationship("notes", toOrdered: "Note", inverse: "author", deleteRule: .cascade)
            }
            let _ =
                user.indexes = [
                    SyncEntity.Index(["name"]),
                    SyncEntity.Index(["token"], unique: true, where: PropertyPath("isActive") == true),
                ]
            user
            SyncEntity("Firm", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncRelationship("staff", toMany: "User", inverse: "company")
            }
            SyncEntity("Note", identity: "number") {
                SyncAttribute("number", .int32, optional: false)
                SyncAttribute("body", .string)
                SyncRelationship("author", toOne: "User", inverse: "notes")
            }
        }
        #expect(Set(model.entities) == Set(expected.entities))
    }

    @Test func keyPathsBecomeNames() throws {
        func text(_ predicate: ObjectPredicate<User>) throws -> RecordPredicate { try predicate.recordPredicate() }
        #expect(try text(\.age > 30) == (PropertyPath("age") > 30))
        #expect(try text(\.isAdmin == true) == (PropertyPath("isAdmin") == true))
        #expect(try text(\.company.name == "Apple") == (PropertyPath("company.name") == "Apple"))
        #expect(try text(\.company == nil) == PropertyPath("company").isNull)
        #expect(
            try text(\.role == .admin || \.level == .high)
                == (PropertyPath("role") == "admin" || PropertyPath("level") == 2))
        #expect(try text(.in(\.role, [.reader, .editor])) == PropertyPath("role").isIn(["reader", "editor"]))
        #expect(try text(\.notes.count >= 3) == (PropertyPath("notes.@count") >= 3))
        #expect(
            try text(.any(\.notes, where: .like(\.text, "a%") && \.author.name == "x"))
                == PropertyPath("notes").any(PropertyPath("body").like("a%") && PropertyPath("author.name") == "x"))
        #expect(
            try text(.count(\.notes, where: \.number > 1, in: 2...))
                == .related(PropertyPath("notes"), .count(2...Int.max - 1), PropertyPath("number") > 1))
        #expect(
            try text(!(\.born == nil) && \.score < 2) == (!PropertyPath("born").isNull && PropertyPath("score") < 2.0))
    }

    @Test func criteriaBecomeOrderings() throws {
        let user = ObjectParts.Fields<User>()
        let cases: [(ObjectParts.Order, Ordering)] = [
            (user.name.order, Ordering("name")), (user.name.order.order, Ordering("name")),
            (user.name.nullsLast, Ordering("name", nulls: .last)),
            (user.company.id.descending, Ordering("company.id", ascending: false)),
            (user.score.descending.nullsLast, Ordering("score", ascending: false, nulls: .last)),
            (user.notes.count.order, Ordering("notes.@count")),
        ]
        for (order, ordering) in cases { #expect(try order.ordering() == ordering) }
    }

    // Overloads: the compiler chooses the first one for a path that a condition accepts.
    private func isAccepted<Value: ObjectParts.RelatedValue>(_ path: ObjectParts.Path<User, Value>) -> Bool { true }
    private func isAccepted<Value>(_ path: ObjectParts.Path<User, Value>) -> Bool { false }

    @Test func aPathThroughAListIsOnlyForIncluding() {
        #expect(isAccepted(\.notes) && isAccepted(\.company) && isAccepted(\.company.staff))
        #expect(!isAccepted(\.notes.author) && !isAccepted(\.company.staff.notes) && !isAccepted(\.name))
    }

    @Test func aComputedPropertyIsNoAttribute() throws {
        func error(_ predicate: ObjectPredicate<User>) -> SyncDeclarationError? {
            do throws(SyncDeclarationError) { _ = try predicate.recordPredicate() } catch { return error }
            return nil
        }
        for (predicate, path) in [
            (\.fullName == "x", "fullName"), (\.isIdle == true, "isIdle"), (\.next == 2, "next"),
        ] as [(ObjectPredicate<User>, String)] {
            guard case .unknownKeyPath("User", let found) = error(predicate) else {
                Issue.record("\(path) was taken for an attribute")
                continue
            }
            #expect(found.contains("User"), "\(path)")
        }
    }

    struct Wide: SyncObject {
        var flags: [String: Bool]
        var a: Bool, b: Bool, c: Bool, d: Bool, e: Bool, f: Bool, g: Bool, h: Bool, i: Bool, j: Bool, k: Bool
        static let declaration = SyncDeclaration<Wide>()
    }

    @Test func manyBooleansAreToldApart() throws {
        let paths: [(ObjectPredicate<Wide>, String)] = [
            (\.a == true, "a"), (\.b == true, "b"), (\.c == true, "c"), (\.d == true, "d"), (\.e == true, "e"),
            (\.f == true, "f"), (\.g == true, "g"), (\.h == true, "h"), (\.i == true, "i"), (\.j == true, "j"),
            (\.k == true, "k"),
        ]
        for (predicate, name) in paths {
            #expect(try predicate.recordPredicate() == (PropertyPath(name) == true))
        }
    }

    struct Picky: SyncObject {
        enum Kind: String, Codable, Sendable { case circle, square }
        var kind: Kind
        static let declaration = SyncDeclaration<Picky>()
    }

    @Test func anEnumWithUnknownCasesIsAnErrorThatNamesIt() {
        #expect(throws: SyncDeclarationError.self) { try DataModel(Picky.self) }
        do { _ = try DataModel(Picky.self) } catch {
            #expect("\(error)".contains("Picky.kind"))
            #expect("\(error)".contains("CaseIterable"))
        }
    }

    @Test func everyDifferenceFromAModelIsNamed() throws {
        let model = try DataModel {
            SyncEntity("Firm", identity: "name") {
                SyncAttribute("id", .string)
                SyncAttribute("name", .string)
            }
            SyncEntity("Note", identity: "number") {
                SyncAttribute("number", .int16, optional: false)
                SyncAttribute("author", .string)
                SyncRelationship("body", toMany: "Firm")
            }
        }
        #expect(
            throws: SyncDeclarationError.differences([
                .otherType(entity: "Firm", property: "id", declared: .int64, model: .string),
                .nullable(entity: "Firm", property: "id"), .noProperty(entity: "Firm", property: "staff"),
                .otherIdentity(entity: "Firm", declared: ["id"], model: ["name"]),
                .otherKind(entity: "Note", property: "body"), .otherKind(entity: "Note", property: "author"),
                .noEntity(type: "User", entity: "User"),
            ])
        ) { try model.check(Company.self, Note.self, User.self) }
        try DataModel(User.self).check(User.self, Company.self, Note.self)
    }

    @Test(arguments: [
        ("", "", true), ("", "a", false), ("%", "", true), ("%", "abc", true), ("a%", "abc", true), ("a%", "ba", false),
        ("%c", "abc", true), ("%b%", "abc", true), ("_", "é", true), ("_", "ab", false), ("a_c", "abc", true),
        ("a\\%", "a%", true), ("a\\%", "ab", false), ("%a%b%", "xaxbx", true), ("%a%b", "ab a", false),
        ("A", "a", false), ("\\", "\\", true), ("%%", "x", true), ("%ab", "aab", true),
    ])
    func patternsMatch(pattern: String, text: String, isMatch: Bool) {
        #expect(LikePattern.matches(Array(text.utf8), pattern: Array(pattern.utf8)) == isMatch)
    }
}
