import SyncModel

/// Called by libFuzzer with every input it thinks up; without it, this program does nothing.
///
/// A date that is read must be written as a text that reads back as the same date.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let date = DateText.microseconds(UnsafeBufferPointer(start: start, count: count)) else { return 0 }
    precondition(DateText.microseconds(DateText.text(date, fraction: .shortest)) == date)
    return 0
}
