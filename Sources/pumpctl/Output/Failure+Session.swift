import DeviceKit
import LineProtocol

extension Failure {
    /// Converts an error of a session.
    ///
    /// - Parameters:
    ///   - place: The place of the device; nil if it is unknown or already stated.
    ///   - unknownEffect: The phrase to append to the message if the outcome is unknown; nil for none, if the outcome
    ///     has become known since. With a phrase, the hint ends with the command that asks for the state.
    init(
        _ error: SessionError, _ family: Family, at place: DevicePlace? = nil,
        unknownEffect: String? = "whether it was carried out is unknown"
    ) {
        let (start, code) = (place.map { "\($0.name): " } ?? "", error.code.rawValue)
        switch error.code {
        case .refused:
            let deviceCode = error.deviceCode ?? ""
            self.init(
                .refused, code: code, "\(start)the device refused \(error.command): \(deviceCode)",
                hint: family.hint(deviceCode), deviceCode: deviceCode)
        case .noAnswer:
            let time = error.waited.map { " in \($0.inSeconds) s" } ?? ""
            self.init(
                .temporaryFailure, code: code,
                "\(start)no answer to \(error.command)\(time)"
                    + (error.deviceState.map { ", and the status says \($0)" } ?? ""),
                hint: DevicePlace.adviceOnSilence(at: place, family))
        case .notUnderstood:
            let line = error.foreignLine ?? []
            self.init(
                .protocolError, code: code,
                "\(start)unexpected reply to \(error.command): \(line.printable(limit: 60))",
                hint: DevicePlace.adviceOnUnknownReply(line, at: place, family))
        case .linkLost:
            if let link = error.link, [.notPermitted, .busy, .timedOut].contains(link.code) {
                // The link is up, but the far end did not confirm the bytes, so reconnecting would not help.
                self.init(link)
                message = "\(error.command): \(message)"
            } else {
                self.init(
                    .ioError, code: code,
                    "the link broke at \(error.command)" + (error.link.map { ": \($0)" } ?? ""),
                    hint: DevicePlace.adviceOnLoss(at: place ?? error.link.map { DevicePlace($0.name) }))
            }
        case .unconfirmed:
            self.init(
                .temporaryFailure, code: code,
                "\(start)\(error.command) was acknowledged, but the state of the \(family) could not be read",
                hint: DevicePlace.adviceOnSilence(at: place, family))
        case .notInEffect:
            self.init(
                .protocolError, code: code,
                "\(start)the \(family) acknowledged \(error.command), but its status says \(error.deviceState ?? "")")
        case .deviceAway:
            self.init(deviceAwayAt: place)
            message += "; \(error.command) was not sent"
        case .overtaken where error.outcome == .notSent:
            self.init(
                .refused, code: code, "\(start)\(error.command) was not sent: OFF took precedence",
                hint: "find out which program sent OFF; then repeat the command")
        case .closed, .cancelled, .overtaken:
            self.init(.interrupted, code: code, "\(start)\(error.command) was interrupted")
        }
        outcome = error.outcome.rawValue
        guard error.outcome == .unknown, let unknownEffect else { return }
        message += "; \(unknownEffect)"
        guard let question = family.questionWords else { return }
        hint = [hint, "ask for its state: \(question)"].compactMap(\.self).joined(separator: "; then ")
    }

    /// Creates the failure for a device to which the server that shares it has no link. The caller adds the outcome of
    /// the command.
    init(deviceAwayAt place: DevicePlace?) {
        self.init(
            .noInput, code: SessionError.Code.deviceAway.rawValue,
            (place.map { "\($0.name): " } ?? "") + "the server that shares the device can't reach it",
            hint: "plug the device in, or switch it on")
    }
}
