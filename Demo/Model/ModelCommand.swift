import CoreDataModel
import Foundation
import HTTPTransfer
import JSONMapper
import ModelInference
import SyncModel

/// The command `Demo model`, which prints a model.
struct ModelCommand: Command {
    let arguments: ModelArguments
    let console: Console

    /// The number of entities above which a model is printed as functions. The compiler needs about
    /// half a second for each type.
    private static let maximumTypeCount = 100

    func perform() async throws {
        console.write(try text(of: model()))
    }

    private func text(of model: DataModel) throws -> String {
        switch arguments.format {
        case .swift where model.dataEntities.count > Self.maximumTypeCount:
            console.printError(
                "note: \(model.dataEntities.count) types take minutes to compile, so the model is printed as "
                    + "functions; --format swift-types prints types")
            return SwiftModelWriter.source(of: model)
        case .swift, .types: return model.swiftTypes()
        case .functions: return SwiftModelWriter.source(of: model)
        case .coreData: return String(decoding: try model.coreDataXML(), as: UTF8.self)
        }
    }

    /// Returns the model of a model file, or one inferred from JSON, depending on the file's
    /// content.
    private func model() throws -> DataModel {
        if case .file(let path) = arguments.input, arguments.input.isFolder {
            return reported(try ModelFile(contentsOf: URL(filePath: path)))
        }
        let bytes = try arguments.input.bytes()
        // A binary property list is a compiled model.
        if JSONStart.first(of: bytes) == UInt8(ascii: "<") || bytes.starts(with: "bplist".utf8) {
            return reported(try ModelFile(xml: Data(bytes), named: arguments.input.name))
        }
        let reader = JSONReader(bytes: bytes, layout: JSONStart.layout(bytes, at: arguments.keyPath))
        let inferred = try ModelChoice.inferred(
            from: reader, entity: arguments.entity, keyPath: arguments.keyPath, options: arguments.inference)
        for note in inferred.notes { console.printError("note: \(PrintableText.line(note, limit: 400))") }
        return inferred.model
    }

    /// Prints the warnings of a model file, and returns its model.
    private func reported(_ file: ModelFile) -> DataModel {
        ModelChoice.report(file.warnings, console.printWarning)
        return file.model
    }
}
