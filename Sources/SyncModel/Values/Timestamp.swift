public import Foundation

/// A moment, as whole microseconds since the first of January 1970, 00:00 UTC, leap seconds not
/// counted.
///
/// The one exact form of dates in this package: mappers make it, batches carry it, stores compare
/// it. It reaches 292,000 years to either side. A `Date` of the years 1716 to 2286 that stands for
/// whole microseconds converts both ways without loss; others are rounded.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The microseconds since the first of January 1970, 00:00 UTC; negative before it.
    public var microseconds: Int64

    /// Creates a moment of microseconds since 1970.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Creates the moment nearest to a `Date`; the first or last one there is for a date beyond
    /// them, or no number.
    public init(_ date: Date) {
        let sinceReference = (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()
        let limited = min(max(sinceReference, -0x1p62), 0x1p62)
        microseconds = Int64(limited.isNaN ? -0x1p62 : limited) + Self.referenceMicroseconds
    }

    /// The nearest `Date`.
    public var date: Date {
        let (sinceReference, overflow) = microseconds.subtractingReportingOverflow(Self.referenceMicroseconds)
        return Date(timeIntervalSinceReferenceDate: Double(overflow ? Int64.min : sinceReference) / 1_000_000)
    }

    /// Whether one moment precedes another.
    public static func < (one: Timestamp, other: Timestamp) -> Bool {
        one.microseconds < other.microseconds
    }

    /// `Date` counts from the first of January 2001.
    private static let referenceMicroseconds: Int64 = 978_307_200_000_000
}
