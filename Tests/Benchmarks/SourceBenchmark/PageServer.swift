#if os(macOS) || os(Linux)
import OneWayBenchmarkSupport
import Foundation
import OneWayLoopbackServer

/// A server of users in pages, in a process of its own, whose memory and work are not those of
/// whoever asks it.
final class PageServer {
    static let argument = "--serve"

    /// The first page.
    let url: URL
    private let process = Process()
    private let input = Pipe()

    /// Starts a process that serves users.
    ///
    /// - Parameters:
    ///   - count: The number of users.
    ///   - pageSize: The number of users of a page.
    init(count: Int, pageSize: Int) throws {
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [Self.argument, String(count), String(pageSize)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // It prints its address once it is ready.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: line.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw NoServer() }
        self.url = url
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    struct NoServer: Error {}

    /// In a process that was started for it: serves until standard input ends.
    ///
    /// - Returns: Whether this is such a process, which should end now.
    static func runIfChild() async throws -> Bool {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, arguments[1] == argument, let count = Int(arguments[2]),
            let pageSize = Int(arguments[3])
        else { return false }
        let pages = pages(count: count, pageSize: pageSize)
        let server = try LoopbackHTTPServer { request in
            guard let page = Int(request.query("page") ?? "1"), pages.indices.contains(page - 1) else {
                return .status(404)
            }
            let next = page < pages.count ? [("Link", "</users?page=\(page + 1)>; rel=\"next\"")] : []
            return .bytes(pages[page - 1], type: "application/json", headers: next)
        }
        try FileHandle.standardOutput.write(contentsOf: Data("\(server.baseURL)/users?page=1\n".utf8))
        _ = try FileHandle.standardInput.readToEnd()
        await server.stop()
        return true
    }

    /// All users, in arrays of a page each.
    private static func pages(count: Int, pageSize: Int) -> [[UInt8]] {
        let users = UserGenerator.bytes(count: count).split(separator: UInt8(ascii: "\n")).dropFirst().dropLast()
        return stride(from: 0, to: count, by: pageSize).map { start in
            var page = Array("[".utf8)
            for user in users[users.startIndex + start..<min(users.startIndex + start + pageSize, users.endIndex)] {
                page += user
            }
            if page.last == UInt8(ascii: ",") { page.removeLast() }
            return page + Array("]".utf8)
        }
    }
}
#endif
