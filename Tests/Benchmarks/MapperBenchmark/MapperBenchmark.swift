import OneWayBenchmarkSupport

/// Reading, dates, mapping, inference, export and writing of JSON against Foundation's.
@main
enum MapperBenchmark {
    static func main() async throws {
        let memory = MemoryProbe(
            Dictionary(
                uniqueKeysWithValues: [10_000, 1_000_000].flatMap { count in
                    [
                        (
                            ReaderCases.memoryCaseName(count),
                            { @Sendable in try ReaderCases.readGenerated(count: count) }
                        ),
                        (
                            MappingCases.memoryCaseName(count),
                            { @Sendable in try MappingCases.mapGenerated(count: count) }
                        ),
                        (
                            InferenceCases.memoryCaseName(count),
                            { @Sendable in try InferenceCases.inferGenerated(count: count) }
                        ),
                        (
                            ExportCases.memoryCaseName(count),
                            { @Sendable in try ExportCases.exportGenerated(count: count) }
                        ),
                    ]
                }))
        if try await memory.runIfChild() { return }

        let options = BenchmarkOptions.ofProcess()
        var report = BenchmarkReport(options: options)
        if options.includes("read") {
            try await ReaderCases.run(options: options, memory: memory, report: &report)
        }
        if options.includes("map") {
            try await MappingCases.run(options: options, memory: memory, report: &report)
        }
        if options.includes("infer") {
            try await InferenceCases.run(options: options, memory: memory, report: &report)
        }
        if options.includes("export") {
            try await ExportCases.run(options: options, memory: memory, report: &report)
        }
        if options.includes("date") { try await DateCases.run(options: options, report: &report) }
        if options.includes("write") { try await WriterCases.run(options: options, report: &report) }
    }
}
