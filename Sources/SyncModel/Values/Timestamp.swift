public import Foundation

/// A date and time in microseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// Mappers, batches and stores use this one exact form. It covers 292,000 years in both directions. A
/// `Date` of the years 1716 to 2286 with whole microseconds converts both ways without loss; other dates
/// are rounded.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The microseconds since 1970-01-01T00:00:00Z; negative before.
    public var microseconds: Int64

    /// Creates a timestamp from microseconds since 1970.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Creates the timestamp nearest to a date.
    ///
    /// A date outside the range, or one that is not a number, becomes the nearest end of the range.
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
