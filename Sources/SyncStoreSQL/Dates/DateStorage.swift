/// How a database keeps dates.
public enum DateStorage: String, Hashable, Sendable, Codable, CaseIterable {
    /// As ISO 8601 text in UTC with six digits after the second, such as
    /// `2014-02-14T00:00:00.000000Z`, so that texts sort as the moments do and SQLite's date
    /// functions read them. A moment before the year 0 is kept as its microseconds since 1970, one
    /// after 9999 as these in eight bytes, which sort before and after all text.
    case iso8601
    /// As seconds since 1970, a floating point number: exact to the microsecond from 1685 to 2255.
    case secondsSince1970
}
