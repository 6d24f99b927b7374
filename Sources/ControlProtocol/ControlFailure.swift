/// Why a request was not done, as the program is told that sent it: the same words as in `pumpctl --json`.
package struct ControlFailure: Error, Hashable {
    /// What went wrong, as a stable word for programs.
    package var code: String
    /// What went wrong, in one sentence without a full stop.
    package var message: String
    /// What to do about it.
    package var hint: String?
    /// What became of the command, as ``LineProtocol/SessionError/Outcome`` words it.
    package var outcome: String?
    /// What the device said behind `ERROR:`.
    package var deviceCode: String?

    package init(
        _ code: String, _ message: String, hint: String? = nil, outcome: String? = nil, deviceCode: String? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.outcome = outcome
        self.deviceCode = deviceCode
    }

    /// The request itself is wrong, and nothing was done.
    package static func usage(_ message: String, hint: String? = nil) -> ControlFailure {
        ControlFailure("usage", message, hint: hint, outcome: "not_sent")
    }

    /// The object `error` of a response; what is not known is left out.
    package var json: JSONValue {
        let members = [
            "code": code, "message": message, "hint": hint, "outcome": outcome, "device_code": deviceCode,
        ]
        return .object(members.compactMapValues { $0.map(JSONValue.text) })
    }
}
