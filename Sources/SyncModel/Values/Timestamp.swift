public import Foundation

/// A point in time in whole microseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// The exact representation of dates in this package: mappers create timestamps, batches carry
/// them, and stores compare them. The range is about 292,000 years before and after 1970. A `Date`
/// between 1716 and 2286 that represents whole microseconds converts both ways without loss; other
/// dates are rounded.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The microseconds since 1970-01-01T00:00:00Z; negative before it.
    public var microseconds: Int64

    /// Creates a timestamp from microseconds since 1970.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Creates the timestamp nearest to a date.
    ///
    /// A date beyond about 146,000 years from 2001 is limited to that range; a date that is not a
    /// number becomes the earliest.
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

    /// Returns whether one timestamp is earlier than another.
    public static func < (one: Timestamp, other: Timestamp) -> Bool {
        one.microseconds < other.microseconds
    }

    /// The microseconds from 1970 to 2001-01-01T00:00:00Z, the reference date of `Date`.
    private static let referenceMicroseconds: Int64 = 978_307_200_000_000
}
