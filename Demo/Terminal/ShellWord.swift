import SyncBase

/// Words of command lines that are shown to people.
enum ShellWord {
    /// Returns a word with quotation marks if a shell would otherwise change it.
    static func quoted(_ word: String) -> String {
        let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./:=@%+,".contains($0)) }
        return isPlain && !word.isEmpty ? word : "'\(word.replacing(byte: UInt8(ascii: "'"), with: #"'\''"#))'"
    }
}
