public import Foundation
public import SyncModel
package import SyncBase

extension ModelFile {
    /// A failure to read a model file, or to write a model as one.
    ///
    /// Lines and columns count from 1. The line of an element is the line on which its start tag
    /// ends.
    public enum Failure: Error, Hashable, Sendable {
        /// The file system cannot read the file; `reason` is its explanation.
        case unreadable(file: String, reason: String)
        /// The folder contains neither `contents` nor a version of a model.
        case notAModel(file: String)
        /// The file or folder is a compiled model (`.mom`, `.momd`), which contains no XML.
        case compiled(file: String)
        /// The model has the binary format that Xcode wrote before version 4.
        case outdatedFormat(file: String)
        /// The current version does not exist, or `.xccurrentversion` is not a property list that
        /// names a version.
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
        /// An XML element has more attributes than `ModelFile.maximumElementAttributeCount`.
        case tooManyElementAttributes(file: String, line: Int)
        /// The file is not well-formed XML; `reason` contains the libxml2 error code.
        case malformed(file: String, line: Int, column: Int, reason: String)
        /// The root element is not `model`.
        case unexpectedRoot(file: String, line: Int, element: String)
        /// An element lacks a required attribute.
        case missingAttribute(file: String, line: Int, element: String, attribute: String)
        /// The declarations in the file contradict each other; `line` is the line of the entity or
        /// property.
        case invalid(file: String, line: Int, error: ModelError)
        /// The format cannot express a part of the model. `property` is nil if the part belongs to
        /// the entity.
        case unwritable(entity: String, property: String?, reason: String)
    }
}

extension ModelFile.Failure: CustomStringConvertible, LocalizedError {
    /// The error as one readable line.
    public var description: String {
        switch self {
        case .unreadable(let file, let reason): "\(file): the file cannot be read: \(reason)"
        case .notAModel(let file): "\(file): the folder contains neither a model nor versions of a model"
        case .compiled(let file):
            "\(file): this is a compiled model; use the .xcdatamodeld or .xcdatamodel that it was compiled from"
        case .outdatedFormat(let file):
            "\(file): the model has a format from before Xcode 4; open and save it in Xcode to convert it"
        case .unknownCurrentVersion(let file): "\(file): .xccurrentversion does not name a version in the folder"
        case .tooLarge(let file): "\(file): the file is larger than \(ModelFile.maximumByteCount) bytes"
        case .unsupportedEncoding(let file): "\(file): the file is not UTF-8"
        case .documentType(let file, let line): "\(file):\(line): a document type is not allowed"
        case .processingInstruction(let file, let line): "\(file):\(line): a processing instruction is not allowed"
        case .tooDeep(let file, let line):
            "\(file):\(line): elements are nested more than \(ModelFile.maximumDepth) deep"
        case .tooManyElementAttributes(let file, let line):
            "\(file):\(line): an element has more than \(ModelFile.maximumElementAttributeCount) attributes"
        case .malformed(let file, let line, let column, let reason): "\(file):\(line):\(column): \(reason)"
        case .unexpectedRoot(let file, let line, let element):
            "\(file):\(line): the root element is <\(element)> instead of <model>"
        case .missingAttribute(let file, let line, let element, let attribute):
            "\(file):\(line): <\(element)> has no attribute \(attribute)"
        case .invalid(let file, let line, let error): "\(file):\(line): \(error)"
        case .unwritable(let entity, let property, let reason):
            "\(entity)\(property.map { ".\($0)" } ?? "") cannot be written: \(reason)"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension ModelFile.Failure: AreaError {
    package var errorArea: ErrorArea { .program }
}
