internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import StrictJSON

// The test of a device's firmware, and the measurement of its round trips. pumpctl makes them, as another client of pumpctld.
extension PageServer {
    /// The largest number of trials under way.
    private static let trialLimit = 4

    /// Runs a command of pumpctl for a device, and sends the lines of JSON that it prints, as it prints them. If the client
    /// leaves, pumpctl is interrupted.
    ///
    /// - Parameter command: `verify` or `latency`.
    /// - Throws: ``Problem`` as long as nothing was sent.
    @concurrent
    nonisolated func runTrial(
        _ command: String, _ admission: Admission, _ body: [UInt8], _ outbound: Writer, _ channel: any Channel
    ) async throws(Problem) {
        try admission.request.checkQuery()
        if !body.isEmpty { _ = try await members(of: body, []) }
        let device = admission.name
        let trial = try await beginTrial(command, of: device)
        do {
            try await send(trial, outbound, channel)
        } catch {
            trial.interrupt()
            channel.close(promise: nil)
        }
        await endTrial(of: device)
    }

    @concurrent
    private nonisolated func send(_ trial: Trial, _ outbound: Writer, _ channel: any Channel) async throws {
        let lines = try await NIOPipeBootstrap(group: loop).takingOwnershipOfDescriptor(input: trial.output) { pipe in
            pipe.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: pipe)
            }
        }
        await whenClosed(channel) { trial.interrupt() }
        try await lines.executeThenClose { lines in
            var headers = HTTPHeaders(Reply.commonHeaders)
            headers.add(name: "Content-Type", value: "application/x-ndjson")
            headers.add(name: "Connection", value: "close")
            try? await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)))
            // An interrupted pumpctl still has a pump to switch off, so its output is read to the end.
            for try await bytes in lines { try? await outbound.write(.body(.byteBuffer(bytes))) }
        }
        let status = try await NIOThreadPool.singleton.runIfActive { trial.status() }
        // A program that was killed has not printed all.
        if status < 128 { try await Self.end(channel) } else { channel.close(promise: nil) }
    }

    private func beginTrial(_ command: String, of device: String) async throws(Problem) -> Trial {
        guard let program = settings.pumpctl else {
            throw Problem(
                .serviceUnavailable, "not_installed", "pumpctl is not installed with this server",
                hint: "install the package pumpctl", outcome: "not_sent")
        }
        let (devices, _) = try await deviceList()
        guard let family = devices.first(where: { $0["name"]?.text == device })?["family"]?.text else {
            throw .noDevice(device)
        }
        guard let socket = call.paths.first, !isEnding else { throw .daemonLost(outcome: "not_sent") }
        guard !trials.contains(device), trials.count < Self.trialLimit else {
            throw Problem(
                .tooManyRequests, "too_many_requests",
                trials.contains(device)
                    ? "a trial of this device is under way" : "\(trials.count) trials are under way",
                hint: "wait for its end first", outcome: "not_sent")
        }
        let trial = try Trial(
            program, [command, "--port", "shared:\(device)", "--family", family, "--json"], socket: socket)
        trials.insert(device)
        return trial
    }

    private func endTrial(of device: String) { trials.remove(device) }
}
