import OneWaySynchronizer

/// The names of compressed files.
enum CompressedName {
    private static let encodings: [String: Set<String>] = [
        "gz": ["gzip", "x-gzip"], "tgz": ["gzip", "x-gzip"],
        "bz2": ["bzip2", "x-bzip2"], "tbz": ["bzip2", "x-bzip2"], "tbz2": ["bzip2", "x-bzip2"],
        "xz": ["xz", "x-xz"], "txz": ["xz", "x-xz"], "zst": ["zstd"], "br": ["br"], "z": ["compress", "x-compress"],
    ]

    /// Returns the values of `Content-Encoding` that are the compression in the name of a key, such
    /// as gzip for `a.tar.gz`; none for other names.
    ///
    /// Servers that take the compression from the name state it in this way. A client that
    /// decompressed the file would store another one under its name.
    static func encodings(of key: SyncKey) -> Set<String> {
        let name = key.text.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return [] }
        return encodings[name[dot...].dropFirst().lowercased()] ?? []
    }
}
