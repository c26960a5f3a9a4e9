import JSONMapper

extension StoreSyncResult: CustomStringConvertible {
    /// The result as sentences, one or more per line, such as
    /// `3 inserted, 1 updated, 116 unchanged, 2 deleted (User: 3 inserted, 2 deleted; …)`.
    ///
    /// The lines after the first one say what was kept, left out or assumed, and why.
    public var description: String {
        guard coverage != .unchanged || !isUnchanged || counts != Counts() else {
            return ([Self.sentence("The source reports no changes")] + warnings.map(Self.sentence))
                .joined(separator: "\n")
        }
        var lines = [summary]
        let kept = countsByEntity.filter { $1.kept > 0 }.sorted { $0.key < $1.key }
        for (entity, counts) in kept {
            lines.append("Kept although absent: \(Self.count(counts.kept, "object")) of \(entity).")
        }
        lines += warnings.map(Self.sentence)
        if rejectedCount > 0 {
            let first = rejected.first.map { ", first: \($0)" } ?? ""
            lines.append("Left out: \(Self.count(rejectedCount, "object"))\(first).")
        }
        if toleratedCount > 0 {
            lines.append("Ignored because they do not fit: \(Self.count(toleratedCount, "value")).")
        }
        if excludedRelationshipCount > 0 {
            let values = Self.count(excludedRelationshipCount, "value")
            lines.append("Ignored because the operations include none for relationships: \(values).")
        }
        if !drift.isEmpty { lines.append("The payload differs from the model: \(drift).") }
        return lines.joined(separator: "\n")
    }

    /// The first line: the counts, by entity if there are several, and the size of the payload.
    private var summary: String {
        let entities = countsByEntity.sorted { $0.key < $1.key }
        var line = "\(counts)"
        if entities.count == 1, let only = entities.first {
            line = "\(only.key): \(only.value)"
        } else if !entities.isEmpty {
            line = entities.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
        }
        if pageCount > 0 {
            line += " (\(Self.count(pageCount, "page")), \(Self.count(byteCount, "byte"))"
            line += coverage == .changes ? ", changes only)" : ")"
        }
        return line + "."
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }
}

extension StoreSyncResult.Counts: CustomStringConvertible {
    /// The counts that are not zero, such as `3 inserted, 116 unchanged`; `nothing` if all are.
    public var description: String {
        let parts = [
            (inserted, "inserted"), (updated, "updated"), (unchanged, "unchanged"), (deleted, "deleted"),
            (kept, "kept"),
        ]
        let texts = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return texts.isEmpty ? "nothing" : texts.joined(separator: ", ")
    }
}
