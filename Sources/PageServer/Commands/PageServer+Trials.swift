internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import StrictJSON

// The test of a device's firmware, and the measurement of its round trips. pumpctl makes them, as another client of
// pumpctld.
extension PageServer {
    /// The largest number of trials under way.
    private static let trialLimit = 4

    /// Runs a command of pumpctl for a device, and sends the lines of JSON that it prints, as it prints them. If the
    /// client leaves, or the server ends, pumpctl is interrupted.
    ///
    /// - Parameter command: `verify` or `latency`.
    /// - Throws: ``Problem`` as long as nothing was sent.
    @concurrent
    nonisolated func runTrial(
        _ command: String, _ admission: Admission, _ body: [UInt8], _ outbound: Writer, _ channel: any Channel
    ) async throws(Problem) {
        try admission.checkShowsEnd()
        if !body.isEmpty { _ = try await members(of: body, []) }
        let device = admission.name
        let trial = try await beginTrial(of: device)
        do throws(Problem) {
            let output = try await start(trial, command, device)
            do { try await send(output, of: trial, outbound, channel) } catch {
                trial.interrupt()
                channel.close(promise: nil)
            }
        } catch {
            await endTrial(of: device)
            throw error
        }
        await endTrial(of: device)
    }

    @concurrent
    private nonisolated func send(
        _ output: CInt, of trial: Trial, _ outbound: Writer, _ channel: any Channel
    ) async throws {
        let lines: NIOAsyncChannel<ByteBuffer, Never>
        do {
            lines = try await NIOPipeBootstrap(group: loop).takingOwnershipOfDescriptor(input: output) { pipe in
                pipe.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: pipe) }
            }
        } catch {
            _ = Glibc.close(output)
            throw error
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

    private func beginTrial(of device: String) throws(Problem) -> Trial {
        guard trials[device] == nil, trials.count < Self.trialLimit else {
            throw Problem(
                .tooManyRequests, "too_many_requests",
                trials[device] == nil
                    ? "\(trials.count) trials are under way"
                    : "a trial of this device is under way, or pumpctl is switching its pump off behind one",
                hint: "wait for its end first", outcome: "not_sent")
        }
        let trial = Trial()
        trials[device] = trial
        return trial
    }

    /// Starts pumpctl on another thread: a slow disk must not delay a stop.
    private func start(_ trial: Trial, _ command: String, _ device: String) async throws(Problem) -> CInt {
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
        let arguments = [command, "--port", "shared:\(device)", "--family", family, "--json"]
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                try trial.start(program, arguments, socket: socket)
            }
        } catch { throw error as? Problem ?? .askerLeft(outcome: "not_sent") }
    }

    private func endTrial(of device: String) { trials[device] = nil }
}
