import OneWayBenchmarkSupport
import Foundation
import JSONMapper
import SyncModel

/// Writing users that are already in memory.
enum WriterCases {
    static func run(options: BenchmarkOptions, report: inout BenchmarkReport) async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        for count in options.isFull ? [10_000, 200_000] : [10_000] {
            let users = try decoder.decode([User].self, from: Data(UserGenerator.bytes(count: count)))
            let measured = try await measure(
                runs: 5,
                [
                    BenchmarkCase("write-jsonencoder", n: count) { try encoder.encode(users).count },
                    BenchmarkCase("write", n: count) { try write(users) },
                ])
            report.add(measured, against: "write-jsonencoder") {
                [("objects/s", .number(Double($0.n) / $0.seconds)), ("spread", .number($0.spread))]
            }
        }
    }

    private static let keys = [
        "id", "name", "email", "created_at", "updated_at", "score", "active", "tags", "address", "city", "zip",
    ].map { JSONWriter.quotedKey($0) }

    private static func write(_ users: [User]) throws -> Int {
        var writer = JSONWriter()
        let keys = Self.keys
        writer.beginArray()
        for user in users {
            writer.beginObject()
            writer.key(quoted: keys[0])
            writer.integer(user.id)
            writer.key(quoted: keys[1])
            writer.string(user.name)
            writer.key(quoted: keys[2])
            writer.string(user.email)
            writer.key(quoted: keys[3])
            writer.date(Timestamp(user.created_at))
            writer.key(quoted: keys[4])
            writer.date(Timestamp(user.updated_at))
            writer.key(quoted: keys[5])
            try writer.double(user.score)
            writer.key(quoted: keys[6])
            writer.bool(user.active)
            writer.key(quoted: keys[7])
            writer.beginArray()
            for tag in user.tags { writer.string(tag) }
            writer.endArray()
            writer.key(quoted: keys[8])
            writer.beginObject()
            writer.key(quoted: keys[9])
            writer.string(user.address.city)
            writer.key(quoted: keys[10])
            writer.string(user.address.zip)
            writer.endObject()
            writer.endObject()
        }
        writer.endArray()
        return writer.byteCount
    }
}
