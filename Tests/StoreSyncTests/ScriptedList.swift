import StoreSync
import SyncBase

/// A source of one page, which a script writes when it is read.
struct ScriptedList: RemoteSource {
    let name = "scripted"
    let fingerprint = ""
    /// The JSON of the page by the number of pages that were read before.
    let page: @Sendable (_ index: Int) async throws -> String
    private let count = Locked(0)

    init(_ page: @escaping @Sendable (_ index: Int) async throws -> String) {
        self.page = page
    }

    /// How many pages have been asked for.
    var readCount: Int { count.withLock(\.self) }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        .changed(Pass(list: self))
    }

    private actor Pass: RemotePass {
        private let list: ScriptedList
        private var isRead = false

        init(list: ScriptedList) { self.list = list }

        func next() async throws -> RemotePage? {
            guard !isRead else { return nil }
            isRead = true
            let index = list.count.withLock { count in
                defer { count += 1 }
                return count
            }
            return RemotePage(.bytes(Array(try await list.page(index).utf8)))
        }

        func rewind() async throws { isRead = false }

        func end() async throws -> RemoteEnd {
            RemoteEnd(.everything, isSnapshot: true, bookmark: SyncBookmark())
        }
    }
}
