import DeviceKit
import LineProtocol

extension CommandContext {
    /// A link that this command has for a long time: another pumpctl can have the device switched off over it.
    ///
    /// - Parameters:
    ///   - onStop: Called when OFF is asked for, before it is sent.
    ///   - note: Where to tell of it.
    func held(
        _ link: any Link, onStop: (@Sendable () -> Void)? = nil, note: @escaping @Sendable (String) -> Void
    ) async -> any Link {
        await HeldLink.open(link, of: family, on: loop, onStop: onStop) { [place] problem in
            OffFailure(Failure(problem, at: place))
        } note: { report in
            switch report {
            case .asked(let process): note("pumpctl: pumpctl (pid \(process)) has asked for OFF")
            case .unreachable:
                note("pumpctl: no folder for a socket: 'pumpctl off' can't ask this program to switch the device off")
            }
        }
    }
}

extension Failure {
    /// The device that this program holds could not be switched off for another one.
    fileprivate init(_ problem: OffProblem, at place: DevicePlace?) {
        switch problem.cause {
        case .noStop:
            let family = problem.family
            let reason = family.reasonForNoStop { "'\(family.words($0))'" } ?? "it has none"
            self.init(
                .unavailable, code: "no_stop", "\(problem.name) is in use as a device that has no OFF: \(reason)",
                outcome: "not_sent")
        case .session(let error): self.init(off: error, at: place)
        }
    }

    /// Why another program could not switch the device off, as it has told.
    init(_ failure: OffFailure) {
        self.init(
            ExitStatus(rawValue: failure.status) ?? .ioError, code: failure.code, failure.message, hint: failure.hint,
            outcome: failure.outcome, deviceCode: failure.deviceCode)
    }
}

extension OffFailure {
    /// The same for another pumpctl.
    fileprivate init(_ failure: Failure) {
        self.init(
            status: failure.status.rawValue, code: failure.code, message: failure.message, hint: failure.hint,
            outcome: failure.outcome, deviceCode: failure.deviceCode)
    }
}
