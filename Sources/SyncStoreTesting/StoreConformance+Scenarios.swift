public import Foundation
public import SyncModel
public import SyncStore
public import Testing

extension StoreConformance {
    /// Runs all scenarios of a folder, each on a store of its own; ``StoreScenario`` says what the folder holds.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - sourceLocation: Where issues are recorded; the caller's place by default.
    ///   - makeStore: Makes an empty store for the objects of a model.
    /// - Throws: What says which file cannot be read, and why.
    public static func checkScenarios(
        in folder: URL, sourceLocation: SourceLocation = #_sourceLocation, _ makeStore: MakeStore
    ) async throws {
        for scenario in try StoreScenario.all(in: folder) {
            await scenario.check(sourceLocation: sourceLocation, makeStore)
        }
    }
}
