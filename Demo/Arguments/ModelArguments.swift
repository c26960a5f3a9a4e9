import ModelInference

/// The arguments of `model`.
struct ModelArguments: Equatable {
    /// The output format of a model.
    enum Format: Equatable {
        /// Types, or functions for a model that is too large for types.
        case swift
        /// A Swift type for each entity.
        case types
        /// A Swift function for each entity.
        case functions
        case coreData
    }

    var input: InputFile
    var format = Format.swift
    /// The entity of the objects in the JSON.
    var entity: String
    /// The keys on the path to the array in the JSON, separated by dots.
    var keyPath: String
    /// The key of the objects in the JSON and the size of the sample.
    var inference: InferredModel.Options

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .model)
        var common = CommonArguments("--entity", "--key-path", "--key", "--sample", "--as-json", "--tables")
        var operands: [String] = []
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text): operands.append(text)
            case .option("--format"):
                format = try scanner.choice(
                    of: "--format",
                    among: [
                        "swift": .swift, "swift-types": .types, "swift-functions": .functions, "xcdatamodel": .coreData,
                    ])
            case .option(let name):
                guard try common.take(name, &scanner) else { throw scanner.unknownOption(name) }
            }
        }
        guard operands.count == 1 else { throw scanner.error("expected one FILE, got \(operands.count)") }
        guard let input = InputFile(operand: operands[0]) else { throw scanner.error("FILE is empty") }
        self.input = input
        entity = common.entity ?? "Item"
        keyPath = common.keyPath
        inference = common.inference
    }
}
