internal import LineProtocol

/// The failure of a daemon to give a program a device or an answer.
struct DaemonError: Error {
    /// The kinds of failure that a caller handles differently.
    enum Code {
        /// No daemon listens.
        case notRunning
        /// This user may not connect to the daemon's socket.
        case notPermitted
        /// The daemon did not answer in time, or ended the connection without a valid answer.
        case noAnswer
        /// The daemon has no such device.
        case noSuchDevice
        /// The daemon is configured for the device, but the device is not connected or not ready.
        case deviceAway
        /// The daemon refused the connection because it has too many clients. It was not asked for the device.
        case tooManyClients
        /// The daemon refused for another reason.
        case refused
        /// The waiting task was cancelled.
        case cancelled
    }

    let code: Code
    let socket: DaemonSocket?
    /// The daemon's message, one sentence; nil if it sent none.
    var message: String?
    /// The daemon's advice; nil if it sent none.
    var hint: String?
    /// The daemon's process, if the daemon does not answer because it is stopped, as by Ctrl-Z; nil for any other
    /// failure.
    var stopped: LinkHolder?

    init(_ code: Code, at socket: DaemonSocket? = nil, message: String? = nil, hint: String? = nil) {
        self.code = code
        self.socket = socket
        self.message = message
        self.hint = hint
    }
}

extension DaemonError.Code {
    /// Translates the daemon's code for a refusal.
    init(word: String?) {
        self =
            switch word {
            case "no_such_device": .noSuchDevice
            case "device_away": .deviceAway
            case "too_many_clients": .tooManyClients
            default: .refused
            }
    }
}
