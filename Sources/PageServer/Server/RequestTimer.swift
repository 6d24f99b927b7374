internal import NIOCore
internal import NIOHTTP1

/// Closes a connection whose client takes too long: for a request's head, for its body, or to read a response. NIO's
/// HTTP server waits for ever.
///
/// Also answers bytes that are not HTTP. NIO's own handler for such bytes does not know whether a request is being
/// answered, and a second response to a request ends a debug build.
final class RequestTimer: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let limits: PageSettings.Limits
    private var reading: Scheduled<Void>?
    private var writing: Scheduled<Void>?
    /// The number of parts of responses that the system has not taken yet.
    private var unwritten = 0
    /// Whether the present request has arrived completely, and whether its response has begun and has ended.
    private var (isRead, isAnswering, isAnswered) = (true, true, true)
    /// Whether bytes came that are not HTTP. Nothing else is sent after that.
    private var isOver = false

    init(_ limits: PageSettings.Limits) { self.limits = limits }

    private func close(in milliseconds: Int, _ context: ChannelHandlerContext) -> Scheduled<Void> {
        let channel = context.channel
        return context.eventLoop.scheduleTask(in: .milliseconds(Int64(milliseconds))) { channel.close(promise: nil) }
    }

    /// Replaces the time limit for the client's next input; nil for no limit.
    private func read(within milliseconds: Int?, _ context: ChannelHandlerContext) {
        reading?.cancel()
        reading = milliseconds.map { close(in: $0, context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        read(within: limits.firstHead, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        read(within: nil, context)
        writing?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            read(within: limits.body, context)
            (isRead, isAnswering, isAnswered) = (false, false, false)
        case .body: break
        case .end:
            read(within: nil, context)
            isRead = true
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError, !isOver {
            if !isAnswering || isAnswered && isRead { refuse(context) }
            isOver = true
        }
        context.fireErrorCaught(error)
    }

    private func refuse(_ context: ChannelHandlerContext) {
        let reply = Reply(.badRequest("the request is not valid HTTP, or its head is too long"))
        let body = context.channel.allocator.buffer(bytes: reply.body)
        context.write(wrapOutboundOut(.head(reply.head(closes: true))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOver else { return promise?.fail(ChannelError.ioOnClosedChannel) ?? () }
        switch unwrapOutboundIn(data) {
        case .head: isAnswering = true
        case .body: break
        case .end:
            read(within: limits.nextHead, context)
            isAnswered = true
        }
        let written = promise ?? context.eventLoop.makePromise()
        let box = NIOLoopBound(context, eventLoop: context.eventLoop)
        unwritten += 1
        if unwritten == 1 { writing = close(in: limits.write, context) }
        written.futureResult.assumeIsolated().whenComplete { _ in
            self.unwritten -= 1
            self.writing?.cancel()
            if self.unwritten > 0 { self.writing = self.close(in: self.limits.write, box.value) }
        }
        context.write(data, promise: written)
    }
}
