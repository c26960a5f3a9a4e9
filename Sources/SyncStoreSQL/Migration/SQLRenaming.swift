/// Finds the stored counterparts of a model's entities, attributes or relationships by their names.
///
/// A declaration's *renaming identifier* is its former name, or its own name if it has none. The
/// database records it, so that a renaming can be followed over several versions of a model, as in
/// Core Data: a declaration that keeps its first name as its former name is found whatever it was
/// called in between.
struct SQLRenaming {
    /// A declaration, in the model or in the database.
    struct Declaration: Hashable {
        let name: String
        let formerName: String?

        init(_ name: String, formerName: String?) {
            self.name = name
            self.formerName = formerName == name ? nil : formerName
        }

        fileprivate var identifier: String { formerName ?? name }
    }

    /// The index of the stored declaration for each wanted one; nil for a new one. None is used
    /// twice.
    ///
    /// A model can skip a version: `title`, formerly `name`, continues a stored `name` also where a
    /// new `name` has come beside it.
    static func counterparts(of wanted: [Declaration], in stored: [Declaration]) -> [Int?] {
        var found: [Int?] = Array(repeating: nil, count: wanted.count)
        var free = Set(stored.indices)
        // In order of certainty. An own name counts last: another declaration may have had it.
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

    /// Whether a stored declaration keeps its name, so that its former name is that of the stored
    /// one that has it now.
    private static func isKept(
        _ declaration: Declaration, insteadOf formerName: String, of wanted: [Declaration], in stored: [Declaration]
    ) -> Bool {
        wanted.contains { $0.name == declaration.name && $0.formerName == nil }
            && stored.contains { $0.name == formerName }
    }

    /// Whether a wanted declaration of another name continues the stored one of a name.
    ///
    /// It does so if its former name is that name, unless the database records that renaming
    /// already, or has a declaration of its present name that nobody else claims. A declaration has
    /// one former name, so that the chain of claims ends.
    private static func isClaimed(_ name: String, of wanted: [Declaration], in stored: [Declaration]) -> Bool {
        wanted.contains { claimant in
            claimant.formerName == name
                && !stored.contains { $0.formerName == name }
                && (!stored.contains { $0.name == claimant.name }
                    || isClaimed(claimant.name, of: wanted, in: stored))
        }
    }
}
