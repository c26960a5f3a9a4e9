import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import HTTPTransfer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How much of a body waits for its reader, and what an error in the middle of it means.
@Suite(.endsInTime) struct ExchangeTests {
    @Test func aBodyIsFetchedOnlyAMebibyteAheadOfItsReader() async throws {
        let piece = [UInt8](repeating: 0x20, count: 1 << 18)
        let (broughtCount, takenCount, lead) = (Watched(0), Watched(0), Watched(0))
        let body = AsyncThrowingStream<[UInt8], any Error> {
            let brought = broughtCount.update { count in
                count += 1
                return count
            }
            let ahead = brought - takenCount.value
            lead.update { $0 = max($0, ahead) }
            return brought <= 40 ? piece : nil
        }
        let server = ScriptedServer { _, _ in HTTPResponse(status: 200, body: body) }
        let order = HTTPOrder(plain: try #require(URL(string: "https://api.test/a")), limit: .max)
        let fetch = HTTPFetch(order, by: HTTPClient(transport: server))
        var byteCount = 0
        while true {
            // Time for the transport to bring more than it should.
            for _ in 0..<100 { await Task.yield() }
            guard let bytes = try await fetch.nextPiece() else { break }
            byteCount += bytes.count
            takenCount.update { $0 += bytes.count >> 18 }
        }
        #expect(byteCount == 40 << 18)
        // Those that wait, the one that is being taken, and the next one.
        #expect(lead.value <= 6)
    }

    /// A session reports the end of its patience in the middle of a body, and damaged compression.
    @Test(arguments: [
        (URLError.Code.timedOut, HTTPError.Problem.timedOut),
        (.networkConnectionLost, .cutShort(received: 2, expected: 5)),
    ])
    func anErrorInTheMiddleOfABodyIsTold(code: URLError.Code, problem: HTTPError.Problem) async throws {
        let url = try #require(URL(string: "https://api.test/a"))
        let exchange = Exchange(task: URLSession.shared.dataTask(with: url), changing: DispatchQueue(label: "test"))
        exchange.receive(
            try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["Content-Length": "5"])))
        exchange.receive(Data([1, 2]))
        exchange.complete(URLError(code))
        #expect(try await exchange.next() == [1, 2])
        await #expect(throws: problem) { try await exchange.next() }
    }
}
