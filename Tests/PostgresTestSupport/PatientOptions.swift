#if Postgres
package import SyncStorePostgres

extension PostgresStore.Options {
    /// The default options, except that the server waits longer for a silent store: tests of one
    /// thread can keep every thread of their process for minutes. A slow server is not far.
    package static var patient: PostgresStore.Options {
        var options = PostgresStore.Options()
        options.silenceLimit = .seconds(600)
        options.farRoundTrip = .seconds(600)
        options.connectionWait = .seconds(600)
        return options
    }
}
#endif
