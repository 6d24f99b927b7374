import DeviceKit

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

    /// As programs are told of it.
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
