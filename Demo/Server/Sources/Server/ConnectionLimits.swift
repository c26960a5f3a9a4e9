import HummingbirdCore
import Logging
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
    /// How long a client may take for 16 KB of a response.
    var response = TimeAmount.seconds(30)

    /// The HTTP server with these limits.
    var server: HTTPServerBuilder {
        HTTPServerBuilder { responder in
            LimitedChannel(
                http: HTTP1Channel(
                    responder: responder,
                    configuration: HTTP1Channel.Configuration(
                        additionalChannelHandlers: [RequestTimeLimit(request)], idleTimeout: idle)),
                limit: response)
        }
    }
}

/// An HTTP connection that counts the bytes which the client takes.
private struct LimitedChannel: ServerChildChannel {
    let http: HTTP1Channel
    let limit: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ResponseRateLimit(limit))
        }.flatMap { http.setup(channel: channel, logger: logger) }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
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

/// Closes a connection whose client takes a response too slowly, or not at all.
private final class ResponseRateLimit: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The number of waiting bytes that the client has to take within the limit, if so many wait.
    private static let byteCount = 16 << 10

    private struct Progress {
        var sent: Int
        var waiting: Int
    }

    private let limit: TimeAmount
    private var writtenByteCount = 0
    private var check: Scheduled<Void>?

    init(_ limit: TimeAmount) {
        self.limit = limit
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writtenByteCount += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        if check == nil { scheduleCheck(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        check?.cancel()
        check = nil
    }

    private func progress(_ context: ChannelHandlerContext) -> Progress {
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return Progress(sent: writtenByteCount - waiting, waiting: waiting)
    }

    /// Checks the progress after the limit; not if nothing waits.
    private func scheduleCheck(_ context: ChannelHandlerContext) {
        let before = progress(context)
        check = nil
        guard before.waiting > 0 else { return }
        check = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
            guard self.progress(context).sent - before.sent >= min(before.waiting, Self.byteCount) else {
                return context.close(promise: nil)
            }
            self.scheduleCheck(context)
        }
    }
}
