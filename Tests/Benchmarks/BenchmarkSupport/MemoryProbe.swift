#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import Foundation

/// Measures peak memory of a case by running it alone in a child process of the same executable.
///
/// A benchmark makes one probe of all the cases whose memory matters, calls ``runIfChild()`` before
/// anything else, and later asks for ``peakBytes(of:)``.
public struct MemoryProbe: Sendable {
    private static let argument = "--memory-case"
    private let cases: [String: @Sendable () async throws -> Int]

    /// Makes a probe of named cases.
    public init(_ cases: [String: @Sendable () async throws -> Int]) {
        self.cases = cases
    }

    /// In a child process started by ``peakBytes(of:)``: runs its case and prints the peak.
    ///
    /// - Returns: whether this process was such a child and should now end.
    /// - Throws: what the case throws.
    public func runIfChild() async throws -> Bool {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, arguments[1] == Self.argument, let work = cases[arguments[2]] else { return false }
        consume(try await work())
        print(Self.ownPeakBytes() ?? 0)
        return true
    }

    /// Highest resident memory of a fresh process that runs only this case, in bytes; nil where it
    /// cannot be told.
    public func peakBytes(of name: String) -> Int? {
        #if os(macOS) || os(Linux)
        guard let executable = Bundle.main.executableURL else { return nil }
        let child = Process()
        let output = Pipe()
        child.executableURL = executable
        child.arguments = [Self.argument, name]
        child.standardOutput = output
        guard (try? child.run()) != nil else { return nil }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        child.waitUntilExit()
        guard child.terminationStatus == 0 else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
            .flatMap { $0 > 0 ? $0 : nil }
        #else
        return nil
        #endif
    }

    /// The row of a case whose memory is all that matters; its seconds are those of the whole child
    /// process.
    public func row(of name: String, n: Int) -> BenchmarkReport.Row {
        let start = ContinuousClock.now
        let peak = peakBytes(of: name)
        let elapsed = start.duration(to: .now) / .seconds(1)
        return BenchmarkReport.Row(name: name, n: n, seconds: elapsed, peakMemoryBytes: peak)
    }

    /// Has the peak of this process begin anew, after what was made ready for a case; only Linux
    /// can do so.
    public static func forgetPeak() {
        #if os(Linux)
        // 5 stands for the peak (proc_pid_clear_refs(5)).
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        #endif
    }

    /// Highest resident memory of this process so far, in bytes.
    public static func ownPeakBytes() -> Int? {
        #if os(Linux)
        // VmHWM starts anew at exec; ru_maxrss would start with the parent's.
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
                .flatMap { Int($0) }.map { $0 * 1024 }
        }
        return nil
        #else
        var usage = rusage()
        guard getrusage(RUSAGE_SELF, &usage) == 0 else { return nil }
        return Int(usage.ru_maxrss)
        #endif
    }
}
