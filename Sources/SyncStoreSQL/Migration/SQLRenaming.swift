/// Finds the stored counterparts of a model's entities, attributes or relationships by name.
///
/// A declaration's *renaming identifier* is its former name or, without one, its own name. The
/// database records it, so that a renaming can be followed over several versions of a model, as in
/// Core Data. A declaration that keeps its first name as its former name is found regardless of its
/// names in between.
package struct SQLRenaming {
    /// A declaration, in the model or in the database.
    package struct Declaration: Hashable {
        let name: String
        let formerName: String?

        package init(_ name: String, formerName: String?) {
            self.name = name
            self.formerName = formerName == name ? nil : formerName
        }

        fileprivate var identifier: String { formerName ?? name }
    }

    /// The index of the stored declaration for each wanted one; nil for a new one. Each index
    /// occurs at most once.
    ///
    /// A model can skip a version: `title`, formerly `name`, continues a stored `name` even if the
    /// model has a new `name` as well.
    package static func counterparts(of wanted: [Declaration], in stored: [Declaration]) -> [Int?] {
        var found: [Int?] = Array(repeating: nil, count: wanted.count)
        var free = Set(stored.indices)
        // In order of certainty. The same name comes last, because another declaration may have had
        // it.
        let rules: [(Declaration, Declaration) -> Bool] = [
            { $0.name == $1.name && $0.identifier == $1.identifier && !isClaimed($1.name, of: wanted, in: stored) },
            {
                $0.formerName != nil && $1.formerName != nil && $0.identifier == $1.identifier
                    && !isKept($1, insteadOf: $0.identifier, of: wanted, in: stored)
            },
            { $0.formerName == $1.name },
            { $0.name == $1.name },
        ]
        for rule in rules {
            for index in wanted.indices where found[index] == nil {
                guard let match = stored.indices.first(where: { free.contains($0) && rule(wanted[index], stored[$0]) })
                else { continue }
                found[index] = match
                free.remove(match)
            }
        }
        return found
    }

    /// Whether a stored declaration keeps its name. A former name then refers to the stored
    /// declaration that has that name now.
    private static func isKept(
        _ declaration: Declaration, insteadOf formerName: String, of wanted: [Declaration], in stored: [Declaration]
    ) -> Bool {
        wanted.contains { $0.name == declaration.name && $0.formerName == nil }
            && stored.contains { $0.name == formerName }
    }

    /// Whether a wanted declaration continues a stored one under a different name.
    ///
    /// It does if its former name is the stored name. The exceptions are that the database records
    /// the renaming already, or has a declaration with the current name that no other declaration
    /// claims. Because a declaration has only one former name, the chain of claims ends.
    private static func isClaimed(_ name: String, of wanted: [Declaration], in stored: [Declaration]) -> Bool {
        wanted.contains { claimant in
            claimant.formerName == name
                && !stored.contains { $0.formerName == name }
                && (!stored.contains { $0.name == claimant.name }
                    || isClaimed(claimant.name, of: wanted, in: stored))
        }
    }
}
