internal import ControlProtocol
internal import DeviceKit
internal import LineProtocol

extension ControlFailure {
    /// The failure sent to a program that exceeds the client limit.
    static let full = ControlFailure(
        "too_many_clients", "there are too many clients: only OFF and queries are accepted, for a short time",
        hint: "close a connection first", outcome: "not_sent")

    /// Converts an error of a shared device.
    init(_ error: SharingError, _ device: SharedDevice) {
        let (name, family) = (device.settings.name, device.settings.family)
        switch error {
        case .away:
            self.init(
                "device_away", "\(name): the device is away", hint: "wait until it is connected",
                outcome: SessionError.Outcome.notSent.rawValue)
        case .session(let error):
            let deviceCode = error.deviceCode.map { family.errorCode(in: Array($0.utf8)) }
            var worded = error
            worded.deviceCode = deviceCode
            self.init(
                error.code.rawValue, "\(name): \(worded)",
                hint: deviceCode.flatMap { family.error($0)?.remedy(Family.wording) },
                outcome: error.outcome.rawValue, deviceCode: deviceCode)
            if error.outcome == .notSent, error.code == .noAnswer || error.code == .notUnderstood {
                // The query that separates stale lines from new ones has failed: see `Session.passFence`.
                message = "\(name): \(error.command) was not sent: the query before it was not answered"
            }
            guard error.outcome == .unknown else { return }
            message += "; whether it was carried out is unknown"
            hint = hint ?? family.question.map { "ask for its state: " + Family.wording($0.name) }
        }
    }
}

extension Family {
    /// Returns the error code in a device's reply; if the reply has none, its last line.
    fileprivate func errorCode(in answer: [UInt8]) -> String {
        let lines = SharedDevice.lines(of: answer)
        for line in lines {
            if let code = wire.errorCode(Array(line).span, .lineFeed) { return code }
        }
        return lines.last.map(SharedDevice.text) ?? ""
    }
}
