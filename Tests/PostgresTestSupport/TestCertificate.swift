#if Postgres
import Foundation
import OneWayTestSupport

/// A certificate for `localhost` that signs itself, and its key, in files that a test's server can
/// read.
package struct TestCertificate: Sendable {
    private let folder: String

    /// Whether this machine can make one.
    package static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") }

    /// Makes a certificate.
    package static func make() async throws -> TestCertificate {
        let script = #"""
            set -e
            folder=$(mktemp -d /tmp/ows-tls-XXXXXX)
            openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2>/dev/null
            chmod 755 "$folder"
            chmod 600 "$folder/key.pem"
            if [ "$(id -u)" = 0 ]; then chown postgres "$folder/key.pem" || chown nobody "$folder/key.pem"; fi
            echo "$folder"
            """#
        let shell = try ChildProcess(URL(filePath: "/bin/sh"), ["-c", script])
        guard let folder = try await shell.output.next(), !folder.isEmpty else {
            throw PostgresServerError("openssl made no certificate")
        }
        return TestCertificate(folder: folder)
    }

    /// The path of the certificate.
    package var certificate: String { "\(folder)/certificate.pem" }
    /// The path of the key.
    package var key: String { "\(folder)/key.pem" }

    /// Removes the files.
    package func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }
}
#endif
