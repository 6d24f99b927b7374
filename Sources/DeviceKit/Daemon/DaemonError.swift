internal import LineProtocol

/// Why a daemon does not give a program what it has asked for.
struct DaemonError: Error {
    /// The kinds of failure that a caller handles differently.
    enum Code {
        /// No daemon listens.
        case notRunning
        /// This user may not connect to its socket.
        case notPermitted
        /// It has not answered in time, or not as it should.
        case noAnswer
        /// It has no such device.
        case noSuchDevice
        /// It has the device, which is not there or not ready.
        case deviceAway
        /// It has refused for another reason.
        case refused
        /// The task that waited was cancelled.
        case cancelled
    }

    let code: Code
    let socket: DaemonSocket?
    /// What the daemon said, in one sentence; nil where it said nothing.
    var message: String?
    /// What the daemon says can be done about it.
    var hint: String?
    /// The daemon, where it does not answer because it was stopped, as by Ctrl-Z.
    var stopped: LinkHolder?

    init(_ code: Code, at socket: DaemonSocket? = nil, message: String? = nil, hint: String? = nil) {
        self.code = code
        self.socket = socket
        self.message = message
        self.hint = hint
    }
}

extension DaemonError.Code {
    /// What a daemon's word for a refusal means.
    init(word: String?) {
        self =
            switch word {
            case "no_such_device": .noSuchDevice
            case "device_away": .deviceAway
            default: .refused
            }
    }
}
