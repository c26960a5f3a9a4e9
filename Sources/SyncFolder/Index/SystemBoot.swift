import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// The running system, from its start to its end.
enum SystemBoot {
    /// A text that differs after each start of the system.
    ///
    /// Where the system does not say, it differs in each process, so that a killed process is taken
    /// for a killed system.
    static let identifier: String = {
        #if canImport(Darwin)
        var size = 64
        var text = [CChar](repeating: 0, count: size)
        if sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 {
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        #else
        if let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) {
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        #endif
        return UUID().uuidString
    }()
}
