import JSONMapper

/// Called by libFuzzer with every input it thinks up; without it, this program does nothing.
///
/// A date that is read must be written as a text that reads back as the same date.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let date = DateParser.milliseconds(UnsafeBufferPointer(start: start, count: count)) else { return 0 }
    precondition(DateParser.milliseconds(DateFormat.iso8601.string(milliseconds: date)) == date)
    return 0
}
