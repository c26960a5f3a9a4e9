import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Join tables of other programs, whose columns have names of their own.
@Suite(.endsInTime) struct JoinNamingTests {
    @Test(arguments: UniqueDatabase.sql)
    func theColumnsOfAJoinTableCanHaveOtherNames(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            try await database.make("User", "id bigint")
            try await database.make("Group", "id bigint")
            try await database.make("memberships", "user_id bigint NOT NULL, group_id bigint NOT NULL")
            try await database.run("CREATE UNIQUE INDEX pairs ON memberships (user_id, group_id)")
            var use = UniqueDatabase.Use()
            use.naming.columns = [
                "User.groups": "memberships", "User.groups.source": "user_id", "User.groups.target": "group_id",
            ]
            let store = try await database.use(try UniqueDatabase.usersInGroups(), use)
            let pairs = """
                SELECT u.id, g.id FROM memberships m JOIN "User" u ON u.n = m.user_id \
                JOIN "Group" g ON g.n = m.group_id ORDER BY 1, 2
                """
            for (groups, rows) in [
                ("[{\"id\":7},{\"id\":8}]", [["1", "7"], ["1", "8"]]), ("[{\"id\":8}]", [["1", "8"]]),
            ] {
                let json = Array("[{\"id\":1,\"groups\":\(groups)}]".utf8)
                let mapper = try RecordMapper(store.model)
                _ = try await JSONStore(store, mapper: mapper).sync(.bytes(json), into: "User")
                #expect(try await database.rows(pairs) == rows)
            }
        }
    }
}
