extension JSONOutput.Layout {
    /// The options that name a layout.
    static let options: Set<String> = ["--array", "--lines", "--pretty"]
}

extension ArgumentScanner {
    /// Takes an option that names the layout of JSON.
    ///
    /// - Throws: ``UsageError`` if another one was given.
    mutating func takeLayout(_ option: String, into layout: inout JSONOutput.Layout) throws(UsageError) {
        try noValue(of: option)
        guard layoutOption == nil else { throw error("\(option) and \(layoutOption ?? "") exclude each other") }
        layoutOption = option
        switch option {
        case "--lines": layout = .lines
        case "--pretty": layout = .pretty
        default: layout = .array
        }
    }
}
