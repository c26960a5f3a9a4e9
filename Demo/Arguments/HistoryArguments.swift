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
        var store: StoreLocation?
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text):
                throw scanner.error("history takes only options; got '\(text)'")
            case .option("--store"):
                store = try scanner.store(of: "--store")
            case .option("--entity"):
                entity = try scanner.text(of: "--entity", as: "the name of an entity")
            case .option("--limit"):
                limit = try scanner.count(of: "--limit")
            case .option("--json"):
                try scanner.noValue(of: "--json")
                printsJSON = true
            case .option(let name):
                throw scanner.unknownOption(name)
            }
        }
        guard let store else { throw scanner.error("--store is missing") }
        guard store != .memory else { throw scanner.error("a store in memory has no history") }
        self.store = store
    }
}
