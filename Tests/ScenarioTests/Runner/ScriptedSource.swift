import JSONMapper
import StoreSync
import SyncBase

/// A remote source that answers as a scenario tells it to.
struct ScriptedSource: RemoteSource {
    /// The keys of a `remote` step that describe its source.
    static let keys = ["passes", "coverage", "snapshot", "tombstones", "cursor", "unchangedAfter"]

    /// The pages of each reading; the last of them is repeated.
    private let passes: [[Page]]
    private let coverage: StoreSyncResult.Coverage
    private let isSnapshot: Bool
    private let tombstones: RemotePage.Tombstones?
    private let cursor: String?
    /// A cursor after which, as after ``cursor``, there is nothing new.
    private let finalCursor: String?

    let name = "a script"
    var fingerprint: String { "\(String(describing: tombstones))" }

    /// Whether a page can take back what was stated before.
    var takesBack: Bool {
        coverage == .changes || passes.joined().contains { $0.broken != nil }
    }

    private struct Page: Sendable {
        let bytes: [UInt8]
        /// A beginning of the page after which the connection broke, before it could be read in
        /// full.
        var broken: [UInt8]?
    }

    init(_ fields: JSONFields) throws {
        passes = try fields.array("passes").map { pass in
            guard case .array(let pages) = pass else { throw fields.failure("a pass is no array of pages") }
            return try pages.map { page in
                guard case .object(let object) = page, let broken = object["broken"], let rest = object["then"] else {
                    return Page(bytes: try page.bytes)
                }
                guard case .string(let text) = broken else { throw fields.failure("broken is no text") }
                return Page(bytes: try rest.bytes, broken: Array(text.utf8))
            }
        }
        guard !passes.isEmpty else { throw fields.failure("there are no passes") }
        switch try fields.optional("coverage", { _ in try fields.string("coverage") }) {
        case nil, "everything": coverage = .everything
        case "changes": coverage = .changes
        case .some(let other): throw fields.failure("unknown coverage \(other)")
        }
        isSnapshot = try fields.bool("snapshot", default: false)
        tombstones = try fields.optional("tombstones") { value in
            let tombstones = JSONFields(value, of: "tombstones")
            try tombstones.allow("list", "flag")
            return try tombstones.optional("list") { _ in .list(keyPath: try tombstones.string("list")) }
                ?? .flag(keyPath: try tombstones.string("flag"))
        }
        cursor = try fields.optional("cursor") { _ in try fields.string("cursor") }
        finalCursor = try fields.optional("unchangedAfter") { _ in try fields.string("unchangedAfter") }
    }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        if let finalCursor, let last = bookmark?.cursor, [finalCursor, cursor].contains(last) {
            return .unchanged(SyncBookmark(cursor: cursor))
        }
        return .changed(Pass(source: self))
    }

    private struct Pass: RemotePass {
        let source: ScriptedSource
        private let place = Locked((pass: 0, page: 0, isBroken: false))

        private var pages: [Page] {
            source.passes[min(place.withLock { $0.pass }, source.passes.count - 1)]
        }

        init(source: ScriptedSource) {
            self.source = source
        }

        func next() async throws -> RemotePage? {
            let (pages, isFirst) = (pages, place.withLock { $0.pass } == 0)
            return place.withLock { place in
                guard place.page < pages.count else { return nil }
                let page = pages[place.page]
                let breaks = isFirst && page.broken != nil && !place.isBroken
                place.isBroken = breaks
                if !breaks { place.page += 1 }
                let bytes = breaks ? page.broken ?? [] : page.bytes
                return RemotePage(.bytes(bytes), tombstones: source.tombstones)
            }
        }

        func recover(from error: any Error) async throws {
            guard place.withLock({ $0.isBroken }) else { throw error }
        }

        func rewind() async throws {
            place.withLock { $0 = ($0.pass + 1, 0, false) }
        }

        func end() async throws -> RemoteEnd {
            RemoteEnd(
                source.coverage, isSnapshot: source.isSnapshot, bookmark: SyncBookmark(cursor: source.cursor),
                cautiousBookmark: SyncBookmark())
        }
    }
}
