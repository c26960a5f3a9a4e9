import HTTPSource

extension HTTPAPI.Pages {
    /// Creates pages from a command-line value; nil if the value is invalid.
    ///
    /// A question mark after a field means that the last page may lack it.
    init?(argument text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "?" }) else { return nil }
        let field = parts.count > 1 ? parts[1] : ""
        let mayBeAbsent = field.hasSuffix("?")
        let keyPath = mayBeAbsent ? String(field.dropLast()) : field
        let pages: HTTPAPI.Pages
        switch (parts[0], parts.count) {
        case ("auto", 1): pages = .automatic
        case ("link", 1): pages = .link
        case ("link", 2): pages = .linkField(keyPath: keyPath)
        case ("links", 2): pages = .links(keyPath: keyPath)
        case ("header", 2): pages = .link(header: field)
        case ("header", 3): pages = .cursor(header: field, parameter: parts[2])
        case ("cursor", 3): pages = .cursor(keyPath: keyPath, parameter: parts[2])
        case ("body", 3): pages = .cursor(keyPath: keyPath, bodyKeyPath: parts[2])
        case ("last", 3): pages = .lastElement(keyPath: keyPath, parameter: parts[2])
        case ("parameters", 2): pages = .parameters(keyPath: keyPath)
        case ("page", 2): pages = .page(parameter: field)
        case ("offset", 2): pages = .offset(parameter: field)
        default: return nil
        }
        self = mayBeAbsent ? pages.omittingLastPointer() : pages
    }
}

extension HTTPAPI.Pages.End {
    /// Creates a sign of the last page from a command-line value; nil if the value is invalid.
    init?(argument text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        switch (parts[0], parts.count) {
        case ("short", 1): self = .shortPage
        case ("set", 2): self = .set(keyPath: parts[1])
        case ("unset", 2): self = .unset(keyPath: parts[1])
        case ("total", 2): self = .total(keyPath: parts[1])
        case ("status", 2):
            guard let status = Int(parts[1]) else { return nil }
            self = .status([status])
        default: return nil
        }
    }
}

extension ServerArguments {
    /// The options that set what an advice names.
    static func text(of advice: HTTPAPI.Advice) -> String {
        switch advice {
        case .pages(let scheme): option(scheme)
        case .isTotalExact: "--inexact-total"
        // Only APIs that are known have a check.
        case .check: "--api NAME"
        }
    }

    private static func option(_ scheme: HTTPAPI.Advice.Scheme) -> String {
        switch scheme {
        case .link: "--pages link"
        case .linkField(let keyPath): "--pages " + ShellWord.quoted("link:\(keyPath)")
        case .links(let keyPath, "rel", "href"): "--pages " + ShellWord.quoted("links:\(keyPath)")
        // No value of `--pages` has other keys of a link; only this API does.
        case .links: "--api fhir"
        case .page(let parameter, 1): "--pages " + ShellWord.quoted("page:\(parameter)")
        // Numbers of `--pages` begin with 1; the usual signs lead on from any.
        case .page: "--pages auto"
        case .offset(let parameter): "--pages " + ShellWord.quoted("offset:\(parameter)")
        case .cursor(let keyPath, let parameter):
            "--pages " + ShellWord.quoted("cursor:\(keyPath):\(parameter ?? "PARAM")")
        }
    }
}
