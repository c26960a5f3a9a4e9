import OneWayTestLimits
import Testing

@testable import SyncStoreSQL

/// Which stored declaration a wanted one continues. `b<a` is `b`, formerly `a`.
@Suite(.endsInTime) struct SQLRenamingTests {
    @Test(arguments: [
        ("a b", "a b", "a b"),
        ("a", "b<a", "a"),
        ("a b", "a<b b<a", "b a"),
        ("a<b b<a", "a<b b<a", "a<b b<a"),
        ("a b c", "a<c b<a c<b", "c a b"),
        // A version was skipped: the old name has come back.
        ("a", "b<a a", "a -"),
        ("a", "a b<a", "- a"),
        ("b<a a", "b<a a", "b<a a"),
        ("b<a a", "c<a a", "b<a a"),
        ("a b", "a b<a c<b", "- a b"),
        // The renaming was done long ago, by a version whose record lacks it.
        ("a b", "a b<a", "a b"),
        ("a b<a", "a b<a", "a b<a"),
        // Several versions of one name.
        ("b<a", "c<a", "b<a"),
        ("b<a", "c<b b", "b<a -"),
        ("a", "b<a c<a", "a -"),
        // Names were swapped before, and what is left keeps its name.
        ("a<b b<a", "c<a b", "a<b b<a"),
        ("a<c b<a c<b", "d<a b c", "a<c b<a c<b"),
        ("b<a a", "c<a b a", "- b<a a"),
    ])
    func aFormerNameCountsBeforeAnOwnOne(stored: String, wanted: String, found: String) {
        let names = stored.split(separator: " ")
        let counterparts = SQLRenaming.counterparts(of: Self.declarations(wanted), in: Self.declarations(stored))
        #expect(counterparts.map { $0.map { String(names[$0]) } ?? "-" }.joined(separator: " ") == found)
    }

    private static func declarations(_ text: String) -> [SQLRenaming.Declaration] {
        text.split(separator: " ").map { part in
            let names = part.split(separator: "<").map(String.init)
            return SQLRenaming.Declaration(names[0], formerName: names.count > 1 ? names[1] : nil)
        }
    }
}
