import Foundation
import HTTPTransfer
import OneWaySynchronizer

/// An entry of a server's list, with its key, addresses and revision.
struct MirrorItem: SyncItem, Equatable {
    var owsPrimaryKey: MirrorKey
    var owsDownloadOrder: Int
    /// The http or https address of the content.
    var url: URL
    /// A text that changes with the content. Nil if the server gives none; every pass then
    /// downloads the item.
    var revision: String?
    /// The address of the preview; nil if there is none.
    var previewURL: URL?
}

/// A key as the server wrote it, compared byte by byte.
///
/// Swift's `String` considers canonically equivalent texts equal; a server considers them different
/// keys.
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
    /// The key, escaped for one line of a terminal.
    var description: String { PrintableText.line(text) }
    var debugDescription: String { "\"\(description)\"" }
}
