import SyncModel
import SyncStore

/// The objects that the payload's list has had so far.
struct ListedObjects {
    /// The index of the root entity of the list; nil in an import, and if there is no list.
    let root: Int?
    /// Whether a relationship leads to the list's entities, so that objects of the list can be
    /// nested.
    let canBeNested: Bool
    /// Whether an object that the list contains twice is reported; false for remote sources, whose
    /// pages may be read again.
    var reportsDuplicates = true
    private var objects = ObjectSet()

    init(_ root: Int?, in model: DataModel) {
        self.root = root
        canBeNested = model.layouts.contains { layout in
            layout.relationships.contains { model.layouts[$0.destination].root == root }
        }
    }

    func contains(_ object: ObjectID) -> Bool {
        objects.contains(object)
    }

    /// Adds objects.
    ///
    /// - Returns: The rows of duplicates to report.
    mutating func insert(_ rows: [MergeRequest.Result.Row?]) -> [Int] {
        rows.indices.filter { row in
            rows[row].map { !objects.insert($0.object) } == true && reportsDuplicates
        }
    }

    /// Begins another reading of the list.
    mutating func beginAnew() {
        objects = ObjectSet()
    }
}
