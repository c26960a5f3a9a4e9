public import OneWaySynchronizer
package import SyncBase

/// A conformance suite that runs a processor against scripted source lists.
///
/// ```swift
/// @Test func mirrorConforms() async throws {
///     try await ProcessorConformance.check(
///         Mirror(server: fake, folder: temporaryFolder),
///         steps: [
///             .init([Page("a"), Page("b")]),
///             .init([Page("a", revision: 2), Page("c")], changedKeys: ["a"]),
///         ])
/// }
/// ```
///
/// The check does not call the processor's own list method: the steps replace it. Its downloads
/// must work for the items of the steps, for example with a fake server.
public enum ProcessorConformance {
    /// A list of the source, and its changes since the previous step.
    public struct Step<Item: SyncItem>: Sendable {
        /// The items of the source.
        public var items: [Item]

        /// The keys of stored items that must be downloaded again in this step.
        public var changedKeys: Set<Item.Key>

        /// Creates a step.
        public init(_ items: [Item], changedKeys: Set<Item.Key> = []) {
            self.items = items
            self.changedKeys = changedKeys
        }
    }

    /// Runs a processor through the steps, each in several ways, and finally through an empty list.
    ///
    /// It checks for each step that:
    /// - a plan can be made outside of a pass,
    /// - the local keys equal the keys of the step,
    /// - changed items are downloaded again,
    /// - a second pass over the same list downloads and removes nothing,
    /// - removing a key twice is not an error,
    /// - the next pass completes a pass that was cancelled in the middle,
    /// - an item whose download failed is not stored, or is downloaded again.
    ///
    /// - Parameters:
    ///   - processor: The processor, with an empty local collection.
    ///   - steps: The lists of the source, in order.
    ///   - options: How passes run. Previews, contents, limits and order are used as given.
    /// - Throws: ``Failure`` with every rule that the processor breaks.
    public static func check<Processor: SyncProcessor>(
        _ processor: Processor, steps: [Step<Processor.Item>], options: SyncOptions = SyncOptions()
    ) async throws {
        let scripted = ScriptedSource(processor)
        let synchronizer = Synchronizer(processor: scripted, options: options)
        var violations: [String] = []
        var stored: Set<Processor.Item.Key> = []
        for (number, step) in (steps + [Step([])]).enumerated() {
            let name = number == steps.count ? "the empty list" : "step \(number + 1)"
            let keys = Set(step.items.map { $0.owsPrimaryKey })
            scripted.begin(step.items)
            do { _ = try await synchronizer.plan() } catch {
                violations.append(
                    "\(name): a plan fails: \(ErrorText.describing(error)); plan() calls no owsSyncBegin()")
            }
            if !keys.isEmpty {
                // The next pass completes this one.
                scripted.cancelAfterFirstDownload { synchronizer.cancel() }
                _ = try? await synchronizer.sync()
            }
            for pass in ["a pass", "a second pass over the same list"] {
                let before = scripted.downloads.count
                do {
                    let report = try await synchronizer.sync()
                    if pass != "a pass", scripted.downloads.count > before || report.deleted > 0 {
                        violations.append(
                            "\(name): \(pass) downloads \(report.inserted + report.updated) and removes "
                                + "\(report.deleted) items; owsDownloadItem has to store what owsGetLocalKeys returns, "
                                + "and a stored revision has to be the downloaded one")
                    }
                } catch {
                    violations.append("\(name): \(pass) fails: \(ErrorText.describing(error))")
                }
            }
            let local: Set<Processor.Item.Key>
            do { local = try await processor.owsGetLocalKeys() } catch {
                violations.append("\(name): owsGetLocalKeys() fails: \(ErrorText.describing(error))")
                continue
            }
            for key in keys.subtracting(local) {
                violations.append("\(name): \(String(reflecting: key)) is not stored after it was downloaded")
            }
            for key in local.subtracting(keys) {
                violations.append("\(name): \(String(reflecting: key)) is still stored after it was removed")
            }
            let downloaded = Set(scripted.downloads.map { $0.owsPrimaryKey })
            for key in scripted.failedKeys.subtracting(stored).subtracting(downloaded) where local.contains(key) {
                violations.append(
                    "\(name): \(String(reflecting: key)) is stored although its download failed, and is not "
                        + "downloaded again; owsDownloadItem has to store everything or nothing")
            }
            for key in step.changedKeys.subtracting(downloaded) where stored.contains(key) {
                violations.append(
                    "\(name): \(String(reflecting: key)) changed and is not downloaded again; implement "
                        + "owsShouldUpdateItem(forKey:with:), owsShouldUpdateItems(_:) or owsGetLocalRevisions() with "
                        + "exactly this signature: a method with another one is never called")
            }
            let gone = stored.subtracting(keys)
            if !gone.isEmpty {
                do { try await processor.owsRemoveLocalItems(for: gone) } catch {
                    violations.append(
                        "\(name): removing keys that are gone already fails: \(ErrorText.describing(error))")
                }
            }
            stored = keys
        }
        guard violations.isEmpty else { throw Failure(violations: violations) }
    }
}

extension ProcessorConformance {
    /// The rules of `SyncProcessor` that a processor breaks.
    public struct Failure: Error, CustomStringConvertible {
        /// One sentence for each broken rule.
        public var violations: [String]

        /// All violations, one per line.
        public var description: String { violations.joined(separator: "\n") }
    }
}

extension ProcessorConformance.Failure: AreaError {
    package var errorArea: ErrorArea { .program }
}
