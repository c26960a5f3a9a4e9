import JSONMapper
import StoreSync
import SyncModel
import SyncStore

/// The command `Demo export`, which prints objects of a store as JSON.
struct ExportCommand: Command {
    let arguments: ExportArguments
    let console: Console

    func perform() async throws {
        let store = try await arguments.store.openForReading(
            model: arguments.model, dialect: arguments.dialect, warn: console.printWarning)
        let output = JSONOutput(arguments.layout, console: console)
        var options = RecordMapper.Exporter.Options()
        options.relationships = arguments.relationships
        options.keyStyle = arguments.keyStyle
        options.style = output.style
        do {
            try await store.export(StoreQuery(arguments.entity, where: arguments.predicate), options: options) {
                piece in
                try await output.write(piece)
            }
        } catch {
            throw NameError.explaining(error, in: store.mapper.model)
        }
        try await output.finish()
    }
}
