import Foundation
import OneWaySyncSQLite
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The example of the guide `ChangingTheModel`.
@Suite(.endsInTime) struct ModelChangeExample {
    @Test func aConversionOfYourOwn() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "data.sqlite")
        do {
            struct Product: SyncObject {
                var id: Int
                var price: String?
            }
            let store = try await SQLiteStore(Product.self, at: .file(file))
            try await store.sync(Product.self, .text(#"[{"id": 1, "price": "7.50€"}, {"id": 2}]"#))
        }

        struct Product: SyncObject {
            var id: Int
            var price: Decimal?
        }

        var options = SQLiteStore.Options()
        options.conversions = [
            .attribute("Product", "price") { old in
                guard case .string(let text) = old else { return .null }
                return Decimal(string: text.replacing("€", with: "")).map { .decimal($0) } ?? .null
            }
        ]
        let store = try await SQLiteStore(Product.self, at: .file(file), options: options)
        #expect(try await store.all(Product.self, orderedBy: \.id).map(\.price) == [7.5, nil])
    }
}
