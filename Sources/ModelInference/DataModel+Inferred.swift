public import Foundation
public import JSONMapper
public import SyncModel

extension DataModel {
    /// Creates a model of a sample of JSON, for a start without a model file.
    ///
    ///     let model = try DataModel.inferred(from: #"[{"id": 1, "first_name": "Ada", "notes": [{"id": 7}]}]"#, entity: "User")
    ///     // User: id int64, firstName string, notes to many Note; Note: id int64, user to one User
    ///
    /// The same sample gives the same model, whatever the machine. What it is made of:
    ///
    /// - **Entities.** The elements are of the named entity, a nested object of one named after its
    ///   key, the objects of an array of one named after its key in the singular (`people`,
    ///   `children`, `series` and `species` are known, `-ies` gives `-y`, `-xes`, `-ches`, `-shes`
    ///   and `-sses` lose `es`, any other `s` goes but for `-ss`, `-us` and `-is`). Objects of one
    ///   name are of one entity, wherever they stand. An object with more than 256 different keys
    ///   is a dictionary rather than an object, and kept whole.
    /// - **Attributes** are named by the camelCase of their keys; where the convention would not
    ///   find the key again, it is annotated as `sync.remoteKey`. Types are widened over the whole
    ///   sample: whole numbers are `int64`, with fractions among them `double`, beyond `Int64`
    ///   `decimal`, numbers that no decimal holds `string`; texts that are all UUIDs `uuid`, all
    ///   ISO 8601 dates `date`, else `string`, also together with numbers; always null `string`.
    ///   Arrays of anything but objects, and what no other type holds, are `binary`, which keeps
    ///   any JSON whole. All are optional but the primary key.
    /// - **The primary key** is `id`; else a key `remote_id`, `<entity>_id`, `uuid` or `guid` that
    ///   is in every object, and in no two of the elements with one value. An entity without one
    ///   has no identity.
    /// - **Relationships** are those of nesting, each with an inverse named after the entity it
    ///   comes from, unless the sample has one of that name. Two parents with the same child make a
    ///   to-many relationship many-to-many. Objects without identity belong to what they were
    ///   nested in, and are deleted with it.
    ///
    /// - Parameters:
    ///   - json: The sample as UTF-8: an array of objects or one object.
    ///   - entity: The name of the elements' entity.
    ///   - layout: Where the elements are; the document itself by default.
    ///   - options: What is accepted, and how much.
    /// - Throws: `JSONError` where the sample is no JSON, or not of that layout;
    ///   `ModelInferenceError` where it tells nothing.
    public static func inferred(
        from json: [UInt8], entity: String, layout: JSONLayout = .array(acceptsSingleObject: true),
        options: JSONOptions = JSONOptions()
    ) throws -> DataModel {
        try inferred(from: JSONReader(bytes: json, layout: layout, options: options), entity: entity)
    }

    /// Creates a model of a sample of JSON that is text.
    ///
    /// - Throws: As ``inferred(from:entity:layout:options:)``.
    public static func inferred(
        from json: String, entity: String, layout: JSONLayout = .array(acceptsSingleObject: true)
    ) throws -> DataModel {
        try inferred(from: Array(json.utf8), entity: entity, layout: layout)
    }

    /// Creates a model of a sample of JSON that a reader reads to its end, such as a large file.
    ///
    /// Memory grows with the number of different keys, and of identifiers; not with the size of the
    /// sample beyond that.
    ///
    /// - Parameters:
    ///   - reader: A reader with a source.
    ///   - entity: The name of the elements' entity.
    /// - Throws: As ``inferred(from:entity:layout:options:)``, and what the reader's source throws.
    public static func inferred(from reader: JSONReader, entity: String) throws -> DataModel {
        var sample = ModelSample(root: entity)
        while let element = try reader.next({ cursor in try JSONValue(&cursor) }) {
            guard case .object(let object) = element else {
                throw ModelInferenceError.notAnObject(index: reader.elementCount - 1)
            }
            sample.add(object)
        }
        return try ModelDraft(sample).model()
    }
}

/// Why no model could be made of a sample.
public enum ModelInferenceError: Error, Hashable, Sendable {
    /// The sample has no element.
    case emptySample
    /// An element is no object; the index counts from 0.
    case notAnObject(index: Int)
    /// No element has a key.
    case noKeys(entity: String)
    /// The elements have more different keys than objects of one kind have.
    case tooManyKeys(entity: String, maximum: Int)
}

extension ModelInferenceError: CustomStringConvertible {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .emptySample: "the sample has no element"
        case .notAnObject(let index): "element \(index) of the sample is no object"
        case .noKeys(let entity): "no \(entity) of the sample has a key"
        case .tooManyKeys(let entity, let maximum):
            "the sample's \(entity) has more than \(maximum) different keys, as dictionaries have, not objects of one kind"
        }
    }
}

extension ModelInferenceError: LocalizedError {
    /// The error as a readable sentence, the same as `description`.
    public var errorDescription: String? {
        description
    }
}
