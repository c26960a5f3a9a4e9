import JSONMapper

/// Called by libFuzzer with every input it thinks up; without it, this program does nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    _ = try? JSONValue(parsing: bytes)
    return 0
}
