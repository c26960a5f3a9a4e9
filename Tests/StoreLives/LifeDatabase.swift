package import SyncModel
package import SyncStore

/// A database that lives beside a store in memory.
package protocol LifeDatabase: Sendable {
    /// Whether somebody else makes the tables, which can only get further columns.
    var isExisting: Bool { get }

    /// Makes the tables of somebody else.
    ///
    /// - Parameter fields: The attributes of each entity beside the identity.
    func prepare(_ fields: [String: [Field]]) async throws
    /// Opens a store of the database, whose tables may have been made for another model.
    func open(_ model: DataModel, version: Int) async throws -> any Store
    /// Replaces the database by one that a function fills.
    ///
    /// - Returns: Nil if such stores cannot do that.
    func rebuild(
        _ model: DataModel, version: Int, _ fill: @escaping @Sendable (any Store) async throws -> Void
    ) async throws -> (any Store)?
    /// What changes with everything that is written, be it the same as before.
    func writtenState() async throws -> [String]
    /// Verifies that the database is sound.
    func check(_ place: String) async throws
}
