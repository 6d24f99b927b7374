internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

// A peer: this computer as the text and image peer of another one. pumpctl offers it over BLE.
extension PageServer {
    /// A peer that is being offered.
    struct HostedPeer {
        let run = PumpctlRun()
        /// The input of pumpctl; nil until it runs.
        var input: (any Channel)?
    }

    /// The interval at which the client is shown that the peer lives, and its session is looked at.
    private static let beat = TimeAmount.seconds(2)

    /// Offers a peer, and sends the lines of JSON that pumpctl prints, with empty lines in between. If the client
    /// leaves, its session ends, or the server ends, pumpctl is interrupted.
    ///
    /// - Parameters:
    ///   - parts: The parts of the request's body.
    ///   - hasImage: Whether there is a body, a PNG for the central.
    /// - Throws: ``Problem`` as long as nothing was sent.
    @concurrent
    nonisolated func hostPeer(
        _ admission: Admission, _ parts: inout Parts, hasImage: Bool, _ outbound: Writer, _ channel: any Channel
    ) async throws(Problem) {
        try admission.checkShowsEnd("name")
        // Before the image is read, so that there is one at a time in memory.
        let run = try await beginPeer()
        do throws(Problem) {
            let image = hasImage ? try await Self.read(&parts, of: admission.request.head, .image) : nil
            try await offer(admission, image, run, outbound, channel)
        } catch {
            await endPeer()
            throw error
        }
        await endPeer()
    }

    @concurrent
    private nonisolated func offer(
        _ admission: Admission, _ image: [UInt8]?, _ run: PumpctlRun, _ outbound: Writer, _ channel: any Channel
    ) async throws(Problem) {
        let program = try await pumpctl
        var arguments = ["peer", "host", "--json"]
        if let name = admission.request.query["name"] { arguments.append("--name=\(name)") }
        let file: PrivateFile?
        if let image {
            let made = try await Self.aside { () throws(Problem) in try PrivateFile("image.png", image) }
            arguments.append("--image=\(made.path)")
            file = made
        } else {
            file = nil
        }
        defer { file?.remove() }
        let output = try await Self.aside { [arguments] () throws(Problem) in
            try run.start(program, arguments, hasInput: true)
        }
        await pass(output, of: run, outbound, channel) { pipe in await attend(pipe, run, admission.session) }
    }

    private func beginPeer() throws(Problem) -> PumpctlRun {
        guard peer == nil, !isEnding else {
            throw Problem(
                .tooManyRequests, "too_many_requests", "a peer is offered already", hint: "end that one first",
                outcome: "not_sent")
        }
        let new = HostedPeer()
        peer = new
        return new.run
    }

    private func endPeer() { peer = nil }

    /// Lets texts reach the peer, and interrupts it once its session has ended.
    private func attend(_ pipe: any Channel, _ run: PumpctlRun, _ session: Session?) {
        peer?.input = pipe
        let beats = loop.scheduleRepeatedTask(initialDelay: Self.beat, delay: Self.beat) { _ in
            self.assumeIsolated { server in
                if let session, !server.isCurrent(session) { run.interrupt() }
            }
            pipe.pipeline.fireChannelRead(ByteBuffer())
            pipe.pipeline.fireChannelReadComplete()
        }
        pipe.closeFuture.whenComplete { _ in beats.cancel() }
    }

    /// Hands a text to the peer, which sends it to the subscribed centrals, or else to the first one that subscribes.
    func say(_ body: [UInt8]) throws(Problem) -> Reply {
        guard let text = try members(of: body, ["text"])["text"]?.text else {
            throw .badRequest("'text' must be a string")
        }
        guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .badRequest("'text' must be one line")
        }
        guard !text.hasPrefix("IMG_") else {
            throw .badRequest("a central would take a text that begins with IMG_ for an image")
        }
        guard let input = peer?.input, input.isWritable else {
            throw Problem(
                .conflict, "no_peer", "no peer is offered, or it takes no texts", hint: "offer one first",
                outcome: "not_sent")
        }
        input.writeAndFlush(ByteBuffer(string: text + "\n"), promise: nil)
        return Reply(.noContent, type: nil, [])
    }
}
