import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import PageServer

@Suite("Time limits of requests")
struct RequestTimerTests {
    private let channel = EmbeddedChannel()
    private let head = HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/"))

    init() throws {
        try channel.pipeline.syncOperations.addHandler(RequestTimer(PageSettings.Limits()))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/test")).wait()
    }

    /// Advances the time; returns whether the connection is open at the end, and just before it.
    private func isOpen(after seconds: Int64) -> Bool {
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(seconds * 1000 - 1))
        let wasOpen = channel.isActive
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        return wasOpen && channel.isActive
    }

    private func respond() throws {
        for part in [HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)), .end(nil)] {
            try channel.writeOutbound(part)
        }
    }

    @Test("A connection without a request is closed after 10 s")
    func firstHead() {
        #expect(isOpen(after: 9))
        #expect(!isOpen(after: 1))
    }

    @Test("A connection is closed if a body is incomplete after 15 s, even while bytes arrive")
    func body() throws {
        try channel.writeInbound(head)
        for _ in 0..<14 {
            #expect(isOpen(after: 1))
            try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
        }
        #expect(!isOpen(after: 1))
    }

    @Test("A response has no time limit, and the next head must arrive within a minute")
    func lateAnswer() throws {
        try channel.writeInbound(head)
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        #expect(isOpen(after: 3600))
        try respond()
        #expect(isOpen(after: 59))
        #expect(!isOpen(after: 1))
    }

    @Test("A client that reads nothing for 20 s is disconnected")
    func stalled() throws {
        let stalling = EmbeddedChannel(handlers: [Stall(), RequestTimer(PageSettings.Limits())])
        try stalling.connect(to: SocketAddress(unixDomainSocketPath: "/test")).wait()
        for part in [head, .end(nil)] { try stalling.writeInbound(part) }
        stalling.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "x"))), promise: nil)
        stalling.embeddedEventLoop.advanceTime(by: .milliseconds(19_999))
        #expect(stalling.isActive)
        stalling.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!stalling.isActive)
    }

    /// Takes no output, like a socket with a full buffer.
    private final class Stall: ChannelOutboundHandler {
        typealias OutboundIn = HTTPServerResponsePart

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            context.channel.closeFuture.whenComplete { _ in promise?.fail(ChannelError.ioOnClosedChannel) }
        }
    }
}
