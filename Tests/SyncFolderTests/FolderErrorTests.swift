import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import SyncBase
import Testing

@testable import SyncFolder

/// What the errors of a mirror say, and what they are about.
@Suite(.endsInTime) struct FolderErrorTests {
    private static let holder = SyncLeaseHolder()
    private static let list = URL(filePath: "/list")

    private static let texts: [(FolderError, String)] = [
        (.inUse(path: "/m", holder: holder), "/m: another mirror is at work here, \(holder)"),
        (.inUse(path: "/m", holder: nil), "/m: another mirror is at work here"),
        (
            .inTheWay(path: "/m/a"),
            "/m/a: a file that this mirror did not write, or that was changed since, is in the way; move it away"
        ),
        (.inTheWay(path: "/m/a", isFolder: true), "/m/a: a folder is in the way of a file; move it away"),
        (
            .damagedIndex(path: "/m/index"),
            "/m/index: the index is damaged; remove it, and the files that the mirror wrote, to begin anew"
        ),
        (.collision("a\n", "A"), #""a\n" and "A" cannot be files of one folder"#),
        (.wrongSize("a", expected: 5, received: 4), #"the content of "a" has 4 bytes, and the list says 5"#),
        (.wrongSize("a", expected: 5, received: nil), #"the content of "a" has more bytes, and the list says 5"#),
        (
            .wrongChecksum("a", expected: "x", received: "y"),
            #"the content of "a" has the SHA-256 y, and the list says x"#
        ),
        (.system("cannot write"), "cannot write"),
    ]

    @Test(arguments: texts) func anErrorIsOneSentence(error: FolderError, text: String) {
        #expect(error.description == text && error.debugDescription == text && error.errorDescription == text)
    }

    /// The text of a list can be anything, so only the text for developers shows it.
    @Test func onlyTheDebugTextShowsTheList() {
        let (known, unknown) = (
            FolderError.unusableList(Self.list, problem: "it is bad", found: "<x>"),
            FolderError.unusableList(Self.list, problem: "it is bad", found: nil)
        )
        #expect(known.description == unknown.description && known.description.hasSuffix(": it is bad"))
        #expect(known.debugDescription == known.description + #": "<x>""#)
        #expect(unknown.debugDescription == unknown.description && known.errorDescription == known.description)
    }

    @Test(
        arguments: [
            (.inUse(path: "m", holder: nil), ErrorArea.lease, true), (.inTheWay(path: "a"), .storage, false),
            (.damagedIndex(path: "a"), .storage, false), (.system("x"), .storage, false),
            (.collision("a", "A"), .data, false), (.unusableList(list, problem: "x", found: nil), .data, false),
            (.wrongSize("a", expected: 1, received: nil), .data, true),
            (.wrongChecksum("a", expected: "x", received: "y"), .data, true),
        ] as [(FolderError, ErrorArea, Bool)])
    func anErrorHasAnArea(error: FolderError, area: ErrorArea, isRetryable: Bool) {
        #expect(error.errorArea == area && error.isRetryable == isRetryable)
    }
}
