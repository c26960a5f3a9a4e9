import FlyingFox
import Foundation
import Logging
import Metrics
import MetricsTestKit
import OneWaySyncSQLite
import ServiceLifecycle

struct User: SyncObject {
    var id: Int
    var name: String
}

@main struct Server {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let api = URL(string: arguments[1]), let port = UInt16(arguments[3]) else {
            fatalError("usage: Service API FILE PORT")
        }
        MetricsSystem.bootstrap(StreamMetricsFactory.standardOutput())  // or a backend, such as Prometheus
        let logger = Logger(label: "users")
        let file = URL(filePath: arguments[2])
        let store = try await SQLiteStore(User.self, at: .file(file))
        let service = SyncService(schedule: SyncSchedule(interval: .seconds(60)), lease: SQLiteLease(for: file)) {
            try await store.sync(User.self, from: .url(api, pages: .link))
        }
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port))
        await server.appendRoute("GET /health") { _ in .init(statusCode: .ok, body: try service.health.json()) }
        let web = ClosureService { try? await cancelWhenGracefulShutdown { try await server.run() } }
        // They end in the reverse order.
        let services: [any Service] = [web, Syncing(service: service, logger: logger)]
        try await ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger).run()
    }
}

struct Syncing<Report: Sendable>: Service {
    let service: SyncService<Report>
    let logger: Logger

    func run() async throws {
        let events = service.events
        async let observing: Void = observe(events)
        try await withGracefulShutdownHandler {
            try await service.run()
        } onGracefulShutdown: {
            logger.info("stopping")
            service.requestStop(within: .seconds(10))
        }
        await observing
    }

    func observe(_ events: SyncEvents<SyncService<Report>.Event>) async {
        for await event in events {
            logger.info("\(event)")
            switch event {
            case .succeeded: Counter(label: "syncs_total", dimensions: [("result", "succeeded")]).increment()
            case .failed: Counter(label: "syncs_total", dimensions: [("result", "failed")]).increment()
            default: break
            }
        }
    }
}
