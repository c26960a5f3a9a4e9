extension SQLNaming {
    /// The stored form of dates.
    public enum DateStorage: String, Hashable, Sendable, Codable, CaseIterable {
        /// ISO 8601 text in UTC with six digits after the second: `2014-02-14T00:00:00.000000Z`.
        ///
        /// The texts sort like the dates, and SQLite's date functions can read them. A date before
        /// the year 0 is stored as an integer, and a date after 9999 as a blob of eight bytes. Both
        /// hold the microseconds since 1970. Integers sort before all texts, and blobs after them.
        case iso8601
        /// Seconds since 1970 as a floating-point number, exact to the microsecond from 1685 to
        /// 2255.
        case secondsSince1970
        /// Seconds since 2001 as a floating-point number, exact to the microsecond from 1716 to
        /// 2286. Core Data stores dates in this form.
        case secondsSince2001
    }
}
