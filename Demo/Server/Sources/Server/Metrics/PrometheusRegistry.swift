import Metrics
import Synchronization

/// The metrics of the process, written in Prometheus's text format.
final class PrometheusRegistry: MetricsFactory {
    /// A metric: a value; of a summary, the count and sum of what was recorded.
    final class Metric: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        struct Value {
            var value = 0.0
            var count = 0
        }

        let state = Mutex(Value())
        private let kind: Kind

        init(_ kind: Kind) {
            self.kind = kind
        }

        func reset() { state.withLock { $0 = Value() } }
        func increment(by amount: Int64) { state.withLock { $0.value += Double(amount) } }
        func increment(by amount: Double) { state.withLock { $0.value += amount } }
        func decrement(by amount: Double) { state.withLock { $0.value -= amount } }
        func set(_ value: Int64) { state.withLock { $0.value = Double(value) } }
        func set(_ value: Double) { state.withLock { $0.value = value } }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) {
            // A `Gauge` of swift-metrics records its value.
            guard kind == .summary else { return set(value) }
            state.withLock { state in
                state.value += value
                state.count += 1
            }
        }
        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    }

    enum Kind: String {
        case counter, gauge, summary
    }

    private struct Family {
        var kind: Kind
        /// By labels, as they are written.
        var metrics: [String: Metric] = [:]
    }

    private let families = Mutex<[String: Family]>([:])

    private func metric(_ label: String, _ kind: Kind, _ dimensions: [(String, String)], suffix: String = "") -> Metric
    {
        let name = Self.name(label) + suffix
        let labels = dimensions.map { "\(Self.name($0))=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        return families.withLock { families in
            var family = families[name] ?? Family(kind: kind)
            let metric = family.metrics[labels] ?? Metric(family.kind)
            family.metrics[labels] = metric
            families[name] = family
            return metric
        }
    }

    /// The metrics as text, sorted by name and labels.
    var text: String {
        let families = self.families.withLock { $0 }
        var lines: [String] = []
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE \(name) \(family.kind.rawValue)")
            for (labels, metric) in family.metrics.sorted(by: { $0.key < $1.key }) {
                let value = metric.state.withLock { $0 }
                let labels = labels.isEmpty ? "" : "{\(labels)}"
                if family.kind == .summary {
                    lines.append("\(name)_count\(labels) \(value.count)")
                    lines.append("\(name)_sum\(labels) \(value.value)")
                } else {
                    lines.append("\(name)\(labels) \(value.value)")
                }
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func name(_ label: String) -> String {
        String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    // MARK: MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metric(label, .counter, dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metric(label, .gauge, dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        metric(label, aggregate ? .summary : .gauge, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(label, .summary, dimensions, suffix: "_seconds")
    }

    // Metrics stay until the process ends.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
