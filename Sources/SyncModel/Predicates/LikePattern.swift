/// The matching of texts with patterns, the same for every store.
package enum LikePattern {
    /// Returns whether a whole text matches a pattern; see `PropertyPath.like(_:)`.
    ///
    /// - Parameters:
    ///   - text: UTF-8.
    ///   - pattern: UTF-8, with `%`, `_` and backslashes.
    package static func matches(_ text: [UInt8], pattern: [UInt8]) -> Bool {
        // Where to continue after a mismatch: after the last `%`, with one more byte of the text.
        var resume: (text: Int, pattern: Int)?
        var index = 0
        var patternIndex = 0
        while index < text.count {
            if patternIndex < pattern.count {
                switch pattern[patternIndex] {
                case UInt8(ascii: "%"):
                    patternIndex += 1
                    resume = (index, patternIndex)
                    continue
                case UInt8(ascii: "_"):
                    index = end(ofScalarAt: index, in: text)
                    patternIndex += 1
                    continue
                case UInt8(ascii: "\\") where patternIndex + 1 < pattern.count:
                    if pattern[patternIndex + 1] == text[index] {
                        index += 1
                        patternIndex += 2
                        continue
                    }
                case text[index]:
                    index += 1
                    patternIndex += 1
                    continue
                default: break
                }
            }
            guard let last = resume else { return false }
            index = end(ofScalarAt: last.text, in: text)
            patternIndex = last.pattern
            resume = (index, patternIndex)
        }
        return pattern[patternIndex...].allSatisfy { $0 == UInt8(ascii: "%") }
    }

    /// Returns the text that every matching text begins with; empty for none.
    package static func literalPrefix(of pattern: String) -> String {
        var prefix = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
                continue
            } else if scalar == "%" || scalar == "_" {
                break
            }
            prefix.append(scalar)
        }
        // A backslash at the end stands for itself.
        if isEscaped { prefix.append("\\") }
        return String(prefix)
    }

    private static func end(ofScalarAt index: Int, in text: [UInt8]) -> Int {
        var end = index + 1
        while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }
}
