#if !Essentials || !canImport(FoundationEssentials)
import Foundation
#else
import FoundationEssentials
#endif

/// Texts of errors of any type, without the values that an error is about.
package enum ErrorText {
    /// Returns the description of an error.
    ///
    /// The errors of `Codable` describe themselves with the value that they are about, so only
    /// their kind and their coding path are described here. Foundation's errors describe themselves
    /// with all values that accompany them, so only their short text is used. Any other error is
    /// described by its `errorDescription`, if it has one.
    package static func describing(_ error: any Error) -> String {
        if let text = codingProblem(error) { return text }
        if !(error is any AreaError), let text = (error as? any LocalizedError)?.errorDescription, !text.isEmpty {
            return text
        }
        return foundationText(error) ?? "\(error)"
    }

    /// Returns the short text of an error of Foundation; nil for any other error.
    private static func foundationText(_ error: any Error) -> String? {
        #if !Essentials || !canImport(FoundationEssentials)
        // A cast to `NSError` alone succeeds for every error on Apple platforms.
        let isObject = type(of: error) is NSError.Type
        return isObject || error is CocoaError || error is POSIXError ? error.localizedDescription : nil
        #else
        // Without Foundation, an error has no text of its own.
        if let error = error as? CocoaError { return "CocoaError \(error.code.rawValue)" }
        return (error as? POSIXError).map { "\($0.code)" }
        #endif
    }

    /// Returns the beginning of a statement in one line, for the end of a sentence; empty if there
    /// is none.
    ///
    /// A statement that writes a batch has thousands of characters.
    package static func place(in statement: String?) -> String {
        guard let statement else { return "" }
        let limit = 120
        let line = statement.prefix(4 * limit).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let isCut = line.count > limit || !statement.dropFirst(4 * limit).isEmpty
        return " in: " + line.prefix(limit) + (isCut ? "…" : "")
    }

    /// Returns the kind and the coding path of an error of `Codable`; nil for any other error.
    package static func codingProblem(_ error: any Error) -> String? {
        let (reason, context): (String, [any CodingKey]) =
            switch error {
            case DecodingError.keyNotFound(let key, let context): ("\(key.stringValue) is missing", context.codingPath)
            case DecodingError.valueNotFound(_, let context): ("a value is missing", context.codingPath)
            case DecodingError.typeMismatch(let type, let context):
                ("the value is not of type \(type)", context.codingPath)
            case DecodingError.dataCorrupted(let context): ("the value is not valid", context.codingPath)
            case is DecodingError: ("the value cannot be decoded", [])
            case EncodingError.invalidValue(_, let context): ("the value cannot be encoded", context.codingPath)
            case is EncodingError: ("the value cannot be encoded", [])
            default: ("", [])
            }
        guard !reason.isEmpty else { return nil }
        let path = context.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? reason : "\(reason) at \(path)"
    }
}
