import OneWaySynchronizer

/// The removal of items.
extension OpenFolder {
    /// Removes items, also after one that cannot be removed.
    ///
    /// - Throws: The first error. The items that it concerns stay in the index.
    func remove(_ keys: Set<SyncKey>) throws(FolderError) {
        var first: FolderError?
        for key in keys {
            do throws(FolderError) {
                try remove(key)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }

    /// Removes an item's files, then its entry; missing files are not an error.
    func remove(_ key: SyncKey) throws(FolderError) {
        guard let entry = entry(of: key) else { return }
        try dropPart(of: key)
        try removeFile(of: key, in: root, isOwned: { entry.owns($0, as: \.content) })
        try removePreview(of: key)
        try append(.removed(key))
    }

    /// Removes an item's preview, if it has one.
    func removePreview(of key: SyncKey) throws(FolderError) {
        guard let entry = entry(of: key), !entry.preview.isEmpty || entry.isDoubtful else { return }
        if let internals = try existingFolder(FilePath.internals, in: root, of: key),
            let previews = try existingFolder(Self.previewsName, in: internals, of: key)
        {
            try removeFile(of: key, in: previews, isOwned: { entry.owns($0, as: \.preview) })
        }
        try append(.preview(key, nil))
    }

    /// Removes a file if it is the mirror's, and the folders that are empty then. Anything else is
    /// left alone.
    private func removeFile(
        of key: SyncKey, in base: Directory, isOwned: (FileStatus) -> Bool
    ) throws(FolderError) {
        let path = FilePath(of: key)
        var folders = [base]
        for name in path.folders {
            guard let next = try existingFolder(name, in: folders[folders.count - 1], of: key) else { return }
            folders.append(next)
        }
        let folder = folders[folders.count - 1]
        guard let status = try folder.knownStatus(path.name) else { return }
        guard isOwned(status) else {
            return note(
                "\(folder.path(of: path.name)) was not written by this mirror, or was changed since, and was left alone"
            )
        }
        try folder.remove(path.name)
        for (parent, name) in zip(folders, path.folders).reversed() where !parent.removeEmptyDirectory(name) { return }
    }

    /// Opens a folder to remove the file of a key in it; nil if there is none. If a link or a file
    /// has its place, the mirror's file cannot be reached: nil, with a note.
    private func existingFolder(
        _ name: String, in parent: Directory, of key: SyncKey
    ) throws(FolderError) -> Directory? {
        do throws(FolderError) {
            return try parent.directory(name, isMade: false)
        } catch {
            guard case .inTheWay(let path, _) = error else { throw error }
            note("\(path) is not a folder, so that the file of \(key.debugDescription) in it was left alone")
            return nil
        }
    }
}
