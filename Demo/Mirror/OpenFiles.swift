import Foundation

/// The files and connections that the process may have open at once.
enum OpenFiles {
    /// What the largest number of concurrent downloads needs, each with a connection and files.
    private static let count: rlim_t = 8192

    /// Raises the limit as far as the system allows, because the usual one is too low for hundreds
    /// of concurrent downloads.
    static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < count else { return }
        limit.rlim_cur = min(limit.rlim_max, count)
        _ = setrlimit(resource, &limit)
    }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let resource = RLIMIT_NOFILE
    #endif
}
