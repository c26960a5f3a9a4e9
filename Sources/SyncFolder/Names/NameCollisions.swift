import Foundation
import OneWaySynchronizer

/// The check that the files of a list can exist together.
enum NameCollisions {
    /// Checks the keys of a list. Equal keys are the synchronizer's business.
    ///
    /// - Parameters:
    ///   - keys: The keys of the list.
    ///   - ignoresCase: Whether the file system considers names equal that differ in case or
    ///     Unicode normalization.
    /// - Throws: ``FolderError/collision(_:_:)`` for a file in the place of another file or folder,
    ///   and for two spellings of one file or folder.
    static func check(_ keys: some Sequence<SyncKey>, ignoresCase: Bool) throws(FolderError) {
        /// The spelling of a folder, and a key with it.
        var folders: [SyncKey: (spelling: String, key: SyncKey)] = [:]
        var files: [SyncKey: SyncKey] = [:]
        for key in keys {
            let path = FilePath(of: key)
            if let other = files.updateValue(key, forKey: place(path.text, ignoresCase)), other != key {
                throw .collision(other, key)
            }
            var spelling = ""
            for name in path.folders {
                spelling += spelling.isEmpty ? name : "/" + name
                let place = place(spelling, ignoresCase)
                if let known = folders[place] {
                    guard SyncKey(known.spelling) == SyncKey(spelling) else { throw .collision(known.key, key) }
                } else {
                    folders[place] = (spelling, key)
                }
            }
        }
        for (place, folder) in folders {
            if let file = files[place] { throw .collision(file, folder.key) }
        }
    }

    /// What a path is to the file system, compared byte by byte.
    static func place(_ path: String, _ ignoresCase: Bool) -> SyncKey {
        ignoresCase ? SyncKey(path.lowercased().decomposedStringWithCanonicalMapping) : SyncKey(path)
    }
}
