/// What the process tells whoever started it.
enum ExitCode {
    static let done: Int32 = 0
    static let failed: Int32 = 1
    /// `EX_USAGE` of sysexits(3).
    static let wrongUsage: Int32 = 64
    /// 128 and the number of `SIGINT`, as shells have it.
    static let interrupted: Int32 = 130
}
