/// Examines a body while it arrives.
package protocol BodyInspector: SendableMetatype {
    /// What the inspector finds.
    associatedtype Facts: Sendable

    /// Takes the next bytes.
    mutating func inspect(_ bytes: [UInt8])
    /// Returns the findings after the last bytes.
    mutating func finish() -> Facts
}

/// An inspector for bodies that nobody examines.
package struct NoInspector: BodyInspector {
    package mutating func inspect(_ bytes: [UInt8]) {}
    package mutating func finish() {}
}
