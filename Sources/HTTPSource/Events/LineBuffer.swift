/// Divides bytes into lines of a limited length.
struct LineBuffer {
    let limit: Int
    private var line: [UInt8] = []
    private var isTooLong = false

    init(limit: Int) {
        self.limit = limit
    }

    /// The lines that end in a piece, without blank ones; nil for one that is too long.
    mutating func append(_ piece: [UInt8]) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            extend(by: rest[..<end])
            rest = rest[(end + 1)...]
            if isTooLong {
                lines.append(nil)
            } else if line.contains(where: { $0 > 0x20 }) {
                lines.append(line)
            }
            (line, isTooLong) = ([], false)
        }
        extend(by: rest)
        return lines
    }

    private mutating func extend(by bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        if line.count + bytes.count > limit { (line, isTooLong) = ([], true) } else { line += bytes }
    }
}
