import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Lists of the children of a stored object.
@Suite(.endsInTime) struct ChildListTests {
    /// The object with the unsuitable key may be the note that the list lacks.
    @Test func aChildThatIsPerhapsAbsentStaysWithItsParent() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":1},{"id":2}]}]"#)
        let user = StoreSyncOptions.Parent("User", where: PropertyPath("id") == 1)
        let result = try await world.sync(#"[{"id":1},{"id":"two"}]"#, into: "Note", childrenOf: user)
        #expect(result.counts.all == [0, 0, 1, 0] && result.counts.kept == 1)
        #expect(try await world.column("id", of: "Note", where: "user.id = 1") == [1, 2])
    }

    @Test(arguments: ["User", "Company"])
    func absentChildrenStayWithTheirParentIfNothingIsDeleted(parent: String) async throws {
        let world = try SyncWorld()
        try await world.sync(
            #"[{"id":1,"notes":[{"id":1},{"id":2}],"company":{"id":1}},{"id":2,"company":{"id":1}}]"#)
        let object = StoreSyncOptions.Parent(parent, where: PropertyPath("id") == 1)
        let (entity, path) = parent == "User" ? ("Note", "user") : ("User", "company")
        try await world.sync(#"[{"id":1}]"#, into: entity, childrenOf: object, .all.subtracting(.delete))
        #expect(try await world.column("id", of: entity, where: "\(path).id = 1") == [1, 2])
    }

    @Test(arguments: [true, false])
    func aChildOfAnotherParentComesOnlyIfObjectsAreUpdated(updates: Bool) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":1}]},{"id":2,"notes":[{"id":2}]}]"#)
        let user = StoreSyncOptions.Parent("User", where: PropertyPath("id") == 1)
        try await world.sync(
            #"[{"id":1},{"id":2},{"id":3}]"#, into: "Note", childrenOf: user,
            updates ? .all : .all.subtracting(.update))
        #expect(try await world.column("id", of: "Note", where: "user.id = 1") == (updates ? [1, 2, 3] : [1, 3]))
    }
}
