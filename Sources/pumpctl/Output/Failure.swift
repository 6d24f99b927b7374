import DeviceKit
import LineProtocol

/// Why a command did not succeed, as a person and a program are told.
struct Failure: Error {
    var status: ExitStatus
    /// What went wrong, as a stable word for programs.
    var code: String
    /// What went wrong, in one sentence without a full stop.
    var message: String
    /// What to do about it.
    var hint: String?
    /// What became of the command.
    var outcome: String?
    /// What the device said behind `ERROR:`.
    var deviceCode: String?
    /// Whether it is said even where a signal explains it.
    var mustBeSaid = false

    init(
        _ status: ExitStatus, code: String, _ message: String, hint: String? = nil, outcome: String? = nil,
        deviceCode: String? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.outcome = outcome
        self.deviceCode = deviceCode
    }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}

extension Failure {
    init(_ error: LinkError) {
        self.init(
            ExitStatus(error.code), code: error.code.rawValue, "\(error)", hint: error.remedy?.words ?? error.hint)
        if error.code == .unfit, let advice = error.hint {
            hint = "\(advice); see all it has: pumpctl gatt \(error.name.prefix { $0 != "?" })"
        }
        if error.code == .timedOut, hint == nil {
            hint = "allow more time: --timeout 30; or look for what is in the way: pumpctl doctor"
        }
        if error.code == .notFound, error.name.hasPrefix("usb:"), let advice = error.hint {
            hint = "\(advice); 'pumpctl doctor' says what may be in the way"
        }
        if error.code == .changedDevice, let advice = error.hint {
            hint = "\(advice); where it has replaced the first: pumpctl forget \(error.name.prefix { $0 != "?" })"
        }
    }

    /// - Parameters:
    ///   - place: Where the device is; nil where that was said, or is not known.
    ///   - unknownEffect: What is said where it is unknown whether the command was carried out; nil where what became of it
    ///     is known by now.
    init(
        _ error: SessionError, _ family: Family, at place: DevicePlace? = nil,
        unknownEffect: String? = "whether it was carried out is unknown"
    ) {
        let start = place.map { "\($0.name): " } ?? ""
        switch error.code {
        case .refused:
            let deviceCode = error.deviceCode ?? ""
            self.init(
                .refused, code: error.code.rawValue, "\(start)the device refused \(error.command): \(deviceCode)",
                hint: family.hint(deviceCode), deviceCode: deviceCode)
        case .noAnswer:
            let time = error.waited.map { " in \($0.inSeconds) s" } ?? ""
            self.init(
                .temporaryFailure, code: error.code.rawValue, "\(start)no answer to \(error.command)\(time)",
                hint: DevicePlace.adviceOnSilence(at: place, family))
        case .notUnderstood:
            let line = error.foreignLine ?? []
            self.init(
                .protocolError, code: error.code.rawValue,
                "\(start)unexpected reply to \(error.command): \(line.printable(limit: 60))",
                hint: DevicePlace.adviceOnUnknownReply(line, at: place, family))
        case .linkLost where error.link?.isRefusal == true:
            // The link is up: what mends it is something else than connecting again.
            self = error.link.map { Failure($0) } ?? Failure(.ioError, code: error.code.rawValue, "")
            message = "\(error.command): \(message)"
        case .linkLost:
            self.init(.ioError, code: error.code.rawValue, "the link broke at \(error.command)")
            if let link = error.link { message += ": \(link)" }
            hint = DevicePlace.adviceOnLoss(at: place ?? error.link.map { DevicePlace($0.name) })
        case .closed, .cancelled, .overtaken:
            self.init(.interrupted, code: error.code.rawValue, "\(start)\(error.command) was interrupted")
        }
        outcome = error.outcome.rawValue
        if error.outcome == .unknown, let unknownEffect { tell(ofUnknownEffect: unknownEffect, family) }
    }

    private mutating func tell(ofUnknownEffect effect: String, _ family: Family) {
        message += "; \(effect)"
        guard let question = family.questionWords else { return }
        hint = [hint, "ask for its state: \(question)"].compactMap(\.self).joined(separator: "; then ")
    }
}

extension ExitStatus {
    /// The exit of a command that a link failed.
    init(_ code: LinkError.Code) {
        self =
            switch code {
            case .invalidEndpoint, .wrongFamily, .unsupported: .usage
            case .notFound, .ambiguous, .changedDevice, .unfit: .noInput
            case .busy, .unavailable: .unavailable
            case .notPermitted: .noPermission
            case .disconnected, .closed, .system: .ioError
            case .timedOut: .temporaryFailure
            case .cancelled: .interrupted
            }
    }
}

extension LinkError.Remedy {
    /// What to do, as it is typed.
    fileprivate var words: String {
        switch self {
        case .useAs(let family): "use a command of the family \(family), or --family \(family)"
        case .nameDevice: "\(self): see pumpctl --help"
        case .sendNoBreak: "omit --break: only a serial port has a break condition"
        }
    }
}

extension LinkError {
    /// Whether the link is up, and the far end did not confirm what was sent.
    fileprivate var isRefusal: Bool {
        switch code {
        case .notPermitted, .busy, .timedOut: true
        default: false
        }
    }
}
