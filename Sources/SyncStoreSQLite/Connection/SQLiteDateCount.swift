import SyncModel
import SyncStoreSQL

/// The numbers that are stored for dates: seconds since a moment.
struct SQLiteDateCount: Sendable {
    /// The seconds since 1970, in which other programs may have written dates beside texts.
    static let since1970 = SQLiteDateCount(start: 0)

    /// The moment from which the seconds count, in microseconds since 1970.
    private let start: Int64

    private init(start: Int64) {
        self.start = start
    }

    /// Creates the count of a storage; nil if it stores texts.
    init?(_ storage: SQLNaming.DateStorage) {
        switch storage {
        case .iso8601: return nil
        case .secondsSince1970: self = .since1970
        case .secondsSince2001: self.init(start: 978_307_200_000_000)
        }
    }

    /// The number of a date.
    func seconds(_ moment: Timestamp) -> Double {
        let (difference, isTooEarly) = moment.microseconds.subtractingReportingOverflow(start)
        guard isTooEarly else { return Double(difference) / 1_000_000 }
        return (Double(moment.microseconds) - Double(start)) / 1_000_000
    }

    /// The date of a number; nil if it is out of range.
    func moment(_ seconds: Double) -> Timestamp? {
        let difference = (seconds * 1_000_000).rounded()
        // The latest dates are rounded to the next power of two.
        if difference == 0x1p63 { return Timestamp(microseconds: .max) }
        if let exact = Int64(exactly: difference) {
            let (sum, isTooLate) = exact.addingReportingOverflow(start)
            if !isTooLate { return Timestamp(microseconds: sum) }
        }
        return Int64(exactly: difference + Double(start)).map(Timestamp.init(microseconds:))
    }

    /// The date of a whole number, which a `NUMERIC` column stores as an integer.
    func moment(_ seconds: Int64) -> Timestamp? {
        let (microseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !isTooLarge else { return nil }
        let (sum, isTooLate) = microseconds.addingReportingOverflow(start)
        return isTooLate ? nil : Timestamp(microseconds: sum)
    }
}
