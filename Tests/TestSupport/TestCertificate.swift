#if os(macOS) || os(Linux)
package import Foundation

/// A certificate for `localhost` and 127.0.0.1, and its key, in files that a test's server can
/// read.
///
/// It can sign others.
package struct TestCertificate: Sendable {
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: String

    /// The program that makes certificates, and can serve TLS.
    package static let openssl = URL(filePath: "/usr/bin/openssl")

    /// Whether this machine has the program.
    package static var isPossible: Bool {
        FileManager.default.isExecutableFile(atPath: openssl.path(percentEncoded: false))
    }

    /// Makes a certificate.
    ///
    /// - Parameters:
    ///   - issuer: The certificate that signs it; nil, the default, for itself.
    ///   - password: The password of its key; nil, the default, for none.
    package static func make(signedBy issuer: TestCertificate? = nil, password: String? = nil) async throws
        -> TestCertificate
    {
        let script = #"""
            set -e
            folder=$(mktemp -d /tmp/ows-tls-XXXXXX)
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
                -keyout "$folder/key.pem" -out "$folder/certificate.pem" "$@" 2>/dev/null
            chmod 755 "$folder"
            chmod 600 "$folder/key.pem"
            if [ "$(id -u)" = 0 ]; then chown postgres "$folder/key.pem" || chown nobody "$folder/key.pem"; fi 2>/dev/null
            echo "$folder"
            """#
        let signing = issuer.map { ["-CA", $0.certificate, "-CAkey", $0.key] } ?? []
        let encryption = password.map { ["-passout", "pass:\($0)"] } ?? ["-nodes"]
        let shell = try ChildProcess(URL(filePath: "/bin/sh"), ["-c", script, "sh"] + signing + encryption)
        guard let folder = try await shell.output.next(), !folder.isEmpty else {
            throw Failure(description: "openssl made no certificate")
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
