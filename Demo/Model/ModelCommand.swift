import CoreDataModel
import Foundation
import HTTPTransfer
import JSONMapper
import ModelInference
import SyncModel

/// The command `Demo model`, which prints a model.
struct ModelCommand {
    let arguments: ModelArguments
    let console: Console

    /// Runs the command until it ends or is interrupted.
    ///
    /// - Returns: The exit code.
    func run() async -> Int32 {
        await InterruptHandler.cancelling {
            do {
                let text = try text(of: model())
                console.write(text)
                return ExitCode.done
            } catch {
                console.printError("failed: \(PrintableText.line("\(error)", limit: 1_000))")
                return ExitCode.failed
            }
        }
    }

    private func text(of model: DataModel) throws -> String {
        switch arguments.format {
        case .swift: SwiftModelWriter.source(of: model)
        case .coreData: String(decoding: try model.coreDataXML(), as: UTF8.self)
        }
    }

    /// Returns the model of a model file, or one inferred from JSON, depending on the file's
    /// content.
    private func model() throws -> DataModel {
        if case .file(let path) = arguments.input, arguments.input.isFolder {
            return told(try ModelFile(contentsOf: URL(filePath: path)))
        }
        let bytes = try arguments.input.bytes()
        if bytes.first(where: { !Self.isSpace($0) }) == UInt8(ascii: "<") {
            return told(try ModelFile(xml: Data(bytes), named: arguments.input.name))
        }
        return try DataModel.inferred(
            from: bytes, entity: arguments.entity,
            layout: .array(at: arguments.keyPath, acceptsSingleObject: true))
    }

    /// Prints the warnings of a model file, and returns its model.
    private func told(_ file: ModelFile) -> DataModel {
        for warning in file.warnings { console.printError("\(warning)") }
        return file.model
    }

    /// Returns whether a byte is white space or part of a UTF-8 byte order mark.
    private static func isSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains(byte)
    }
}
