import HTTPSource
import StoreSync
import OneWayTestSupport

/// All that a seed decides beforehand.
struct SimulationPlan {
    /// How the server hands out its list.
    enum Paging: CaseIterable {
        case single, link, linkField, keyset, snapshot, page, offset
    }

    /// How the server says what is gone.
    enum Removals: CaseIterable {
        case unsaid, list, flag
    }

    let paging: Paging
    let pageSize: Int
    /// Whether the latest changes come first, instead of the lowest ids.
    let isNewestFirst: Bool
    let isWrapped: Bool
    let hasDelta: Bool
    let cursorIsInDocument: Bool
    let removals: Removals
    /// Whether every page says what is gone, and not the first one alone.
    let repeatsRemovals: Bool
    /// Whether what stands beside the objects comes before them.
    let putsObjectsLast: Bool
    let sendsEntityTags: Bool
    let sendsLastModified: Bool
    let sendsDate: Bool
    /// The server's clock less the client's, in seconds.
    let skew: Int
    /// By how much a change's time may be too early, in seconds.
    let lag: Int
    /// How far back changes can be asked for, in seconds.
    let retention: Int
    /// The shares of requests with a change of the data before them, and with a fault; the share of
    /// calls of the store with one.
    let changeRate: Double
    let faultRate: Double
    let storeFaultRate: Double
    let cancelRate: Double
    let firstItemCount: Int
    let runCount: Int
    let usesSQLite: Bool
    let keepsHistory: Bool

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int.random(in: 0..<choices.count, using: &random)] }
        paging = pick(Paging.allCases)
        pageSize = Int.random(in: 1...7, using: &random)
        isNewestFirst = chance(0.3) && paging != .keyset
        hasDelta = chance(0.5)
        cursorIsInDocument = hasDelta && chance(0.3)
        removals = hasDelta ? pick(Removals.allCases) : .unsaid
        repeatsRemovals = chance(0.3)
        putsObjectsLast = chance(0.5)
        isWrapped =
            [.linkField, .keyset, .snapshot].contains(paging) || cursorIsInDocument || removals == .list || chance(0.3)
        sendsEntityTags = chance(0.4)
        sendsLastModified = chance(0.2)
        sendsDate = chance(0.7)
        let skew = chance(0.5) ? 0 : Int.random(in: -10_000...10_000, using: &random)
        // How far what has changed is known goes by the server's clock, or by the client's where
        // that is not told.
        self.skew = sendsDate ? skew : 0
        lag = chance(0.5) ? 0 : Int.random(in: 1...30, using: &random)
        retention = chance(0.3) ? 600 : 1_000_000
        changeRate = chance(0.3) ? 0 : Double.random(in: 0..<0.7, using: &random)
        faultRate = chance(0.2) ? 0 : Double.random(in: 0..<0.3, using: &random)
        storeFaultRate = chance(0.6) ? 0 : Double.random(in: 0..<0.05, using: &random)
        cancelRate = chance(0.7) ? 0 : 0.3
        firstItemCount = Int.random(in: 0...25, using: &random)
        runCount = Int.random(in: 2...7, using: &random)
        usesSQLite = chance(0.02)
        keepsHistory = chance(0.2)
    }

    /// Whether a list is read as of one moment, or by a key that never changes.
    var isSnapshot: Bool {
        paging == .keyset || paging == .snapshot
    }

    /// Where the objects are in a document.
    var keyPath: String { isWrapped ? "items" : "" }

    var pages: HTTPAPI.Pages {
        switch paging {
        case .single: .single
        case .link: .link
        case .linkField: .linkField(keyPath: "next").omittingLastPointer()
        case .keyset, .snapshot: .cursor(keyPath: "next", parameter: "after").omittingLastPointer()
        case .page: .page(parameter: "page")
        case .offset: .offset(parameter: "offset")
        }
    }

    var delta: HTTPAPI.Delta? {
        guard hasDelta else { return nil }
        var tombstones: RemotePage.Tombstones?
        switch removals {
        case .unsaid: tombstones = nil
        case .list: tombstones = .list(keyPath: "gone")
        case .flag: tombstones = .flag(keyPath: "is_gone")
        }
        return HTTPAPI.Delta(
            cursor: cursorIsInDocument ? .document(keyPath: "until") : .element(keyPath: "changed"),
            parameter: "since", overlap: .seconds(lag + 10), tombstones: tombstones, fullPassInterval: .seconds(3600))
    }
}
