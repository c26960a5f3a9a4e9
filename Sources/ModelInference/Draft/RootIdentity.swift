import JSONMapper
import SyncModel

/// The JSON keys that identify the elements of a sample.
struct RootIdentity {
    /// The keys; empty if only the whole content identifies an element.
    let keys: [String]
    /// Whether the values of all elements were compared. If not, a repetition may have been missed.
    let isCertain: Bool

    /// Finds the keys.
    ///
    /// - Throws: `InferredModel.Failure` if requested keys do not identify the elements.
    init(_ sampler: borrowing ShapeSampler, options: InferredModel.Options) throws(InferredModel.Failure) {
        let root = sampler.root
        guard options.key.isEmpty else {
            guard let requested = sampler.combinations.first, requested.count == root.objectCount else {
                throw .incompleteKey(entity: root.name, key: options.key)
            }
            for key in options.key where root.property(key)?.isSuitableKey(options) != true {
                throw .unsuitableKey(entity: root.name, key: key)
            }
            guard !requested.identity.repeats else { throw .repeatedKey(entity: root.name, key: options.key) }
            keys = options.key
            isCertain = requested.identity.isComplete
            return
        }
        let single = root.all.enumerated().compactMap { index, property -> (rank: Int, key: String)? in
            guard let rank = KeyNames.rank(of: property.name, entity: root.name, isFirst: index == 0),
                property.identifies(root, options), property.identity?.repeats == false
            else { return nil }
            return (rank, property.name)
        }.min { $0.rank < $1.rank }
        if let single {
            keys = [single.key]
            isCertain = root.property(single.key)?.identity?.isComplete ?? true
            return
        }
        // Each key must have repeated values: otherwise the other one proves nothing.
        let pair = sampler.combinations.first { combination in
            combination.count == root.objectCount && !combination.identity.repeats
                && combination.keys.allSatisfy { key in
                    root.property(key).map { $0.identifies(root, options) && $0.identity?.repeats == true } ?? false
                }
        }
        keys = pair?.keys ?? []
        isCertain = pair?.identity.isComplete ?? true
    }
}

extension RootIdentity {
    /// Whether the requested keys of a sampler identify every element.
    static func holds(_ sampler: borrowing ShapeSampler) -> Bool {
        guard let requested = sampler.combinations.first else { return false }
        return requested.count == sampler.root.objectCount && !requested.identity.repeats
    }
}

extension ShapeProperty {
    /// Whether the values of an element's property are suitable, and not requested as JSON.
    fileprivate func isSuitableKey(_ options: InferredModel.Options) -> Bool {
        isSuitableKey && !options.jsonKeyPaths.contains(name)
    }

    /// Whether every element has a suitable value, which is not requested as JSON.
    fileprivate func identifies(_ root: ShapeNode, _ options: InferredModel.Options) -> Bool {
        identifies(root) && !options.jsonKeyPaths.contains(name)
    }

    /// Whether the values are all integers, all texts, all UUIDs or all dates.
    var isSuitableKey: Bool {
        switch inferredType.type {
        case .int64, .decimal, .string, .uuid, .date: !kinds.isEmpty
        default: false
        }
    }

    /// Whether every object of a node has a suitable value.
    func identifies(_ node: ShapeNode) -> Bool {
        count == node.objectCount && nullCount == 0 && isSuitableKey
    }
}
