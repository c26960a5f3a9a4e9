public import SyncModel

/// Seeded JSON of orders, nested four levels deep: one array, a record per line, made piece by
/// piece.
///
/// An order has `id`, `number`, `status`, `created_at`, `total`, three `tags`, a `customer` and
/// four `lines`, each with a `product`. Ten orders share a customer and eighty lines a product, on
/// average; both are repeated in full wherever they are met.
public struct OrderGenerator {
    private static let statuses = ["open", "paid", "sent", "returned"]
    private static let tags = ["gift", "express", "eu", "us", "apac", "b2b", "new", "fragile"]
    private static let cities = ["Oslo", "Zürich", "São Paulo", "東京", "Berlin", "Minsk", "København", "Paris"]
    private static let things = ["lamp", "chair", "table", "cup", "shelf", "rug", "clock", "mirror"]
    private static let lineCount = 4

    private let count: Int
    private var random: SeededRandom
    private var madeCount = 0
    private var hasEnded = false

    /// Makes the orders 1 to `count`.
    public init(count: Int, seed: UInt64 = 20_261_122) {
        self.count = count
        random = SeededRandom(seed: seed)
    }

    /// Orders, their customers, lines and products.
    public static var model: DataModel {
        get throws {
            try DataModel {
                SyncEntity("Order", identity: "remoteID") {
                    SyncAttribute("remoteID", .int64, optional: false)
                    SyncAttribute("number", .string)
                    SyncAttribute("status", .string)
                    SyncAttribute("createdAt", .date)
                    SyncAttribute("total", .double)
                    SyncAttribute("tags", .binary)
                    SyncRelationship("customer", toOne: "Customer", inverse: "orders")
                    SyncRelationship("lines", toMany: "Line", inverse: "order", deleteRule: .cascade)
                }
                SyncEntity("Customer", identity: "remoteID") {
                    SyncAttribute("remoteID", .int64, optional: false)
                    SyncAttribute("name", .string)
                    SyncAttribute("email", .string)
                    SyncAttribute("city", .string)
                    SyncAttribute("createdAt", .date)
                    SyncRelationship("orders", toMany: "Order", inverse: "customer")
                }
                SyncEntity("Line", identity: "remoteID") {
                    SyncAttribute("remoteID", .int64, optional: false)
                    SyncAttribute("quantity", .int64)
                    SyncAttribute("price", .double)
                    SyncRelationship("order", toOne: "Order", inverse: "lines")
                    SyncRelationship("product", toOne: "Product", inverse: "lines")
                }
                SyncEntity("Product", identity: "remoteID") {
                    SyncAttribute("remoteID", .int64, optional: false)
                    SyncAttribute("sku", .string)
                    SyncAttribute("name", .string)
                    SyncAttribute("price", .double)
                    SyncAttribute("category", .string)
                    SyncRelationship("lines", toMany: "Line", inverse: "product")
                }
            }
        }
    }

    /// The next piece, of some 64 KiB; nil after the last.
    public mutating func nextChunk() -> [UInt8]? {
        guard !hasEnded else { return nil }
        var text = madeCount == 0 ? "[\n" : ""
        while madeCount < count, text.utf8.count < 65_536 {
            if madeCount > 0 { text += ",\n" }
            madeCount += 1
            text += order(madeCount)
        }
        if madeCount == count {
            text += "\n]\n"
            hasEnded = true
        }
        return Array(text.utf8)
    }

    private mutating func order(_ id: Int) -> String {
        let created = UserGenerator.baseSeconds + Int.random(in: 0..<300_000_000, using: &random)
        let status = Self.statuses[Int.random(in: 0..<Self.statuses.count, using: &random)]
        let total = Double(Int.random(in: 100..<1_000_000, using: &random)) / 100
        let tags = Self.tags.shuffled(using: &random).prefix(3).map { "\"\($0)\"" }.joined(separator: ",")
        let customer = Self.customer(Int.random(in: 1...max(count / 10, 1), using: &random))
        let lines = (0..<Self.lineCount).map { line(id * Self.lineCount + $0) }.joined(separator: ",")
        return "{\"id\":\(id),\"number\":\"A-\(1_000_000 + id)\",\"status\":\"\(status)\","
            + "\"created_at\":\"\(UserGenerator.date(created))\",\"total\":\(total),\"tags\":[\(tags)],"
            + "\"customer\":\(customer),\"lines\":[\(lines)]}"
    }

    private mutating func line(_ id: Int) -> String {
        let product = Int.random(in: 1...max(count / 20, 1), using: &random)
        let quantity = Int.random(in: 1..<10, using: &random)
        return "{\"id\":\(id),\"quantity\":\(quantity),\"price\":\(Self.price(of: product)),"
            + "\"product\":\(Self.product(product))}"
    }

    // What is repeated is the same each time.

    private static func customer(_ id: Int) -> String {
        let date = UserGenerator.date(UserGenerator.baseSeconds + id * 977)
        return "{\"id\":\(id),\"name\":\"Customer \(id * 7919 % 100_003)\",\"email\":\"c\(id)@example\(id % 50).com\","
            + "\"city\":\"\(cities[id % cities.count])\",\"created_at\":\"\(date)\"}"
    }

    private static func product(_ id: Int) -> String {
        let thing = things[id % things.count]
        return "{\"id\":\(id),\"sku\":\"SKU-\(100_000 + id)\",\"name\":\"A \(thing) of the series \(id)\","
            + "\"price\":\(price(of: id)),\"category\":\"\(thing)s\"}"
    }

    private static func price(of product: Int) -> Double {
        Double(product * 37 % 10_000 + 99) / 100
    }
}
