/// The error of a source whose cursor expired after it had returned pages of changes.
///
/// The sync is rolled back, and begins again with the whole list.
package struct ExpiredCursor: Error {
    /// Creates an error.
    package init() {}
}
