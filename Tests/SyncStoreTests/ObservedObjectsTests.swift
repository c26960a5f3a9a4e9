#if canImport(Observation)
import Observation
import OneWayStoreTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// Views see the objects of a query, and what became of the observation.
@Suite(.serialized, .endsInTime) struct ObservedObjectsTests {
    struct User: SyncObject, Equatable {
        var id: Int
        var name: String
        static let declaration = SyncDeclaration<User>(.identity(\.id))
    }

    /// Waits until what a function reads has changed.
    @MainActor
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private func change(of body: () -> Void) async {
        await withCheckedContinuation { continuation in
            withObservationTracking {
                body()
            } onChange: {
                continuation.resume()
            }
        }
        // The change itself follows on the main actor.
        await Task { @MainActor in }.value
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test @MainActor func viewsObserveTheObjects() async throws {
        let store = MemoryStore(exactly: try DataModel(User.self))
        let users = ObservedObjects(ObjectQuery<User>(orderedBy: \.id), in: store)
        #expect(!users.isLoaded && users.objects.isEmpty && users.error == nil)
        await change { _ = users.objects }
        #expect(users.isLoaded && users.objects.isEmpty)
        async let inserted: Void = store.insert(User(id: 1, name: "Ada"))
        await change { _ = users.objects }
        try await inserted
        #expect(users.objects.map(\.name) == ["Ada"])
        #expect(users.error == nil)
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test @MainActor func viewsObserveWhetherTheObjectsAreLoaded() async throws {
        let users = ObservedObjects(ObjectQuery<User>(), in: MemoryStore(exactly: try DataModel(User.self)))
        await change { _ = users.isLoaded }
        #expect(users.isLoaded)
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test @MainActor func viewsObserveTheErrorThatEndsTheObservation() async throws {
        let silent = HookedStore(MemoryStore(exactly: try DataModel(User.self)), NoHook())
        let users = ObservedObjects(ObjectQuery<User>(), in: silent)
        await change { _ = users.error }
        #expect(users.error as? ObjectReadingError == .notObservable)
        #expect(!users.isLoaded && users.objects.isEmpty)
    }
}
#endif
