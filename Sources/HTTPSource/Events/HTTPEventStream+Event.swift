public import StoreSync

extension HTTPEventStream {
    /// An event in a stream of server-sent events.
    public struct Event: Hashable, Sendable {
        /// The type; `message` if the stream specifies none.
        public var type: String
        /// The identifier of the latest event that has one, including this event; nil if there is
        /// none.
        public var id: String?
        /// The lines of the event's data, without the last line end.
        public var data: [UInt8]

        /// Creates an event.
        public init(type: String = "message", id: String? = nil, data: [UInt8]) {
            self.type = type
            self.id = id
            self.data = data
        }

        /// A reader of events whose data contain objects as JSON.
        ///
        ///     HTTPEventStream(
        ///         url, reading: HTTPEventStream.Event.objects(removals: ["user.deleted"]))
        ///
        /// Readers of several entities are combined:
        ///
        ///     let users = HTTPEventStream.Event.objects(of: "User", types: ["user.changed"])
        ///     let teams = HTTPEventStream.Event.objects(of: "Team", types: ["team.changed"])
        ///     HTTPEventStream(url, reading: { try users($0) ?? teams($0) })
        ///
        /// - Parameters:
        ///   - entity: The entity of the objects; nil, the default, for the one that the changes
        ///     are applied to.
        ///   - types: The types of events with new or changed objects; nil, the default, for all
        ///     except `removals`.
        ///   - removals: The types of events with deleted objects or their identifiers; none by
        ///     default.
        ///   - keyPath: The keys that lead to the object or the array in the data; empty by
        ///     default.
        ///   - tombstones: How the data report deleted objects; nil, the default, if they do not.
        /// - Returns: A function that returns the change in an event; nil if there is none.
        public static func objects(
            of entity: String? = nil, types: Set<String>? = nil, removals: Set<String> = [], keyPath: String = "",
            tombstones: RemotePage.Tombstones? = nil
        ) -> @Sendable (HTTPEventStream.Event) throws -> RemoteChange? {
            { event in
                if removals.contains(event.type) { return .removals(.bytes(event.data), of: entity, keyPath: keyPath) }
                guard types?.contains(event.type) ?? true else { return nil }
                return .objects(.bytes(event.data), of: entity, keyPath: keyPath, tombstones: tombstones)
            }
        }
    }
}
