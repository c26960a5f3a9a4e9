/// Seeded JSON of users, the input that all benchmarks read: one array, a record per line, made
/// piece by piece.
///
/// A record has `id`, `name`, `email`, `created_at`, `updated_at`, `score`, `active`, three `tags`
/// and an `address`; nested ones also have three `notes`, linked ones a `company`, which a hundred
/// users share. Three names in a hundred hold escapes, and one record in twenty is written in ASCII
/// alone.
public struct UserGenerator {
    private static let first = [
        "Elvis", "Melisa", "Ángel", "José", "Søren", "Mårten", "Zoë", "Łukasz", "Ivan", "Юлия", "太郎", "Anna", "Bob",
        "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi", "Judy",
    ]
    private static let last = [
        "Nuñez", "Smith", "Jones", "Brown", "Taylor", "Müller", "O'Brien", "Ladzeika", "Hansen", "García", "Kowalski",
        "山田", "Novak", "Rossi", "Silva", "Popov", "Kim", "Lee", "Chen", "Singh",
    ]
    private static let cities = [
        "Oslo", "Zürich", "San Francisco", "São Paulo", "東京", "Berlin", "New York", "Minsk", "København", "Paris",
    ]
    private static let tags = [
        "admin", "beta", "vip", "trial", "email", "mobile", "eu", "us", "apac", "churned", "new", "gold", "silver",
    ]
    private static let words = [
        "lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit", "sed", "do", "eiusmod", "tempor",
    ]
    /// 2014-02-14T02:30:10Z
    static let baseSeconds = 1_392_345_010

    private let count: Int
    private let isNested: Bool
    private let isLinked: Bool
    private var random: SeededRandom
    private var madeCount = 0
    private var hasEnded = false

    /// Makes the users 1 to `count`.
    public init(count: Int, isNested: Bool = false, isLinked: Bool = false, seed: UInt64 = 20_261_121) {
        self.count = count
        self.isNested = isNested
        self.isLinked = isLinked
        random = SeededRandom(seed: seed)
    }

    /// All of the JSON at once.
    public static func bytes(count: Int, isNested: Bool = false) -> [UInt8] {
        var generator = UserGenerator(count: count, isNested: isNested)
        var result: [UInt8] = []
        while let chunk = generator.nextChunk() { result += chunk }
        return result
    }

    /// The next piece, of some 64 KiB; nil after the last.
    public mutating func nextChunk() -> [UInt8]? {
        guard !hasEnded else { return nil }
        var text = madeCount == 0 ? "[\n" : ""
        while madeCount < count, text.utf8.count < 65_536 {
            if madeCount > 0 { text += ",\n" }
            madeCount += 1
            text += record(madeCount)
        }
        if madeCount == count {
            text += "\n]\n"
            hasEnded = true
        }
        return Array(text.utf8)
    }

    private mutating func record(_ id: Int) -> String {
        let first = pick(Self.first)
        let last = pick(Self.last)
        var name = "\(first) \(last)"
        switch Int.random(in: 0..<100, using: &random) {
        case 0...1: name = #"\#(first) \"\#(id % 97)\" \#(last)"#
        case 2: name = #"\#(first)\\\#(last)\t\#(id % 31)"#
        default: break
        }
        let created = Self.baseSeconds + Int.random(in: 0..<300_000_000, using: &random)
        let updated = created + Int.random(in: 0..<30_000_000, using: &random)
        let tags = Self.tags.shuffled(using: &random).prefix(3).map { "\"\($0)\"" }.joined(separator: ",")
        let score = Double(Int.random(in: 0..<1_000_000, using: &random)) / 1000
        let isActive = Int.random(in: 0..<10, using: &random) < 7
        let zip = String(String(100_000 + Int.random(in: 0..<100_000, using: &random)).dropFirst())
        var record =
            "{\"id\":\(id),\"name\":\"\(name)\",\"email\":\"user\(id)@example\(id * 7 % 50).com\""
            + ",\"created_at\":\"\(Self.date(created))\",\"updated_at\":\"\(Self.date(updated))\",\"score\":\(score)"
            + ",\"active\":\(isActive),\"tags\":[\(tags)],\"address\":{\"city\":\"\(pick(Self.cities))\",\"zip\":\"\(zip)\"}"
        if isNested {
            let notes = (0..<3).map { note in
                let text = (0..<8).map { _ in pick(Self.words) }.joined(separator: " ")
                let date = Self.date(created + 86_400 * note)
                return "{\"id\":\(id * 3 + note),\"text\":\"\(text)\",\"created_at\":\"\(date)\"}"
            }
            record += ",\"notes\":[\(notes.joined(separator: ","))]"
        }
        if isLinked {
            let company = (id - 1) / 100 + 1
            record += ",\"company\":{\"id\":\(company),\"name\":\"Company \(company)\"}"
        }
        record += "}"
        return Int.random(in: 0..<20, using: &random) == 0 ? Self.ascii(record) : record
    }

    private mutating func pick(_ values: [String]) -> String {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    /// Writes everything above U+007F as an escape.
    private static func ascii(_ text: String) -> String {
        var result = ""
        for unit in text.utf16 {
            if let scalar = Unicode.Scalar(unit), scalar.isASCII {
                result.unicodeScalars.append(scalar)
            } else {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result
    }

    /// `2014-02-14T02:30:10+00:00`
    static func date(_ seconds: Int) -> String {
        var year = 1970
        var days = seconds / 86_400
        func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
        while days >= (isLeap(year) ? 366 : 365) {
            days -= isLeap(year) ? 366 : 365
            year += 1
        }
        var month = 0
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        while days >= lengths[month] {
            days -= lengths[month]
            month += 1
        }
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let time = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(two).joined(separator: ":")
        return "\(year)-\(two(month + 1))-\(two(days + 1))T\(time)+00:00"
    }
}
