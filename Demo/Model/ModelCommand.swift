import CoreDataModel
import Foundation
import HTTPTransfer
import JSONMapper
import SyncModel

/// `Demo model`: prints a model.
struct ModelCommand {
    let arguments: ModelArguments
    let console: Console

    /// Does what the arguments say, until it is done or interrupted.
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

    /// The model that the file has or is a sample for, whichever it looks like.
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

    /// Says what a file has and its model has not.
    private func told(_ file: ModelFile) -> DataModel {
        for warning in file.warnings { console.printError("\(warning)") }
        return file.model
    }

    /// Whether a byte is white space, or one of the three that UTF-8 files may begin with.
    private static func isSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains(byte)
    }
}
