import HummingbirdCore
import NIOCore
import NIOHTTPTypes

/// What keeps clients from occupying the server without using it.
struct ConnectionLimits: Sendable {
    /// The number of connections; more wait until one ends.
    var connectionCount = 256
    /// How long a connection may wait for the head of a request.
    var idle = TimeAmount.seconds(30)
    /// How long the rest of a request may take after its head.
    var request = TimeAmount.seconds(60)

    /// The HTTP server with these limits.
    var server: HTTPServerBuilder {
        .http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [RequestTimeLimit(request)], idleTimeout: idle))
    }
}

/// Closes a connection whose request has a head, but no end in time, however slowly it goes on.
private final class RequestTimeLimit: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let limit: TimeAmount
    private var end: Scheduled<Void>?

    init(_ limit: TimeAmount) {
        self.limit = limit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            let channel = context.channel
            end?.cancel()
            end = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        case .body: break
        case .end:
            end?.cancel()
            end = nil
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end?.cancel()
        end = nil
        context.fireChannelInactive()
    }
}
