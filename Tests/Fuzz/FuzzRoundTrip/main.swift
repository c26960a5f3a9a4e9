import Dispatch
import JSONMapper
import ModelInference
import StoreSync
import SyncModel
import SyncStore

/// Contradictions of a payload with itself, which have another outcome each time or are written
/// each time.
private let contradictions: [DriftReport.Kind] = [.conflict, .contradiction, .changedBetweenPages]

/// Infers a model of a payload, syncs it into a store, exports it, and syncs it again.
private func roundTrip(_ bytes: [UInt8]) async {
    let reader = JSONReader(bytes: bytes, layout: .array(acceptsSingleObject: true))
    guard let inferred = try? InferredModel(from: reader, entity: "Thing"),
        let store = try? MemoryStore(inferred.model),
        let first = try? await store.sync("Thing", .bytes(bytes))
    else { return }
    guard let exported = try? await store.export(StoreQuery("Thing")) else {
        preconditionFailure("what was stored cannot be exported")
    }
    precondition((try? JSONValue(parsing: Array(exported))) != nil, "the export is not JSON")
    do {
        let second = try await store.sync("Thing", .bytes(bytes))
        let isContradictory = contradictions.contains { first.drift.count(of: $0) > 0 }
        precondition(second.isUnchanged || isContradictory, "the second sync writes: \(second)")
    } catch {
        preconditionFailure("the second sync fails: \(error)")
    }
}

/// Called by libFuzzer with every input it thinks up; without it, this program does nothing.
///
/// The whole way of a payload: what can be synced can be exported as JSON, and a second sync of the
/// same payload writes nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        await roundTrip(bytes)
        done.signal()
    }
    done.wait()
    return 0
}
