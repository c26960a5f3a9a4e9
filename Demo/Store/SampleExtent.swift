/// The objects at the beginning of a list that decide about a model, while the list may have more.
struct SampleExtent: Equatable, CustomStringConvertible {
    /// The limit at which a sample ended.
    enum Limit: Equatable {
        /// The number of objects that was asked for.
        case objects
        /// The number of pages that are read unless a number of objects is asked for.
        case pages(Int)
        /// A size in bytes.
        case bytes(Int)
    }

    /// The number of objects in the sample.
    let objectCount: Int
    let limit: Limit

    /// The sample as a noun phrase, such as `the first 5,000 objects (50 pages)`.
    var description: String {
        let objects = "the first \(Quantity.count(objectCount, "object"))"
        return switch limit {
        case .objects: objects
        case .pages(let count): "\(objects) (\(Quantity.count(count, "page")))"
        case .bytes(let count): "\(objects) (\(Quantity.megabytes(count)))"
        }
    }

    /// A sentence about the model that was made from the sample.
    func note(on origin: ModelChoice.Origin) -> String {
        origin == .inferred
            ? "the model was inferred from \(self)" : "--evolve compared the model with \(self)"
    }

    /// A sentence about objects that the sample did not reach, and what reads them.
    ///
    /// - Parameter needsOption: Whether the database keeps the model unless `--evolve` is given.
    func advice(needsOption: Bool) -> String {
        let with = needsOption ? " with --evolve" : ""
        let help =
            switch limit {
            case .objects: "a larger --sample\(with) reads on"
            case .pages: "--sample N\(with) reads on until it has N objects"
            case .bytes: "a sync\(with) of the same list from a FILE reads all of it"
            }
        return "The sample did not reach the objects with these keys or values: \(help)."
    }
}
