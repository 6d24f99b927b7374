internal import NIOCore
internal import NIOHTTP1
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
            await pass(output, of: trial, outbound, channel)
        } catch {
            await endTrial(of: device)
            throw error
        }
        await endTrial(of: device)
    }

    private func beginTrial(of device: String) throws(Problem) -> PumpctlRun {
        guard trials[device] == nil, trials.count < Self.trialLimit else {
            throw Problem(
                .tooManyRequests, "too_many_requests",
                trials[device] == nil
                    ? "\(trials.count) trials are under way"
                    : "a trial of this device is under way, or pumpctl is switching its pump off behind one",
                hint: "wait for its end first", outcome: "not_sent")
        }
        let trial = PumpctlRun()
        trials[device] = trial
        return trial
    }

    private func start(_ trial: PumpctlRun, _ command: String, _ device: String) async throws(Problem) -> CInt {
        let program = try pumpctl
        let (devices, _) = try await deviceList()
        guard let family = devices.first(where: { $0["name"]?.text == device })?["family"]?.text else {
            throw .noDevice(device)
        }
        guard let socket = call.paths.first, !isEnding else { throw .daemonLost(outcome: "not_sent") }
        let arguments = [command, "--port", "shared:\(device)", "--family", family, "--json"]
        return try await Self.aside { () throws(Problem) in
            try trial.start(program, arguments, variables: ["PUMPCTLD_SOCKET": socket])
        }
    }

    private func endTrial(of device: String) { trials[device] = nil }
}
