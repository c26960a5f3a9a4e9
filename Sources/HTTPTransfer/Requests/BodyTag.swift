import Foundation

/// The strong entity tag of a body, with the address of the body.
///
/// Servers make tags from dates, sizes or counters, so a tag identifies a body only together with
/// its address (RFC 9110, section 8.8.3). If a redirect leads elsewhere, an equal tag can be that
/// of another body.
package struct BodyTag: Hashable, Sendable {
    /// The value of the field `ETag`.
    package let text: String
    /// The ``ContentAddress/mark(of:)`` of the address that the body came from, after redirects.
    package let address: String

    /// Creates a tag of an earlier download.
    package init(text: String, address: String) {
        self.text = text
        self.address = address
    }

    /// Creates the tag of a response from an address.
    init(_ text: String, at url: URL) {
        self.init(text: text, address: ContentAddress.mark(of: url))
    }
}
