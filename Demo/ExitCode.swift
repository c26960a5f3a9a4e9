/// The exit codes of the process.
enum ExitCode {
    static let done: Int32 = 0
    static let failed: Int32 = 1
    /// A sync was done, but it had findings that `--fail-on` names.
    static let incomplete: Int32 = 2
    /// `EX_USAGE` of sysexits(3).
    static let wrongUsage: Int32 = 64
    /// 128 plus the number of `SIGINT`, the convention of shells.
    static let interrupted: Int32 = 130
}
