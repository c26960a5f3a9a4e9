package import OneWayTestSupport
package import SyncBase

/// Has the calls of a store wait for a gate, or until they are cancelled, while it is armed.
package struct GatedCalls: StoreHook {
    package let isArmed = Locked(false)
    package let gate = Gate()

    package init() {}

    package func leaving<Value>(_ call: () async throws -> Value) async rethrows -> Value {
        if isArmed.withLock(\.self) { try? await gate.pass() }
        return try await call()
    }
}
