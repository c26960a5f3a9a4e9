import ModelInference

/// The arguments of `model`.
struct ModelArguments: Equatable {
    /// The output format of a model.
    enum Format: Equatable {
        case swift
        case coreData
    }

    var input: InputFile
    var format = Format.swift
    /// The entity of the objects in the JSON.
    var entity = "Item"
    /// The keys on the path to the array in the JSON, separated by dots.
    var keyPath = ""
    /// The key of the objects in the JSON and the size of the sample.
    var inference = ModelInferenceOptions()

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .model)
        var operands: [String] = []
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text):
                operands.append(text)
            case .option("--format"):
                format = try scanner.choice(of: "--format", among: ["swift": .swift, "xcdatamodel": .coreData])
            case .option("--entity"):
                entity = try scanner.text(of: "--entity", as: "the name of an entity")
            case .option("--key-path"):
                keyPath = try scanner.text(of: "--key-path", as: "keys such as data.items")
            case .option("--key"):
                inference.key = try scanner.names(of: "--key", as: "keys such as title,year")
            case .option("--sample"):
                inference.sampleCount = try scanner.count(of: "--sample")
            case .option(let name):
                throw scanner.unknownOption(name)
            }
        }
        guard operands.count == 1 else { throw scanner.error("expected one FILE, got \(operands.count)") }
        guard let input = InputFile(operand: operands[0]) else { throw scanner.error("FILE is empty") }
        self.input = input
    }
}
