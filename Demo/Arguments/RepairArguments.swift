/// The arguments of `repair`.
struct RepairArguments: Equatable {
    var store: StoreLocation
    /// Whether to show what is missing without creating it.
    var isPlan = false

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .repair)
        var common = CommonArguments("--store")
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text): throw scanner.unexpectedOperand(text)
            case .option("--plan"): isPlan = try scanner.flag("--plan")
            case .option(let name):
                guard try common.take(name, &scanner) else { throw scanner.unknownOption(name) }
            }
        }
        store = try common.database(with: "tables to repair", scanner)
    }
}
