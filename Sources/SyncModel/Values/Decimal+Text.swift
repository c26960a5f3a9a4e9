package import Foundation

extension Decimal {
    /// Creates a number from a text in the syntax of JSON; nil for any other text.
    ///
    /// A leading plus sign and leading zeros are also accepted.
    package init?(exactly text: UnsafeBufferPointer<UInt8>) {
        var canonical: [UInt8] = []
        guard DecimalText.append(canonical: text, within: .decimal, to: &canonical) else { return nil }
        self.init(string: String(decoding: canonical, as: UTF8.self))
    }
}
