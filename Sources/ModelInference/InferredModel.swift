public import SyncModel

/// A model inferred from a sample, with findings to review.
public struct InferredModel: Sendable {
    /// The model.
    public let model: DataModel
    /// The name of the elements' entity.
    public let entity: String
    /// The JSON keys that identify an element; empty if elements are matched by their whole
    /// content.
    public let key: [String]
    /// The number of elements that were read.
    public let elementCount: Int
    /// Whether the sample had more elements than were read.
    public let isPartial: Bool
    /// The facts to review, in the order of the sample.
    public let findings: [Finding]

    /// A fact about an inferred model that its entities do not show.
    public struct Finding: Hashable, Sendable {
        /// The kind of a finding.
        public enum Kind: Hashable, Sendable {
            /// No keys identify the elements, so they are matched by their whole content.
            ///
            /// An element that changed is deleted and inserted.
            case noKey
            /// The keys that identify the elements have too many values to compare all of them, so
            /// that two elements with one identity may have been missed.
            ///
            /// Such elements are stored once, and a sync reports them as duplicates.
            case partlyComparedKey
            /// Values were always null, so their type is unknown. They are text.
            case onlyNulls
            /// Values are kept as JSON.
            case json(JSONReason)
        }

        /// A reason to keep values as JSON.
        public enum JSONReason: String, Hashable, Sendable, CaseIterable {
            /// The options request it.
            case requested
            /// The keys of the objects are data, such as codes or numbers.
            case map
            /// The arrays have elements other than objects.
            case array
            /// The values have no other type in common.
            case mixed
            /// The numbers have more digits than any other type holds.
            case number
            /// The arrays and objects are all empty.
            case empty
            /// The limits for entities, properties or depth are reached.
            case limit
            /// No property can have the names of the keys. They contain control characters, or
            /// differ from another key only in their Unicode scalars.
            case unnameable
        }

        /// The kind of the finding.
        public let kind: Kind
        /// The entity.
        public let entity: String
        /// The key; empty for the objects themselves.
        public let key: String

        init(_ kind: Kind, entity: String, key: String = "") {
            self.kind = kind
            self.entity = entity
            self.key = key
        }
    }
}

extension InferredModel.Finding: CustomStringConvertible {
    /// The finding as one sentence, such as `Country.currencies is kept as JSON: its keys are
    /// data`.
    public var description: String {
        let place = key.isEmpty ? entity : "\(entity).\(key)"
        switch kind {
        case .noKey:
            return "no key identifies a \(entity), so objects are matched by their whole content; "
                + "name one if there is one"
        case .partlyComparedKey:
            return "\(place) identifies the objects as far as its values were compared; it has too many to compare all"
        case .onlyNulls: return "\(place) is always null, so its type is unknown"
        case .json(let reason):
            let text =
                switch reason {
                case .requested: "as requested"
                case .map: "its keys are data"
                case .array: "its arrays have elements other than objects"
                case .mixed: "its values have no other type in common"
                case .number: "its numbers have too many digits"
                case .empty: "its values are always empty"
                case .limit: "the model is large enough without it"
                case .unnameable: "no property can have their names"
                }
            return key.isEmpty
                ? "other keys of \(place) are kept as JSON: \(text)" : "\(place) is kept as JSON: \(text)"
        }
    }
}
