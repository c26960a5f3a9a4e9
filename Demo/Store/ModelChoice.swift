import CoreDataModel
import Foundation
import JSONMapper
import ModelInference
import SyncModel

/// The model that maps the JSON, and its origin.
struct ModelChoice {
    /// The origin of a model.
    enum Origin: String {
        case given
        /// Stored with the database.
        case kept
        case inferred
    }

    let model: DataModel
    let origin: Origin

    /// Reads the model of a file.
    ///
    /// - Parameter warn: Called with each part of the file that the model does not contain.
    static func given(_ file: URL, warn: (String) -> Void) throws(ModelFileError) -> ModelChoice {
        let file = try ModelFile(contentsOf: file)
        for warning in file.warnings { warn("\(warning)") }
        return ModelChoice(model: file.model, origin: .given)
    }

    /// Infers a model from JSON.
    static func inferred(from reader: JSONReader, entity: String) throws -> ModelChoice {
        ModelChoice(model: try DataModel.inferred(from: reader, entity: entity), origin: .inferred)
    }
}
