import DeviceKit
import LineProtocol
import Terminal
import Transports

extension CommandContext {
    /// The text to print if a second signal ends the program before a pump that may run was confirmed to be off.
    static let lastWordsOnPump = """
        pumpctl: given up: the pump may be on
          hint: \(Failure.offByHand)
        """

    /// Sends OFF by any available way: see `SwitchingOff`. Returns when the pump's status has said that it is off, or
    /// when the program that has the device has reported so.
    ///
    /// - Parameter lastWords: The text to print if a second signal ends the program earlier; nil for none, if the pump
    ///   was not started.
    /// - Throws: `Failure` in most cases: see ``Failure/init(offFailing:at:)``.
    func switchPumpOff(lastWords: String? = lastWordsOnPump) async throws {
        work.setLastWords(lastWords)
        defer { work.setLastWords(nil) }
        do {
            let endpoint = try endpoint()
            try await SwitchingOff(.pump, timeout: timeout, wait: options.wait?.duration ?? .zero, on: loop) {
                endpoint in
                try await openLink(
                    endpoint.adapted(to: family), for: .oneCommand, isBounded: false, tellsSteps: true,
                    note: output.note)
            } stop: { link, time in
                try await withSession(of: PumpFamily.self, over: link, endpoint, isStop: true) { pump in
                    try await turnOff(pump, timeout: time)
                }
            } tell: { report in
                switch report {
                case .waiting(let holder):
                    output.note(LinkOpening.Report.waiting(holder).text(of: endpoint.text))
                case .openingAgain(let error):
                    output.note("pumpctl: \(error.map { "\($0)" } ?? "the link is lost"); reopening the link")
                case .doubtful(let error): output.note("pumpctl: \("\(error)".printable()); waiting")
                case .unverified:
                    output.note("pumpctl: OFF was acknowledged by the device now connected, which may be another pump")
                case .notOpened(let error): output.note("pumpctl: \(error)", hint: error.hint)
                case .doneByOther(let holder):
                    let name = holder.map { "\($0)" } ?? "another pumpctl"
                    if options.verbose { output.note("* \(name) has the device, and has sent OFF") }
                }
            }.run(at: endpoint)
        } catch {
            throw Failure(offFailing: error, at: place) ?? error
        }
    }

    /// Sends OFF until the pump confirms it or `timeout` is over, even if the command is interrupted: otherwise the
    /// pump would stay on.
    ///
    /// - Throws: `SessionError` if the link is lost, for `SwitchingOff`, which opens it again; otherwise `Failure`.
    private func turnOff(_ pump: PumpSession, timeout: Duration) async throws {
        do {
            try await withTaskCancellationHandler {
                try await pump.turnOff(timeout: timeout)
            } onCancel: {
                output.note("pumpctl: OFF is repeated until the pump answers; interrupt again to give up")
            }
        } catch let error as SessionError where error.code != .linkLost {
            var failure = Failure(off: error, at: place)
            if error.code == .noAnswer, let silence = pump.link.silenceHint, let hint = failure.hint {
                failure.hint = "\(hint); \(silence)"
            }
            throw failure
        }
    }
}
