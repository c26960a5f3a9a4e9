import Foundation
import HTTPTransfer
import OneWaySynchronizer

/// One entry of a server's list: what it is called, where it is, and how to tell whether it changed.
struct MirrorItem: SyncItem, Equatable {
    var owsPrimaryKey: MirrorKey
    var owsDownloadOrder: Int
    /// Where the content is; http or https.
    var url: URL
    /// Changes when the content does. nil when the server does not say: the item is then fetched in every pass.
    var revision: String?
    /// Where the preview is; nil when there is none.
    var previewURL: URL?
}

/// A key as the server wrote it, compared byte by byte.
///
/// Swift's `String` holds different spellings of the same letters to be equal; to a server they are different keys.
struct MirrorKey: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: MirrorKey, right: MirrorKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }
}

extension MirrorKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// The key, fit for one line of a terminal.
    var description: String { PrintableText.line(text) }
    var debugDescription: String { "\"\(description)\"" }
}
