import OneWaySynchronizer

struct Item: SyncItem {
    let id: Int
    var owsPrimaryKey: Int { id }
}

actor Numbers: SyncProcessor {
    private var local: Set = [1, 2]

    func owsFetchSourceList() async throws -> SourceList<Item> {
        SourceList([Item(id: 2), Item(id: 3)])
    }

    func owsGetLocalKeys() async throws -> Set<Int> {
        local
    }

    func owsRemoveLocalItems(for keys: Set<Int>) async throws {
        local.subtract(keys)
    }

    func owsShouldUpdateItem(forKey key: Int, with item: Item) async throws -> Bool {
        false
    }

    func owsDownloadItem(for item: Item) async throws {
        local.insert(item.id)
    }
}

print(try await Synchronizer(processor: Numbers()).sync())
