import Metrics
import ServerTestLimits
import Testing

@testable import Server

@Suite(.endsInTime)
struct PrometheusRegistryTests {
    @Test func aGaugeHasItsLastValueAndARecorderASum() {
        let registry = PrometheusRegistry()
        let gauge = Gauge(label: "depth", factory: registry)
        let recorder = Recorder(label: "size", factory: registry)
        for value in [1, 3] {
            gauge.record(value)
            recorder.record(value)
        }
        let text = """
            # TYPE depth gauge
            depth 3.0
            # TYPE size summary
            size_count 2
            size_sum 4.0

            """
        #expect(registry.text == text)
    }
}
