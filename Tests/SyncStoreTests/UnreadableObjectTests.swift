import OneWayStoreKinds
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Typed reads of stored objects that the type cannot hold.
@Suite(.serialized, .endsInTime) struct UnreadableObjectTests {
    enum Grade: String, Codable, CaseIterable, Sendable { case low, high }

    struct User: SyncObject, Equatable {
        var id: Int
        var name: String
        var grade: Grade?
        var boss: Related<User?>
        var staff: Related<[User]>

        static let declaration = SyncDeclaration<User>(.identity(\.id), .toMany(\.staff, inverse: \.boss))
    }

    private static let missing = ObjectReadingError.UnreadableObject(
        key: .identity(2), error: .missingValue(entity: "User", property: "name"))

    /// Stores users without the checks of typed writes: 2 has no name, 4 an unknown grade.
    private func withUsers(_ kind: StoreKind, _ body: @Sendable (any Store) async throws -> Void) async throws {
        try await kind.use { makeStore in
            let store = try await makeStore(try DataModel(User.self))
            let layout = try store.model.layout(of: "User")
            let relationship = try #require(layout.relationship("boss"))
            try await store.transaction { transaction in
                var batch = RecordBatch(of: layout)
                let users: [[String: AttributeValue]] = [
                    ["id": 1, "name": "Ada"], ["id": 2], ["id": 3, "name": "Cyd", "grade": "low"],
                    ["id": 4, "name": "Dan", "grade": "middle"],
                ]
                for user in users {
                    batch.beginRecord()
                    for (name, value) in user {
                        batch.setValue(value, at: try #require(layout.column(of: name)))
                    }
                    batch.endRecord()
                }
                let rows = try await transaction.merge(MergeRequest(batch)).rows.compactMap { $0?.object }
                var links = LinkBatch(relationship, mode: .replace)
                links.append(rows[2], to: [rows[1]])
                links.append(rows[0], to: [rows[2]])
                _ = try await transaction.link(links)
            }
            try await body(store)
        }
    }

    @Test(arguments: StoreKind.all) func theErrorNamesTheObject(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            let error = ObjectReadingError.unreadable(Self.missing)
            await #expect(throws: error) { try await store.all(User.self, orderedBy: \.id) }
            await #expect(throws: error) { try await store.page(ObjectQuery(User.self, orderedBy: \.id)) }
            await #expect(throws: error) {
                try await store.all(User.self, where: \.id == 3, including: \.boss)
            }
            #expect(error.description == "2: User.name has no value")
            var object = ObjectReadingError.UnreadableObject(
                key: .identity(4), error: .wrongType(entity: "User", property: "grade", type: "Grade"))
            object.value = "middle"
            object.allowedValues = ["low", "high"]
            await #expect(throws: ObjectReadingError.unreadable(object)) {
                try await store.all(User.self, where: \.id > 2)
            }
            let text = #"4: User.grade does not fit Grade, whose values are "low", "high""#
            #expect(ObjectReadingError.unreadable(object).description == text)
            #expect(String(reflecting: ObjectReadingError.unreadable(object)) == #"\#(text); the value is "middle""#)
            let first = try await store.all(User.self, where: \.id == 1)
            #expect(first.map(\.name) == ["Ada"])
        }
    }

    @Test(arguments: StoreKind.all) func theOthersCanBeRead(kind: StoreKind) async throws {
        try await withUsers(kind) { store in
            let read = try await store.readable(ObjectQuery(User.self, orderedBy: \.id))
            #expect(read.objects.map(\.name) == ["Ada", "Cyd"])
            #expect(Set(read.unreadable.map(\.key)) == [.identity(2), .identity(4)])
            let related = try await store.readable(
                ObjectQuery(User.self, where: \.id == 3 || \.id == 1, orderedBy: \.id, including: \.boss))
            #expect(related.objects.map { $0.boss.value??.name } == ["Cyd", nil])
            #expect(related.unreadable == [Self.missing])
        }
    }
}
