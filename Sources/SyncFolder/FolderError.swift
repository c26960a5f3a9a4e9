public import Foundation
import HTTPTransfer
public import OneWaySynchronizer
package import SyncBase

/// An error of a mirrored folder.
public enum FolderError: Error, Hashable, Sendable {
    /// Another pass changes the folder; `holder` is nil if it is not known.
    case inUse(path: String, holder: SyncLeaseHolder?)
    /// Something that the mirror did not write, or that was changed since, has the place of a file
    /// or folder; `isFolder` is `true` if it is a folder.
    case inTheWay(path: String, isFolder: Bool = false)
    /// The index cannot be read.
    case damagedIndex(path: String)
    /// Two keys of the list stand for files that cannot exist together.
    case collision(SyncKey, SyncKey)
    /// The list is not usable. `problem` has the place and the reason; `found` is the text of the
    /// list that is not valid, or nil if it does not help.
    case unusableList(URL, problem: String, found: String?)
    /// The content does not have the listed size in bytes; `received` is nil if it is larger.
    case wrongSize(SyncKey, expected: Int, received: Int?)
    /// The content does not have the listed SHA-256.
    case wrongChecksum(SyncKey, expected: String, received: String)
    /// The system refused an operation; the text contains the operation and the reason.
    case system(String)
}

extension FolderError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// The error as one sentence with the text of the list that is not valid.
    public var debugDescription: String {
        if case .unusableList(_, _, let found?) = self { "\(description): \"\(found)\"" } else { description }
    }

    /// The error as one sentence, without text of a list other than keys, sizes and checksums.
    public var description: String {
        switch self {
        case .inUse(let path, let holder?): "\(path): another mirror is at work here, \(holder)"
        case .inUse(let path, nil): "\(path): another mirror is at work here"
        case .inTheWay(let path, true): "\(path): a folder is in the way of a file; move it away"
        case .inTheWay(let path, false):
            "\(path): a file that this mirror did not write, or that was changed since, is in the way; move it away"
        case .damagedIndex(let path):
            "\(path): the index is damaged; remove it, and the files that the mirror wrote, to begin anew"
        case .collision(let one, let other):
            "\(one.debugDescription) and \(other.debugDescription) cannot be files of one folder"
        case .unusableList(let url, let problem, _): "\(url.displayName): \(problem)"
        case .wrongSize(let key, let expected, let received):
            "the content of \(key.debugDescription) has \(received.map { "\($0)" } ?? "more") bytes, "
                + "and the list says \(expected)"
        case .wrongChecksum(let key, let expected, let received):
            "the content of \(key.debugDescription) has the SHA-256 \(received), and the list says \(expected)"
        case .system(let text): text
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension FolderError: RetryableError {
    /// `true` for content that may have changed between the list and the download, and for a folder
    /// in use.
    public var isRetryable: Bool {
        switch self {
        case .inUse, .wrongSize, .wrongChecksum: true
        case .inTheWay, .damagedIndex, .collision, .unusableList, .system: false
        }
    }
}

extension FolderError: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .inUse: .lease
        case .inTheWay, .damagedIndex, .system: .storage
        case .collision, .unusableList, .wrongSize, .wrongChecksum: .data
        }
    }
}
