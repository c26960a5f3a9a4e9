public import Foundation
public import SyncModel

/// An error of reading or writing a model file.
///
/// Lines and columns count from 1. The line of an element is the line on which its start tag ends.
public enum ModelFileError: Error, Hashable, Sendable {
    /// The file system does not give the file; `reason` is its own explanation.
    case unreadable(file: String, reason: String)
    /// The folder is no model: it has neither `contents` nor a version of a model.
    case notAModel(file: String)
    /// The folder has several versions, and does not say which is current.
    case noCurrentVersion(file: String)
    /// The version that is said to be current does not exist, or `.xccurrentversion` is no property
    /// list that names one.
    case unknownCurrentVersion(file: String)
    /// The file is larger than `ModelFile.maximumByteCount`.
    case tooLarge(file: String)
    /// The file is not UTF-8.
    case unsupportedEncoding(file: String)
    /// The file has a document type.
    case documentType(file: String, line: Int)
    /// The file has a processing instruction.
    case processingInstruction(file: String, line: Int)
    /// Elements are nested deeper than `ModelFile.maximumDepth`.
    case tooDeep(file: String, line: Int)
    /// The file is not well-formed XML; `reason` has libxml2's number of the error.
    case malformed(file: String, line: Int, column: Int, reason: String)
    /// The outermost element is not `model`.
    case unexpectedRoot(file: String, line: Int, element: String)
    /// An element lacks an attribute that it cannot do without.
    case missingAttribute(file: String, line: Int, element: String, attribute: String)
    /// What the file declares contradicts itself; `line` is that of the entity or property.
    case invalid(file: String, line: Int, error: ModelError)
    /// A model has something that the format cannot express. `property` is nil where it is the
    /// entity.
    case unwritable(entity: String, property: String?, reason: String)
}

extension ModelFileError: CustomStringConvertible {
    /// The error as a readable line.
    public var description: String {
        switch self {
        case .unreadable(let file, let reason): "\(file): cannot be read: \(reason)"
        case .notAModel(let file): "\(file): neither a model nor a folder of versions of one"
        case .noCurrentVersion(let file): "\(file): several versions, and none is said to be current"
        case .unknownCurrentVersion(let file): "\(file): the current version is not there"
        case .tooLarge(let file): "\(file): larger than \(ModelFile.maximumByteCount) bytes"
        case .unsupportedEncoding(let file): "\(file): not UTF-8"
        case .documentType(let file, let line): "\(file):\(line): a document type is not allowed"
        case .processingInstruction(let file, let line): "\(file):\(line): a processing instruction is not allowed"
        case .tooDeep(let file, let line): "\(file):\(line): nested deeper than \(ModelFile.maximumDepth) elements"
        case .malformed(let file, let line, let column, let reason): "\(file):\(line):\(column): \(reason)"
        case .unexpectedRoot(let file, let line, let element): "\(file):\(line): <\(element)> is no model"
        case .missingAttribute(let file, let line, let element, let attribute):
            "\(file):\(line): <\(element)> lacks \(attribute)"
        case .invalid(let file, let line, let error): "\(file):\(line): \(error)"
        case .unwritable(let entity, let property, let reason):
            "\(entity)\(property.map { ".\($0)" } ?? "") cannot be written: \(reason)"
        }
    }
}

extension ModelFileError: LocalizedError {
    /// The error as a readable sentence, the same as `description`.
    public var errorDescription: String? {
        description
    }
}
