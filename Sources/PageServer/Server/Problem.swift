internal import NIOHTTP1
internal import StrictJSON

/// The reason why a request failed, sent as an RFC 9457 object.
struct Problem: Error {
    var status: HTTPResponseStatus
    /// A stable code word for programs.
    var code: String
    /// A message for people: one sentence without a full stop.
    var message: String
    /// An instruction that may solve the problem.
    var hint: String?
    /// The outcome of the request, as of a command: `not_sent`, `nothing_changed` or `unknown`; nil for some requests
    /// that are no commands.
    var outcome: String?
    /// The error code of the device; nil if the device did not refuse the command.
    var deviceCode: String?
    /// The methods that the path takes, if the request has another one.
    var methods: [HTTPMethod] = []

    init(
        _ status: HTTPResponseStatus, _ code: String, _ message: String, hint: String? = nil, outcome: String? = nil,
        deviceCode: String? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.outcome = outcome
        self.deviceCode = deviceCode
    }

    static func badRequest(_ message: String, hint: String? = nil) -> Problem {
        Problem(.badRequest, "usage", message, hint: hint, outcome: "not_sent")
    }

    /// The body of the response.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "type": "about:blank", "title": .text(status.reasonPhrase), "status": .integer(Int(status.code)),
            "detail": .text(message), "code": .text(code),
        ]
        members["hint"] = hint.map(JSONValue.text)
        members["outcome"] = outcome.map(JSONValue.text)
        members["device_code"] = deviceCode.map(JSONValue.text)
        return .object(members)
    }
}

extension Problem {
    /// Translates an error object of the daemon.
    init(daemonError error: JSONValue) {
        let code = error["code"]?.text ?? "not_understood"
        let outcome = error["outcome"]?.text
        // `docs/http.md` has a table of the statuses and codes.
        let status: HTTPResponseStatus =
            switch code {
            case "usage": .badRequest
            case "no_such_device", "no_simulator": .notFound
            case "device_away", "closed", "cancelled", "too_many_clients", "link_lost", "no_answer", "not_understood",
                "unconfirmed", "reply_too_long":
                outcome == "not_sent" ? .serviceUnavailable : .gatewayTimeout
            case "too_many_requests": .tooManyRequests
            case "not_recorded": .conflict
            case "record_locked", "record_damaged", "record_failed", "disk_full", "no_bluetooth", "failed":
                .serviceUnavailable
            case "too_slow", "gaps", "restarted", "began_again", "begin_bad_format", "too_large", "base64_invalid",
                "size_mismatch":
                .gatewayTimeout
            case _ where outcome == "unknown": .gatewayTimeout
            default: .conflict
            }
        self.init(
            status, code, error["message"]?.text ?? "the daemon refused the request",
            hint: error["hint"]?.text ?? Self.hint(on: status, after: outcome), outcome: outcome,
            deviceCode: error["device_code"]?.text)
    }

    /// Returns an instruction for an error for which the daemon has none.
    private static func hint(on status: HTTPResponseStatus, after outcome: String?) -> String {
        if status == .badRequest { return "correct the request, and send it again" }
        return outcome == "unknown"
            ? "read the device's state before you repeat the command; or use the device's button or its supply"
            : "check the device and its cable, read its state, and repeat the command"
    }
}
