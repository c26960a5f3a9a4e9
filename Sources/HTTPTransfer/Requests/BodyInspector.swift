/// Examines a body while it arrives.
package protocol BodyInspector: SendableMetatype {
    /// The findings of the inspector.
    associatedtype Facts: Sendable

    /// Processes the next bytes.
    mutating func inspect(_ bytes: [UInt8])
    /// Returns the findings after the last bytes.
    mutating func finish() -> Facts
}

/// An inspector for bodies that need no examination.
package struct NoInspector: BodyInspector {
    package mutating func inspect(_ bytes: [UInt8]) {}
    package mutating func finish() {}
}
