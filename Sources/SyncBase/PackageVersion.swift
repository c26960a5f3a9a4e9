/// The version of the package.
package enum PackageVersion {
    /// The latest version with a section of its own in `CHANGELOG.md`.
    package static let current = "0.1.0"
}
