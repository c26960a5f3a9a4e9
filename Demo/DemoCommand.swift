import Foundation

/// The command: `Demo [tour]`, `Demo mirror …`, `Demo sync …`, `Demo export …`, `Demo model …`.
@main
struct DemoCommand {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst()), console: Console()))
    }

    /// Runs a command line.
    ///
    /// - Returns: The exit code.
    static func run(_ arguments: [String], console: Console) async -> Int32 {
        do throws(UsageError) {
            switch try Invocation(arguments) {
            case .help(let topic):
                console.print(Usage.text(topic))
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
            }
        } catch {
            console.printError("Demo: \(error)")
            return ExitCode.wrongUsage
        }
    }
}
