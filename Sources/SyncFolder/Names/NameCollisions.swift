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
        var places = PlaceTree(ignoresCase: ignoresCase)
        for key in keys { try places.add(key) }
        if let clash = places.clash { throw .collision(clash.file, clash.folder) }
    }
}
