public import Foundation
package import SyncBase

extension InferredModel {
    /// A failure to infer a model from a sample.
    public enum Failure: Error, Hashable, Sendable {
        /// The sample has no elements.
        case emptySample
        /// An element is not an object; the index counts from 0.
        case notAnObject(index: Int)
        /// No element has a key.
        case noKeys(entity: String)
        /// An element lacks a value under a requested key.
        case incompleteKey(entity: String, key: [String])
        /// Two elements have the same values under the requested keys.
        case repeatedKey(entity: String, key: [String])
        /// The name is reserved for entities that record the progress of syncs.
        case reservedName(entity: String)
        /// The values of a requested key are not all integers, all texts, all UUIDs or all dates,
        /// or are kept as JSON.
        case unsuitableKey(entity: String, key: String)
    }
}

extension InferredModel.Failure: CustomStringConvertible, LocalizedError {
    /// The error as a readable sentence.
    public var description: String {
        switch self {
        case .emptySample: "the JSON has no objects, so no model can be inferred from it"
        case .notAnObject(let index):
            "element \(index) of the JSON is not an object; only lists of objects have a model"
        case .noKeys: "the objects of the JSON are all empty, so no model can be inferred from them"
        case .incompleteKey(let entity, let key):
            "a \(entity) of the sample lacks a value of its key \(key.joined(separator: ", "))"
                + Self.advice(about: key)
        case .repeatedKey(let entity, let key):
            "\(key.joined(separator: ", ")) is no key: the sample has two \(entity) objects with the same values"
        case .reservedName(let entity):
            "\(entity) is a reserved name: entities of that name record the progress of syncs; name another one"
        case .unsuitableKey(let entity, let key):
            "\(key) is no key: its values in \(entity) are not all integers, texts or dates of one kind, or are "
                + "kept as JSON"
        }
    }

    /// What to do about a key that looks like a key path; empty for any other key.
    private static func advice(about key: [String]) -> String {
        guard let path = key.first(where: { $0.contains(".") }) else { return "" }
        return "; an inferred key is a property of the objects themselves: for one inside of them, state a model whose "
            + "identity has the remote key \(path)"
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension InferredModel.Failure: AreaError {
    package var errorArea: ErrorArea { if case .reservedName = self { .program } else { .data } }
}
