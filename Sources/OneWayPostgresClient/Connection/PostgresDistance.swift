#if Postgres
/// How long the answers of a server are on their way.
package struct PostgresDistance: Sendable {
    /// The shortest time that an answer took besides the work of the server; nil before the first.
    private var shortest: Duration?

    /// Creates a distance that is not known.
    package init() {}

    /// Notes how long an answer took, and for how much of this time the server worked.
    package mutating func note(_ time: Duration, working work: Duration) {
        let time = max(time - work, .zero)
        shortest = min(shortest ?? time, time)
    }

    /// Whether every answer took at least a time; false if the distance is not known.
    package func isAtLeast(_ time: Duration) -> Bool {
        shortest.map { $0 >= time } ?? false
    }
}
#endif
