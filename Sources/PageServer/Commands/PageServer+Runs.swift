internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

// Runs of pumpctl, whose lines of JSON are sent to a client as they are printed.
extension PageServer {
    /// The path of pumpctl.
    var pumpctl: String {
        get throws(Problem) {
            if let program = settings.pumpctl { return program }
            throw Problem(
                .serviceUnavailable, "not_installed", "pumpctl is not installed with this server",
                hint: "install the package pumpctl", outcome: "not_sent")
        }
    }

    /// Does on another thread what may block: a slow disk must not delay a stop.
    @concurrent
    static func aside<Result: Sendable>(
        _ work: @escaping @Sendable () throws(Problem) -> Result
    ) async throws(Problem) -> Result {
        do { return try await NIOThreadPool.singleton.runIfActive(work) } catch {
            // Any other error means that this task was cancelled, as at the end of the server.
            throw error as? Problem ?? .askerLeft(outcome: "not_sent")
        }
    }

    /// Sends the output of a run until its end. If the client leaves, pumpctl is interrupted.
    ///
    /// - Parameter begin: Called with the channel of the run's input and output.
    @concurrent
    nonisolated func pass(
        _ output: CInt, of run: PumpctlRun, _ outbound: Writer, _ channel: any Channel,
        begin: (any Channel) async -> Void = { _ in }
    ) async {
        do {
            let lines: NIOAsyncChannel<ByteBuffer, Never>
            do {
                let bootstrap = NIOPipeBootstrap(group: loop)
                lines = try await bootstrap.takingOwnershipOfDescriptor(inputOutput: output) { pipe in
                    pipe.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: pipe) }
                }
            } catch {
                _ = Glibc.close(output)
                throw error
            }
            await whenClosed(channel) { run.interrupt() }
            await begin(lines.channel)
            try await lines.executeThenClose { lines in try await send(lines, outbound) }
            let status = try await NIOThreadPool.singleton.runIfActive { run.status() }
            // A program that was killed has not printed all.
            if status < 128 { try await Self.end(channel) } else { channel.close(promise: nil) }
        } catch {
            run.interrupt()
            channel.close(promise: nil)
        }
    }

    /// Sends the pieces of a run's output. An empty piece is sent as an empty line, unless a line is unfinished.
    @concurrent
    private nonisolated func send(_ pieces: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: Writer) async throws {
        var headers = HTTPHeaders(Reply.commonHeaders)
        headers.add(name: "Content-Type", value: "application/x-ndjson")
        headers.add(name: "X-Accel-Buffering", value: "no")
        headers.add(name: "Connection", value: "close")
        try? await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)))
        var isWhole = true
        // An interrupted pumpctl still has a pump to switch off, so its output is read to the end.
        for try await piece in pieces {
            if let last = piece.readableBytesView.last {
                isWhole = last == UInt8(ascii: "\n")
                try? await outbound.write(.body(.byteBuffer(piece)))
            } else if isWhole {
                try? await outbound.write(.body(.byteBuffer(ByteBuffer(string: "\n"))))
            }
        }
    }
}
