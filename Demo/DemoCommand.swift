import Foundation
import SyncBase

/// The command: `Demo [tour]`, `Demo sync …`, `Demo query …` and the others of ``Invocation``.
@main
struct DemoCommand {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst()), console: Console()))
    }

    /// Runs a command line.
    ///
    /// - Returns: The exit code.
    static func run(_ arguments: [String], console: Console) async -> Int32 {
        let code = await perform(arguments, console: console)
        do {
            try console.checkOutput()
            return code
        } catch {
            console.printFailure("\(error)")
            return code == ExitCode.done ? ExitCode.failed : code
        }
    }

    private static func perform(_ arguments: [String], console: Console) async -> Int32 {
        do throws(UsageError) {
            switch try Invocation(arguments) {
            case .help(let topic):
                console.print(Usage.text(topic))
                return ExitCode.done
            case .version:
                console.print("OneWaySynchronizer Demo \(PackageVersion.current)")
                return ExitCode.done
            case .tour:
                return await Tour(console: console).run()
            case .mirror(let arguments):
                return await MirrorCommand(arguments: arguments, console: console).run()
            case .sync(let arguments):
                return await SyncCommand(arguments: arguments, console: console).run()
            case .export(let arguments):
                return await ExportCommand(arguments: arguments, console: console).run()
            case .model(let arguments):
                return await ModelCommand(arguments: arguments, console: console).run()
            case .query(let arguments):
                return await QueryCommand(arguments: arguments, console: console).run()
            case .diff(let arguments):
                return await DiffCommand(arguments: arguments, console: console).run()
            case .history(let arguments):
                return await HistoryCommand(arguments: arguments, console: console).run()
            case .repair(let arguments):
                return await RepairCommand(arguments: arguments, console: console).run()
            }
        } catch {
            console.printError("Demo: \(error)")
            return ExitCode.wrongUsage
        }
    }
}
