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
        let place: ListPlace
        let reader: JSONReader
        func find(_ beginning: some Collection<UInt8>, _ open: (JSONReader.Layout) throws -> JSONReader) throws
            -> ListPlace
        {
            try ListPlace(
                beginning, at: arguments.keyPath, entity: arguments.entity, keys: arguments.inference.key, open)
        }
        if case .file(let path) = arguments.input, arguments.input.byteCount != nil,
            !Self.isModel(try arguments.input.beginning())
        {
            place = try find(arguments.input.beginning()) { try JSONReader(file: path, layout: $0) }
            reader = try JSONReader(file: path, layout: try arguments.input.layout(at: place.keyPath))
        } else {
            let bytes = try arguments.input.bytes()
            guard !Self.isModel(bytes) else {
                return reported(try ModelFile(xml: Data(bytes), named: arguments.input.name))
            }
            place = try find(bytes) { JSONReader(bytes: bytes, layout: $0) }
            reader = JSONReader(bytes: bytes, layout: JSONStart.layout(bytes, at: place.keyPath))
        }
        let inferred = try ModelChoice.inferred(
            from: reader, entity: arguments.entity, options: arguments.inference)
        let sampleNotes = inferred.sample.map { [$0.note(on: inferred.origin)] } ?? []
        let notes = place.notes + inferred.notes + sampleNotes
        for note in notes { console.printError("note: \(PrintableText.line(note, limit: 400))") }
        return inferred.model
    }

    /// Whether a file that begins like this is a model file.
    private static func isModel(_ bytes: some Collection<UInt8>) -> Bool {
        // A binary property list is a compiled model.
        JSONStart.first(of: bytes) == UInt8(ascii: "<") || bytes.starts(with: "bplist".utf8)
    }

    /// Prints the warnings of a model file, and returns its model.
    private func reported(_ file: ModelFile) -> DataModel {
        ModelChoice.report(file.warnings, console.printWarning)
        return file.model
    }
}
