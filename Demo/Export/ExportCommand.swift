import CoreDataModel
import HTTPTransfer
import JSONMapper
import StoreSync
import SyncModel
import SyncStore

/// The command `Demo export`, which prints objects of a store as JSON.
struct ExportCommand {
    let arguments: ExportArguments
    let console: Console

    /// Runs the command until it ends or is interrupted.
    ///
    /// - Returns: The exit code.
    func run() async -> Int32 {
        await InterruptHandler.cancelling {
            do {
                try await export()
                return ExitCode.done
            } catch is CancellationError {
                console.printError("stopped; the JSON is not whole")
                return ExitCode.interrupted
            } catch {
                console.printError("failed: \(PrintableText.line("\(error)", limit: 1_000))")
                return ExitCode.failed
            }
        }
    }

    private func export() async throws {
        let mapper = try RecordMapper(try await model(), dialect: arguments.dialect)
        let store = try JSONStore(try await arguments.store.openForReading(mapper.model), mapper: mapper)
        var options = ExportOptions()
        options.relationships = arguments.relationships
        options.keyStyle = arguments.keyStyle
        options.style = .pretty
        try await store.export(StoreQuery(arguments.entity, where: arguments.predicate), options: options) { piece in
            // A piece ends between two objects, so no character is split.
            console.write(String(decoding: piece, as: UTF8.self))
        }
        console.print()
    }

    private func model() async throws -> DataModel {
        if let file = arguments.model { return try ModelChoice.given(file, warn: console.printError).model }
        guard let kept = try await arguments.store.keptModel() else { throw StoreLocationError.noModel }
        return kept
    }
}
