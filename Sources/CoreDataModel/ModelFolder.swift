import Foundation

/// The lookup of the XML file in a model folder, and its reading.
enum ModelFolder {
    /// Returns the XML file for a URL of a file, a model folder, or a folder of versions.
    ///
    /// - Returns: The XML file, and the name of its version if that had to be assumed.
    static func contents(of url: URL) throws(ModelFile.Failure) -> (file: URL, assumedVersion: String?) {
        guard isFolder(url) else { return (url, nil) }
        if let contents = contents(inModel: url) { return (contents, nil) }
        let names = try names(in: url)
        // Newer versions have higher numbers; the first one often has none.
        let versions = names.filter { $0.hasSuffix(suffix) }
            .sorted {
                $0.dropLast(suffix.count).compare($1.dropLast(suffix.count), options: .numeric) == .orderedAscending
            }
        guard let latest = versions.last else { throw refusal(of: url, containing: names) }
        let marker = url.appendingPathComponent(".xccurrentversion")
        var version = latest
        let isMarked = FileManager.default.fileExists(atPath: marker.path)
        if isMarked {
            guard let name = currentVersion(in: try data(of: marker)), versions.contains(name) else {
                throw .unknownCurrentVersion(file: url.path)
            }
            version = name
        }
        let folder = url.appendingPathComponent(version)
        guard let contents = contents(inModel: folder) else {
            throw refusal(of: folder, containing: try self.names(in: folder))
        }
        return (contents, isMarked || versions.count == 1 ? nil : version)
    }

    private static let suffix = ".xcdatamodel"

    /// Returns the error for a folder without XML, by the names of its files.
    private static func refusal(of folder: URL, containing names: [String]) -> ModelFile.Failure {
        if names.contains(where: { $0.hasSuffix(".mom") || $0.hasSuffix(".omo") }) {
            return .compiled(file: folder.path)
        }
        return names.contains("elements") ? .outdatedFormat(file: folder.path) : .notAModel(file: folder.path)
    }

    /// Checks that a file is not a binary property list, as compiled and outdated models are.
    static func checkFormat(_ data: Data, file: String) throws(ModelFile.Failure) {
        guard data.starts(with: Data("bplist".utf8)) else { return }
        throw URL(fileURLWithPath: file).lastPathComponent == "elements"
            ? .outdatedFormat(file: file) : .compiled(file: file)
    }

    /// Returns the bytes of a file.
    ///
    /// - Throws: `ModelFile.Failure.tooLarge` for more than `ModelFile.maximumByteCount`, or
    ///   `unreadable`.
    static func data(of url: URL) throws(ModelFile.Failure) -> Data {
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

    private static func names(in folder: URL) throws(ModelFile.Failure) -> [String] {
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
