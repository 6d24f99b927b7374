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

extension Failure {
    init(_ error: LinkError) {
        let status: ExitStatus =
            switch error.code {
            case .invalidEndpoint, .wrongFamily, .unsupported: .usage
            case .notFound, .ambiguous, .changedDevice: .noInput
            case .busy, .unavailable: .unavailable
            case .notPermitted: .noPermission
            case .disconnected, .closed, .system: .ioError
            case .timedOut: .temporaryFailure
            case .cancelled: .interrupted
            }
        self.init(status, code: error.code.rawValue, "\(error)", hint: error.hint)
        if error.code == .notFound, error.name.hasPrefix("usb:"), let advice = error.hint {
            hint = "\(advice); 'pumpctl doctor' says what may be in the way"
        }
        if error.code == .changedDevice, let advice = error.hint {
            hint = "\(advice); where it has replaced the first: pumpctl forget \(error.name.prefix { $0 != "?" })"
        }
    }

    /// - Parameter unknownEffect: What is said where it is unknown whether the command was carried out.
    init(
        _ error: SessionError, _ family: FamilyName, unknownEffect: String = "whether it was carried out is unknown"
    ) {
        let unknown = error.outcome == .unknown
        switch error.code {
        case .refused:
            let deviceCode = error.deviceCode ?? ""
            self.init(
                .refused, code: error.code.rawValue, "the device refused \(error.command): \(deviceCode)",
                hint: family.facts.hint(deviceCode), deviceCode: deviceCode)
        case .noAnswer:
            let time = error.waited.map { " in \($0.inSeconds) s" } ?? ""
            self.init(
                .temporaryFailure, code: error.code.rawValue, "no answer to \(error.command)\(time)",
                hint: "is the device switched on, and its baud rate \(family.facts.baudRate)? "
                    + "'-v' shows what is sent and received")
        case .notUnderstood:
            let line = (error.foreignLine ?? []).printable(limit: 60)
            self.init(
                .protocolError, code: error.code.rawValue,
                "the answer to \(error.command) is nothing that the protocol knows: \(line)",
                hint: "a wrong baud rate looks like this, and so does a device of another kind")
        case .linkLost where error.link?.isRefusal == true:
            // The link is up: what mends it is something else than connecting again.
            self = error.link.map { Failure($0) } ?? Failure(.ioError, code: error.code.rawValue, "")
            message = "\(error.command): \(message)"
        case .linkLost:
            self.init(.ioError, code: error.code.rawValue, "the link broke at \(error.command)")
            if let link = error.link { message += ": \(link)" }
            hint = "plug the device in again" + (unknown ? ", and ask for its status" : "")
        case .closed, .cancelled, .overtaken:
            self.init(.interrupted, code: error.code.rawValue, "\(error.command) was interrupted")
        }
        outcome = error.outcome.rawValue
        if unknown {
            message += "; \(unknownEffect)"
            if error.code != .linkLost { hint = "ask for the status before you rely on it; " + (hint ?? "") }
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

extension Duration {
    /// As seconds with no more decimals than needed, up to three.
    var inSeconds: String {
        let (seconds, attoseconds) = components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        guard milliseconds % 1000 != 0 else { return "\(milliseconds / 1000)" }
        var text = "\(milliseconds / 1000)." + "\(1000 + milliseconds % 1000)".dropFirst()
        while text.last == "0" { text.removeLast() }
        return text
    }
}

extension [UInt8] {
    /// The bytes as text of printable ASCII and UTF-8, others as `\xNN`, at most `limit` characters of it. What turns the
    /// direction of text or ends its line without being seen is escaped as well, as `\u{NNNN}`.
    func printable(limit: Int = .max) -> String {
        var text = ""
        if let whole = String(validating: self, as: UTF8.self) {
            text = whole.printable()
        } else {
            for byte in self { text += (0x20..<0x7F).contains(byte) ? String(UnicodeScalar(byte)) : Self.escaped(byte) }
        }
        return text.count > limit ? text.prefix(limit) + "…" : text
    }

    private static func escaped(_ byte: UInt8) -> String {
        "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
