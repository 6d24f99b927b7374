import DeviceKit
import LineProtocol
import Transports

extension CommandContext {
    /// Runs `body` in a session with the pump that the options name. A failure with an unknown outcome includes the
    /// pump's current state if that can be read.
    func withPump<Value>(_ body: (PumpSession) async throws -> Value) async throws -> Value {
        let endpoint = try endpoint()
        return try await withPump(over: openLink(endpoint, for: .oneCommand, note: output.note), endpoint, body)
    }

    /// Runs `body`, which contains only queries, in a session, and repeats both if a BLE device is lost before the end
    /// of `body`.
    func askPump(_ body: (PumpSession) async throws -> Void) async throws {
        try await retryingQuery { try await withPump(body) }
    }

    /// Runs `body` in a session over `link`, and closes both. A `SessionError` of `body` becomes a `Failure` that says
    /// more, unless the link is lost: then nothing more can be read.
    func withPump<Value>(
        over link: any Link, _ endpoint: Endpoint, _ body: (PumpSession) async throws -> Value
    ) async throws -> Value {
        try await withSession(of: PumpFamily.self, over: link, endpoint) { pump in
            if await pump.hasDeviceStarted {
                output.note("pumpctl: opening the port has reset the board, which switches the pump off")
            } else if await pump.wasDeviceSilent {
                output.note(
                    "pumpctl: the pump did not answer at first: opening the port may have reset the board, which switches "
                        + "the pump off")
            }
            do { return try await body(pump) } catch let error as SessionError where error.code != .linkLost {
                throw await explained(error, pump)
            }
        }
    }

    /// Returns the failure for an error of a session. If the outcome of a command is unknown, reads the pump's current
    /// state, and includes it in the failure if that succeeds.
    private func explained(_ error: SessionError, _ pump: PumpSession) async -> Failure {
        var failure = Failure(error, .pump, at: place)
        if error.code == .noAnswer, let hint = pump.link.silenceHint { failure.hint = hint }
        if error.deviceCode == PumpErrorCode.pumpNotRunning.rawValue,
            let status = try? await pump.readStatus(timeout: timeout), status.power == .error
        {
            failure.message += "; the pump was stopped for safety"
            failure.hint = Family.pump.hint(PumpErrorCode.pumpStartFailed.rawValue)
        }
        guard case .status(let status)? = await pump.reconcile(after: error, timeout: timeout) else { return failure }
        failure.message += Self.words(status)
        failure.hint = "repeat the command if this is not the intended state"
        return failure
    }

    /// Returns the state that the pump has reported, in words to append to a message.
    static func words(_ status: PumpStatus) -> String {
        "; the device now reports: " + PumpText.rows(status).map { "\($0) \($1)" }.joined(separator: ", ")
    }

    /// Reports that the pump was switched off.
    func tellOff() { output.outcome("pump off", ["ok": true, "state": "off"] as ResultRecord) }

    /// Warns if the skin sensor of a running pump is unreliable.
    func warn(of status: PumpStatus) {
        guard let fault = status.skinFaultWhileOn else { return }
        output.note("pumpctl: warning: \(fault.text(of: status))")
    }
}
