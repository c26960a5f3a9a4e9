import Foundation

/// An address of the Internet Protocol, version 4 or 6.
package struct IPAddress: Hashable, Sendable {
    /// The 4 or 16 bytes in network order.
    private let bytes: [UInt8]

    /// Creates an address of 4 or 16 bytes; nil for any other number.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Creates the address that the host of a URL spells, in any way that resolvers accept, such as
    /// `127.1`, `2130706433`, `0x7f.1`, `::1` or `[::1]`; nil if it is a name.
    package init?(host: String) {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let text = isBracketed ? String(host.dropFirst().dropLast()) : host
        var wide = in6_addr()
        var narrow = in_addr()
        if inet_pton(AF_INET6, text, &wide) == 1 {
            bytes = withUnsafeBytes(of: &wide) { Array($0) }
        } else if inet_aton(text, &narrow) != 0 {
            bytes = withUnsafeBytes(of: &narrow) { Array($0) }
        } else {
            return nil
        }
    }

    /// Whether the address belongs to one machine of the public Internet.
    ///
    /// An IPv6 address that contains an IPv4 address is public if that one is: an IPv4-mapped
    /// address, or one of a NAT64 gateway (RFC 6052). Sources: the IANA registries of
    /// special-purpose addresses for IPv4 and IPv6 (RFC 6890).
    package var isPublic: Bool {
        if bytes.count == 4 { return !Self.special.contains { $0.contains(bytes) } }
        if Self.embedding.contains(where: { $0.contains(bytes) }) {
            return IPAddress(bytes: bytes.suffix(4))?.isPublic ?? false
        }
        return Self.global.contains(bytes) && !Self.specialWide.contains { $0.contains(bytes) }
    }

    /// The addresses that begin with the same bits.
    private struct Block {
        let beginning: [UInt8]
        let bitCount: Int

        init(_ beginning: [UInt8], _ bitCount: Int) {
            self.beginning = beginning
            self.bitCount = bitCount
        }

        func contains(_ bytes: [UInt8]) -> Bool {
            for (index, byte) in beginning.enumerated() {
                let mask = UInt8(truncatingIfNeeded: 0xFF00 >> min(max(bitCount - index * 8, 0), 8))
                if (bytes[index] ^ byte) & mask != 0 { return false }
            }
            return true
        }
    }

    private static let special = [
        Block([0], 8), Block([10], 8), Block([100, 64], 10), Block([127], 8), Block([169, 254], 16),
        Block([172, 16], 12), Block([192, 0, 0], 24), Block([192, 0, 2], 24), Block([192, 88, 99], 24),
        Block([192, 168], 16), Block([198, 18], 15), Block([198, 51, 100], 24), Block([203, 0, 113], 24),
        // Multicast, reserved addresses and broadcast.
        Block([224], 3),
        // Microsoft Azure's own services on every virtual machine.
        Block([168, 63, 129, 16], 32),
    ]

    /// IPv4-mapped addresses, and the NAT64 prefix.
    private static let embedding = [
        Block([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96),
        Block([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 96),
    ]

    /// The global unicast addresses of IPv6.
    private static let global = Block([0x20], 3)

    /// Protocol assignments including Teredo, documentation, and 6to4.
    private static let specialWide = [
        Block([0x20, 0x01, 0], 23), Block([0x20, 0x01, 0x0D, 0xB8], 32), Block([0x20, 0x02], 16),
        Block([0x3F, 0xFF, 0], 20),
    ]
}

extension IPAddress: CustomStringConvertible {
    /// The usual spelling, such as `127.0.0.1` or `::1`.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "an address" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
