package import StrictJSON

/// The reason why a request to pumpctld or to a simulator failed, with the code words of `pumpctl --json`.
package struct ControlFailure: Error, Hashable {
    /// A stable code word for programs.
    package var code: String
    /// A message for people: one sentence without a full stop.
    package var message: String
    /// An instruction that may solve the problem.
    package var hint: String?
    /// The outcome of the command, a raw value of ``LineProtocol/SessionError/Outcome``.
    package var outcome: String?
    /// The device's error code, such as the text after `ERROR:`; nil if the device did not refuse the command.
    package var deviceCode: String?
    /// The number of bytes, from the beginning, that were transferred and are right; nil if the request was no transfer.
    package var byteCount: Int?

    /// Creates a failure.
    package init(
        _ code: String, _ message: String, hint: String? = nil, outcome: String? = nil, deviceCode: String? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.outcome = outcome
        self.deviceCode = deviceCode
    }

    /// A failure for an invalid request, of which nothing was carried out.
    package static func usage(_ message: String, hint: String? = nil) -> ControlFailure {
        ControlFailure("usage", message, hint: hint, outcome: "not_sent")
    }

    /// The `error` object of a response, without members that are nil.
    package var json: JSONValue {
        let members = [
            "code": code, "message": message, "hint": hint, "outcome": outcome, "device_code": deviceCode,
        ]
        var json = members.compactMapValues { $0.map(JSONValue.text) }
        json["bytes"] = byteCount.map(JSONValue.integer)
        return .object(json)
    }
}
