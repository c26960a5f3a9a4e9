#if canImport(Observation)
public import Observation
public import SyncModel

/// The objects of a query for views that observe, such as those of SwiftUI.
///
///     struct UserList: View {
///         @State var users: ObservedObjects<User>
///         var body: some View { List(users.objects, id: \.id) { Text($0.name) } }
///     }
///     UserList(users: ObservedObjects(ObjectQuery(orderedBy: \.name), in: store))
///
/// Observation needs macOS 14, iOS 17, tvOS 17 or watchOS 10.
///
/// The objects are empty until the first read ends. Observation ends when the last reference is
/// released.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor
public final class ObservedObjects<Object: SyncObject> {
    private let registrar = ObservationRegistrar()
    private var state: (objects: [Object], error: (any Error)?, isLoaded: Bool) = ([], nil, false)
    private var task: Task<Void, Never>?

    /// Begins to observe a query.
    public init(_ query: ObjectQuery<Object>, in store: some Store) {
        let values = store.values(of: query)
        task = Task { [weak self] in
            do {
                for try await objects in values {
                    guard let self else { return }
                    self.change { $0 = (objects, nil, true) }
                }
            } catch {
                self?.change { $0.error = error }
            }
        }
    }

    deinit {
        task?.cancel()
    }

    /// The objects as of the last commit that changed them.
    public var objects: [Object] {
        registrar.access(self, keyPath: \.objects)
        return state.objects
    }

    /// The error that ended the observation; nil while the observation continues.
    public var error: (any Error)? {
        registrar.access(self, keyPath: \.error)
        return state.error
    }

    /// Whether the first read has ended.
    public var isLoaded: Bool {
        registrar.access(self, keyPath: \.isLoaded)
        return state.isLoaded
    }

    private func change(_ body: (inout (objects: [Object], error: (any Error)?, isLoaded: Bool)) -> Void) {
        registrar.withMutation(of: self, keyPath: \.objects) {
            registrar.withMutation(of: self, keyPath: \.error) {
                registrar.withMutation(of: self, keyPath: \.isLoaded) { body(&state) }
            }
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension ObservedObjects: Observable {}
#endif
