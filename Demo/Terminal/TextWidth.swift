extension String {
    /// The number of columns that the text takes on a terminal.
    var columnCount: Int {
        reduce(0) { $0 + $1.columnCount }
    }

    /// Returns the text with at most the given number of columns. A longer text ends in `…`.
    func fitted(to width: Int) -> String {
        guard columnCount > width else { return self }
        var fitted = ""
        var count = 0
        for character in self {
            guard count + character.columnCount < width else { break }
            fitted.append(character)
            count += character.columnCount
        }
        return width > 0 ? fitted + "…" : ""
    }

    /// Returns the text, filled with spaces to the given number of columns.
    ///
    /// - Parameter isRight: Whether the spaces come first.
    func padded(to width: Int, isRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, width - columnCount))
        return isRight ? spaces + self : self + spaces
    }
}

extension Character {
    /// The number of columns on a terminal: 2 for East Asian characters and emoji, otherwise 1.
    fileprivate var columnCount: Int {
        guard let scalar = unicodeScalars.first, scalar.value >= 0x1100 else { return 1 }
        if scalar.properties.isEmojiPresentation { return 2 }
        // The wide blocks of Unicode Standard Annex 11.
        return Self.wideRanges.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF,
        0x20000...0x3FFFD,
    ]
}
