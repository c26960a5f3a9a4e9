/// The arguments of `history`.
struct HistoryArguments: Equatable {
    var store: StoreLocation
    /// The entity of the syncs; nil for all.
    var entity: String?
    /// The maximum number of syncs to show.
    var limit = 20
    /// Whether standard output is one JSON object for each sync.
    var printsJSON = false

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .history)
        var common = CommonArguments("--entity", "--store")
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text): throw scanner.unexpectedOperand(text)
            case .option("--limit"): limit = try scanner.count(of: "--limit")
            case .option("--json"): printsJSON = try scanner.flag("--json")
            case .option(let name):
                guard try common.take(name, &scanner) else { throw scanner.unknownOption(name) }
            }
        }
        store = try common.database(with: "history", scanner)
        entity = common.entity
    }
}
