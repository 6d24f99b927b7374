import DeviceKit

/// The reason why a command failed, for people and for programs.
struct Failure: Error {
    var status: ExitStatus
    /// A stable code word for programs.
    var code: String
    /// A message for people: one sentence without a full stop.
    var message: String
    /// An instruction that may solve the problem; nil if there is none.
    var hint: String?
    /// The outcome of the command, as a word for programs such as `not_sent`; nil if none is reported.
    var outcome: String?
    /// The device's error code: the text after `ERROR:`; nil if the device reported no error.
    var deviceCode: String?
    /// Whether the failure is reported even if a signal or a failure of standard output has cancelled the command.
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

    /// The record of the failure, for programs.
    var record: ResultRecord {
        let record: ResultRecord = [
            "ok": false, "exit_code": status.rawValue, "error": code, "message": message, "hint": hint,
            "outcome": outcome, "device_code": deviceCode,
        ]
        return record.known
    }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}
