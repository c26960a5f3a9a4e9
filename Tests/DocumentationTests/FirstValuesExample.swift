// swift-format-ignore-file: NeverForceUnwrap
import Foundation
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct FirstValuesExample {
    /// The lines before the first program, which have values for a real API.
    @Test func areOfARealAPI() {
        let file = URL(filePath: "users.sqlite")
        let url = URL(string: "https://api.example.com/users")!
        #expect(file.isFileURL && url.host() == "api.example.com")
    }
}
