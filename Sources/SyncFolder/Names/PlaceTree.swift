import Foundation
import OneWaySynchronizer

/// The files that keys stand for, and their folders. Time and memory are proportional to the keys,
/// however deep their folders are.
struct PlaceTree {
    /// A name in a folder, as the file system compares it.
    private struct Place: Hashable {
        /// The number of the folder; 0 for the root.
        var folder: Int
        var name: SyncKey
    }

    /// A folder, and how its name was spelled first, by which key.
    private struct Folder {
        var number: Int
        var spelling: String
        var key: SyncKey
    }

    private var folders: [Place: Folder] = [:]
    private var files: [Place: SyncKey] = [:]
    /// Whether names are equal that differ in case or Unicode normalization.
    private let ignoresCase: Bool

    init(ignoresCase: Bool) {
        self.ignoresCase = ignoresCase
    }

    /// Adds the file of a key. An equal key changes nothing.
    ///
    /// - Throws: ``FolderError/collision(_:_:)`` for another file at the same place, and for
    ///   another spelling of a folder. A file in the place of a folder is not noticed.
    mutating func add(_ key: SyncKey) throws(FolderError) {
        let path = FilePath(of: key)
        var folder = 0
        for name in path.folders {
            let place = position(of: name, in: folder)
            if let known = folders[place] {
                guard SyncKey(known.spelling) == SyncKey(name) else { throw .collision(known.key, key) }
                folder = known.number
            } else {
                folder = folders.count + 1
                folders[place] = Folder(number: folder, spelling: name, key: key)
            }
        }
        if let other = files.updateValue(key, forKey: position(of: path.name, in: folder)), other != key {
            throw .collision(other, key)
        }
    }

    /// Keys of a file and a folder in one place; nil if there are none.
    var clash: (file: SyncKey, folder: SyncKey)? {
        for (place, folder) in folders {
            if let file = files[place] { return (file, folder.key) }
        }
        return nil
    }

    /// Whether the file of another key, or a folder of it, has the place of a file or folder that
    /// cannot be the same.
    func isObstructed(by key: SyncKey) -> Bool {
        let path = FilePath(of: key)
        var folder = 0
        for name in path.folders {
            let place = position(of: name, in: folder)
            if files[place] != nil { return true }
            guard let known = folders[place] else { return false }
            folder = known.number
        }
        let place = position(of: path.name, in: folder)
        return files[place] != nil || folders[place] != nil
    }

    private func position(of name: String, in folder: Int) -> Place {
        let name = ignoresCase ? name.lowercased().decomposedStringWithCanonicalMapping : name
        return Place(folder: folder, name: SyncKey(name))
    }
}
