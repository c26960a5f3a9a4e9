import Foundation
import JSONMapper
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct DriftReportTests {
    /// A report with one entry for each key, which has as many occurrences as is stated.
    private func report(_ counts: [(key: String, count: Int, index: Int)], found: String? = nil) -> DriftReport {
        var report = DriftReport()
        for (key, count, index) in counts {
            report.add(.unknownKey, entity: "User", keyPath: key, count: count, index: index, found: found)
        }
        return report
    }

    private func texts(_ report: DriftReport) -> [String] {
        report.entries.map { "\($0.keyPath) \($0.count) \($0.firstIndex) \($0.found ?? "-")" }
    }

    @Test func occurrencesAtOnePlaceAreOneEntry() {
        var report = report([("a", 2, 5)], found: "string")
        report.add(.unknownKey, entity: "User", keyPath: "a", index: 7, found: "number")
        report.add(.unknownKey, entity: "User", keyPath: "a", index: 5, found: "array")
        #expect(texts(report) == ["a 4 5 string"])
        // The first occurrence has the kind.
        report.add(.unknownKey, entity: "User", keyPath: "a", index: 4, found: "number")
        report.add(.unknownKey, entity: "User", keyPath: "a", count: 0, index: 0, found: "object")
        #expect(texts(report) == ["a 5 4 number"])
        report.add(.unfitValue, entity: "User", keyPath: "a", count: 3, index: 1)
        report.add(.unknownKey, entity: "Note", keyPath: "a", index: 1)
        report.add(.unknownKey, entity: "User", keyPath: "b", count: 0, index: 1)
        #expect(texts(report) == ["a 5 4 number", "a 3 1 -", "a 1 1 -"])
        #expect(report.count(of: .unknownKey) == 6 && report.count(of: .unfitValue) == 3)
        #expect(report.count(of: .duplicate) == 0 && !report.isEmpty && DriftReport().isEmpty)
    }

    @Test func entriesAreLimitedAndTheRestIsCounted() throws {
        let limit = DriftReport.maximumEntryCount
        let full = report((0..<limit).map { ("k\($0)", 1, 0) })
        #expect(full.entries.count == limit && full.omittedCount == 0)
        var over = full
        over.add(.unknownKey, entity: "User", keyPath: "more", count: 3, index: 0)
        over.add(.unknownKey, entity: "User", keyPath: "k0", count: 2, index: 0)
        #expect(over.entries.count == limit && over.omittedCount == 3 && over.entries[0].count == 3)
        var sum = over
        sum.add(over)
        #expect(sum.omittedCount == 6 && sum.entries[0].count == 6)
        sum.append(over)
        #expect(sum.omittedCount == 9 && sum.entries[0].count == 9)
        sum.remove(over)
        #expect(sum.omittedCount == 6 && sum.entries[0].count == 6)
        let read = try JSONDecoder().decode(DriftReport.self, from: JSONEncoder().encode(over))
        #expect(read == over)
        #expect(over.description.hasSuffix("; and \(limit - 10 + 3) more"))
    }

    /// Of a report of the same payload the earlier index counts; that of a later one starts again.
    @Test func reportsAreAddedAndTakenAway() {
        let one = report([("a", 2, 5), ("b", 1, 9)])
        let other = report([("b", 4, 3), ("c", 1, 2)])
        var sum = one
        sum.add(other) { $0 + 1 }
        #expect(texts(sum) == ["a 2 5 -", "b 5 4 -", "c 1 3 -"])
        var later = one
        later.append(other)
        #expect(texts(later) == ["a 2 5 -", "b 5 9 -", "c 1 2 -"])
        later.remove(other)
        #expect(texts(later) == ["a 2 5 -", "b 1 9 -"])
        // Another difference is found at its place after that.
        later.add(.unknownKey, entity: "User", keyPath: "b", index: 9)
        later.add(.unknownKey, entity: "User", keyPath: "c", index: 1)
        #expect(texts(later) == ["a 2 5 -", "b 2 9 -", "c 1 1 -"])
        later.remove(one)
        #expect(texts(later) == ["b 1 9 -", "c 1 1 -"])
        later.add(.unknownKey, entity: "User", keyPath: "c", index: 1)
        #expect(texts(later) == ["b 1 9 -", "c 2 1 -"])
        var empty = one
        empty.remove(one)
        #expect(empty.isEmpty && empty == DriftReport())
    }

    @Test func aReportIsReadAsItWasWrittenWithoutValues() throws {
        var report = report([("a.b", 2, 5)], found: "string")
        report.add(.duplicate, entity: "User", keyPath: "", index: 1)
        #expect(try JSONDecoder().decode(DriftReport.self, from: JSONEncoder().encode(report)) == report)
        report.add(.notAllowed, entity: "User", keyPath: "c", index: 0, found: "string", value: "secret")
        let data = try JSONEncoder().encode(report)
        #expect(!String(decoding: data, as: UTF8.self).contains("secret"))
        #expect(try JSONDecoder().decode(DriftReport.self, from: data).entries.count == 3)
    }

    @Test func aReportIsDescribedByItsFirstEntries() {
        #expect("\(DriftReport())" == "no differences")
        var report = report([("a.b", 2, 5)], found: "string")
        report.add(.duplicate, entity: "User", keyPath: "", index: 1)
        report.add(.notAllowed, entity: "User", keyPath: "c", index: 0, found: "string", value: "secret")
        let text =
            "User.a.b: unknown key, 2 times, first in element 5, string; "
            + "User: identity repeated in the list, once, first in element 1; "
            + "User.c: value is not one that the property allows, once, first in element 0, string"
        #expect("\(report)" == text && String(reflecting: report) == text + " secret")
        for (count, rest) in [(10, nil), (11, "; and 4 more"), (12, "; and 8 more")] as [(Int, String?)] {
            let text = "\(self.report((0..<count).map { ("k\($0)", 4, 0) }))"
            #expect(text.components(separatedBy: "; ").count == min(count, 11))
            #expect(rest.map { text.hasSuffix($0) } ?? !text.contains("more"))
        }
        // Each kind has a sentence of its own.
        let sentences = DriftReport.Kind.allCases.map { kind in
            var report = DriftReport()
            report.add(kind, entity: "User", keyPath: "a", index: 0)
            return "\(report)"
        }
        #expect(Set(sentences).count == DriftReport.Kind.allCases.count)
    }
}
