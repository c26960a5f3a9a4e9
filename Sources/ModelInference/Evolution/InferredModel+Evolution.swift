public import JSONMapper
public import SyncModel

extension InferredModel {
    /// An inferred model, extended to fit a later sample.
    ///
    ///     let reader = try JSONReader(file: "users.json")
    ///     let evolved = try InferredModel.Evolution(kept, with: reader, entity: "User")
    ///     for change in evolved.changes { print(change) }    // User.age is new: int64
    ///     let store = try await SQLiteStore(RecordMapper(evolved.model).model, at: .file(path))
    ///
    /// Properties and entities are added, and types are widened. Nothing is removed, except a
    /// relationship that ``InferredModel/Options/jsonKeyPaths`` requests as JSON. Its links are
    /// dropped, with the entity of objects that belonged to it, unless another relationship leads
    /// to that entity. A new entity is added with the entities that it leads to, and shares them
    /// with no other entity. A value that only JSON can hold becomes JSON. Keys and objects beyond
    /// the limits stay JSON, and are reported in ``findings``. A difference that cannot be merged
    /// is an ``Obstacle``: the model keeps the property unchanged, and a sync reports its values as
    /// drift.
    ///
    /// The evolved model exports values in the style of the later sample. Therefore, sync the whole
    /// sample with it.
    public struct Evolution: Sendable {
        /// The model.
        public let model: DataModel
        /// The differences from the earlier model, in the order of the sample.
        public let changes: [Change]
        /// The reasons why the model does not fit the sample; empty if it does.
        public let obstacles: [Obstacle]
        /// The facts to review about new entities and keys, including those that exceed the limits.
        public let findings: [InferredModel.Finding]

        /// A difference between two models.
        public struct Change: Hashable, Sendable {
            /// The kind of a change.
            public enum Kind: Hashable, Sendable {
                /// The entity is new.
                case newEntity
                /// An attribute is new.
                case newAttribute(AttributeType)
                /// A relationship is new.
                case newRelationship(destination: String)
                /// The type of an attribute is wider.
                case widened(from: AttributeType, to: AttributeType)
                /// Dates are written in another style.
                case restyled
                /// A relationship became a JSON attribute, as
                /// ``InferredModel/Options/jsonKeyPaths`` requests.
                case becameJSON(from: String)
                /// An entity was removed, because its objects belonged to a relationship that
                /// became JSON.
                case removedEntity
            }

            /// The kind of the change.
            public let kind: Kind
            /// The entity.
            public let entity: String
            /// The JSON key; empty for the entity itself.
            public let key: String
        }

        /// A reason why the model does not fit the sample.
        ///
        /// There are these solutions: keep the property unchanged, and let its values be reported
        /// as drift; keep the key of a relationship as JSON from now on, with
        /// ``InferredModel/Options/jsonKeyPaths``; remove it from the model; or infer a new model
        /// and fill a new store.
        public struct Obstacle: Hashable, Sendable {
            /// The kind of an obstacle.
            public enum Kind: Hashable, Sendable {
                /// Values under the key of a relationship are not all objects.
                case notObjects
                /// A relationship leads to one object in one sample and to several in the other.
                case otherCount
                /// The key of the objects is missing, or no longer identifies them.
                case identity
                /// Values of the objects' key have types that no identity has in common.
                case keyType
                /// No element has a key of the entity, apart from one that the reader added. The
                /// sample is probably an error report, or another list; the model stays as it is.
                case noKnownKey
            }

            /// The kind of the obstacle.
            public let kind: Kind
            /// The entity.
            public let entity: String
            /// The JSON key; empty for the objects themselves.
            public let key: String
        }

        /// Extends an inferred model.
        ///
        /// - Parameters:
        ///   - earlier: The inferred model of a store.
        ///   - reader: A reader of the later sample, which is read to its end.
        ///   - entity: The name of the elements' entity.
        ///   - options: Limits, and the key of the elements. The contents of the earlier model
        ///     count toward the limits, and are kept. The key applies only to an entity that the
        ///     earlier model lacks.
        /// - Throws: The errors of ``InferredModel/init(from:entity:options:)``. An empty sample is
        ///   an error only for an entity that the earlier model lacks.
        public init(
            _ earlier: DataModel, with reader: JSONReader, entity: String,
            options: InferredModel.Options = InferredModel.Options()
        ) throws {
            var evolution: ModelEvolution
            let found: [InferredModel.Finding]
            if let layout = earlier[entity] {
                (evolution, found) = try Self.evolution(earlier, layout, with: reader, options: options)
            } else {
                let added = try InferredModel(from: reader, entity: entity, options: options)
                evolution = ModelEvolution(from: earlier, to: added.model)
                evolution.add(entity)
                found = added.findings
            }
            evolution.removeReplaced()
            model = try evolution.model()
            changes = evolution.changes
            obstacles = evolution.obstacles
            findings = evolution.news(of: found)
        }

        /// Merges a later sample of an entity into a model that has it. An empty sample changes
        /// nothing.
        private static func evolution(
            _ earlier: DataModel, _ layout: EntityLayout, with reader: JSONReader, options: InferredModel.Options
        ) throws -> (ModelEvolution, findings: [InferredModel.Finding]) {
            let entity = layout.name
            var options = options
            options.key = []
            let keys = EntityKeys(layout, in: earlier)
            let identity = layout.identityColumns.compactMap { keys.attributes[$0].path()?.first }
            do {
                let sample = try InferredModel.sampler(
                    of: reader, entity: entity, key: identity, limit: options.sampleCount)
                guard keys.hasKnownKey(sample.shapes.root, addedKey: reader.addedKey) else {
                    var evolution = ModelEvolution(from: earlier, to: earlier)
                    evolution.obstacles.append(Obstacle(kind: .noKnownKey, entity: entity, key: ""))
                    return (evolution, [])
                }
                let draft = try ModelDraft(sample.shapes, options: options, extending: (earlier, layout))
                var evolution = ModelEvolution(
                    from: earlier, to: try draft.model(), findings: draft.findings, longIntegers: draft.longIntegers)
                evolution.merge(entity, entity)
                if !identity.isEmpty, !RootIdentity.holds(sample.shapes) {
                    evolution.obstacles.insert(
                        Obstacle(kind: .identity, entity: entity, key: identity.joined(separator: ", ")), at: 0)
                }
                return (evolution, draft.findings)
            } catch InferredModel.Failure.emptySample {
                return (ModelEvolution(from: earlier, to: earlier), [])
            }
        }
    }
}

extension EntityKeys {
    /// Whether elements have a key of the entity, apart from an added one. True if other keys are
    /// expected, or if the entity has no other key.
    fileprivate func hasKnownKey(_ elements: ShapeNode, addedKey: String?) -> Bool {
        let known = knownKeys(without: addedKey)
        return expectsOtherKeys || known.isEmpty || elements.hasMoreKeys
            || elements.all.contains { known.contains($0.name) }
    }
}

extension InferredModel.Evolution.Change: CustomStringConvertible {
    /// The change as one line, such as `User.age is new: int64`.
    public var description: String {
        switch kind {
        case .newEntity: "\(entity) is new"
        case .newAttribute(let type): "\(entity).\(key) is new: \(type.rawValue)"
        case .newRelationship(let destination): "\(entity).\(key) is new: \(destination)"
        case .widened(let type, let wider): "\(entity).\(key) is \(wider.rawValue) now, no longer \(type.rawValue)"
        case .restyled: "\(entity).\(key) has dates in another style"
        case .becameJSON(let destination):
            "\(entity).\(key) is json now, no longer \(destination): the links are dropped, and JSON that is synced "
                + "from now on fills it"
        case .removedEntity: "\(entity) is removed: its objects belonged to what is json now"
        }
    }
}

extension InferredModel.Evolution.Obstacle: CustomStringConvertible {
    /// The obstacle as a sentence, such as `User.address has values other than objects`.
    public var reason: String {
        switch kind {
        case .notObjects: "\(entity).\(key) has values other than objects"
        case .otherCount: "\(entity).\(key) has one object in one file and a list in the other"
        case .keyType: "\(entity).\(key) identifies the objects, and has values of another type"
        case .identity:
            key.isEmpty ? "objects of \(entity) have no key any more" : "\(key) does not identify every \(entity)"
        case .noKnownKey: "no object has a key of \(entity)"
        }
    }

    /// The obstacle and its solutions, as one sentence.
    public var description: String {
        if kind == .noKnownKey {
            return "\(reason); if the list is inside the JSON, give its key path, or rebuild the store from this file"
        }
        let json = canBecomeJSON ? "keep the key as JSON, " : ""
        return "\(reason); keep the model and have it reported, \(json)drop the property, or rebuild the store from "
            + "this file"
    }

    /// Whether ``InferredModel/Options/jsonKeyPaths`` can replace the relationship by JSON.
    public var canBecomeJSON: Bool { kind == .notObjects || kind == .otherCount }
}
