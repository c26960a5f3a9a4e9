import Foundation
import OneWayTestLimits
import Testing

@testable import HTTPSource

/// Parameters of requests, as they are added to the address that a user gives.
@Suite(.endsInTime) struct AddressParameterTests {
    @Test(arguments: [
        ("", "page", "2", "page=2"), ("?page=1&q=a", "page", "2", "q=a&page=2"),
        ("?filter%5Bx%5D=1", "filter[x]", "2", "filter%5Bx%5D=2"),
        ("?filter[x]=1", "filter[x]", "2", "filter%5Bx%5D=2"),
        ("?p%41=1", "pA", "2", "pA=2"), ("?pA=1", "p%41", "2", "pA=1&p%2541=2"),
        ("", "after", "a+b/c=%41 é", "after=a%2Bb%2Fc%3D%2541%20%C3%A9"), ("?page", "page", "", "page="),
    ])
    func aParameterIsSetOnce(query: String, name: String, value: String, expected: String) throws {
        let url = try #require(URL(string: "https://api.test/users\(query)"))
        #expect(url.setting(name, to: value).absoluteString == "https://api.test/users?\(expected)")
    }
}
