import Foundation

/// The lookup of the XML file in a model folder, and its reading.
enum ModelFolder {
    /// Returns the XML file for a URL of a file, a model folder, or a folder of versions.
    static func contents(of url: URL) throws(ModelFileError) -> URL {
        guard isFolder(url) else { return url }
        if let contents = contents(inModel: url) { return contents }
        let versions = try names(in: url).filter { $0.hasSuffix(".xcdatamodel") }.sorted()
        let marker = url.appendingPathComponent(".xccurrentversion")
        let version: String
        if FileManager.default.fileExists(atPath: marker.path) {
            guard let name = currentVersion(in: try data(of: marker)), versions.contains(name) else {
                throw .unknownCurrentVersion(file: url.path)
            }
            version = name
        } else {
            guard let only = versions.first else { throw .notAModel(file: url.path) }
            guard versions.count == 1 else { throw .noCurrentVersion(file: url.path) }
            version = only
        }
        let folder = url.appendingPathComponent(version)
        guard let contents = contents(inModel: folder) else { throw .notAModel(file: folder.path) }
        return contents
    }

    /// Returns the bytes of a file.
    ///
    /// - Throws: `ModelFileError.tooLarge` for more than `ModelFile.maximumByteCount`, or
    ///   `unreadable`.
    static func data(of url: URL) throws(ModelFileError) -> Data {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: url)
            defer { try? handle.close() }
            data = try handle.read(upToCount: ModelFile.maximumByteCount + 1) ?? Data()
        } catch {
            throw .unreadable(file: url.path, reason: error.localizedDescription)
        }
        guard data.count <= ModelFile.maximumByteCount else { throw .tooLarge(file: url.path) }
        return data
    }

    private static func contents(inModel folder: URL) -> URL? {
        let contents = folder.appendingPathComponent("contents")
        return FileManager.default.fileExists(atPath: contents.path) && !isFolder(contents) ? contents : nil
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func names(in folder: URL) throws(ModelFileError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw .unreadable(file: folder.path, reason: error.localizedDescription)
        }
    }

    private static func currentVersion(in propertyList: Data) -> String? {
        let list = try? PropertyListSerialization.propertyList(from: propertyList, format: nil)
        return (list as? [String: Any])?["_XCCurrentVersionName"] as? String
    }
}
