internal import NIOCore
internal import NIOHTTP1
internal import RecordFormat
internal import StrictJSON

// The operations of the routes.
extension PageServer {
    /// The longest wait for the daemon's answer.
    var patience: TimeAmount { .milliseconds(Int64(settings.limits.answer)) }

    /// A call on a connection of its own, to the daemon that is watched, or else to the first that listens.
    var call: DaemonCall { DaemonCall(paths: watch.path.map { [$0] } ?? daemonPaths, loop: loop) }

    /// Carries out a request whose permission was checked, and that has a response of known length.
    func perform(
        _ admission: Admission, _ body: [UInt8], _ channel: any Channel
    ) async throws(Problem) -> Reply {
        let (device, session) = (admission.name, admission.session)
        if ![.stop, .history, .messages, .findings].contains(admission.route.operation) {
            try admission.request.checkQuery()
        }
        switch admission.route.operation {
        case .page: return files.page
        case .file: return try files.file(admission.name, version: admission.request.segments[1])
        case .openAPI: return PageFiles.openAPI
        case .logIn: return try await logIn(body)
        case .session: return Reply(json: session?.members ?? [:])
        case .logOut: return try await logOut(session)
        case .devices: return try await devices()
        case .device: return try await self.device(device)
        case .families:
            let (response, _) = try await ask(["do": "describe"])
            return Reply(json: ["families": response["families"] ?? .array([])])
        case .history: return try await history(device, admission.request, channel)
        case .messages: return try await messages(admission.request, channel)
        case .findings: return try await findings(admission.request, channel)
        case .captures: return try await captures()
        case .command: return try await command(body, device, session, channel)
        case .stop: return await stop(device, session)
        case .simulator: return try await simulator(of: device, channel)
        case .simulate: return try await simulate(body, device, session, channel)
        case .say: return try say(body)
        case .events, .log, .image, .capture, .verify, .latency, .peer: preconditionFailure("these are streamed")
        }
    }

    /// Reads a request's body, an object with these members only.
    func members(of body: [UInt8], _ names: Set<String>) throws(Problem) -> [String: JSONValue] {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(body, size: .max) } catch {
            throw .badRequest("the body is not valid: \(error)")
        }
        guard let members = value.dictionary else { throw .badRequest("the body must be a JSON object") }
        if let name = members.keys.filter({ !names.contains($0) }).min() {
            throw .badRequest("there is no member '\(name)'", hint: "use: " + names.sorted().joined(separator: ", "))
        }
        return members
    }

    // MARK: Sessions

    private func logIn(_ body: [UInt8]) async throws(Problem) -> Reply {
        guard let code = try members(of: body, ["code"])["code"]?.text else {
            throw .badRequest("'code' must be a string")
        }
        let result: (session: Session, token: String)?
        result = try await changeSessions { file throws(SessionFile.Failure) in
            try file.exchange(code: code, at: .now)
        }
        guard let result else { throw await wrong("the code is wrong, was used, or is older than five minutes") }
        settings.log("session \(result.session.id) began (\(result.session.scopeName))")
        return Reply(.created, json: result.session.members.merging(["token": .text(result.token)]) { $1 })
    }

    private func logOut(_ session: Session?) async throws(Problem) -> Reply {
        guard let session else { return Reply(.noContent, type: nil, []) }
        _ = try await changeSessions { file throws(SessionFile.Failure) in try file.revoke(session.id, at: .now) }
        settings.log("session \(session.id) ended")
        return Reply(.noContent, type: nil, [])
    }

    /// Changes the file of sessions on another thread: a slow disk must not delay a stop.
    private func changeSessions<Result: Sendable>(
        _ change: @escaping @Sendable (inout SessionFile) throws(SessionFile.Failure) -> Result
    ) async throws(Problem) -> Result {
        let path = settings.sessionPath
        return try await Self.aside { () throws(Problem) in
            var file = SessionFile(path: path)
            do throws(SessionFile.Failure) { return try change(&file) } catch { throw Problem(error) }
        }
    }

    // MARK: Devices

    private func devices() async throws(Problem) -> Reply {
        let (list, number) = try await deviceList()
        return try await reply(list, number) { ["devices": .array($0)] }
    }

    private func device(_ name: String) async throws(Problem) -> Reply {
        let (list, number) = try await deviceList()
        guard let device = list.first(where: { $0["name"]?.text == name }) else { throw .noDevice(name) }
        return try await reply([device], number) { ["device": $0[0]] }
    }

    /// Returns devices with their states, for which the daemon is asked one by one, and the number for `seen`.
    private func reply(
        _ devices: [JSONValue], _ number: Int, _ members: ([JSONValue]) -> [String: JSONValue]
    ) async throws(Problem) -> Reply {
        var all: [JSONValue] = []
        for device in devices {
            var members = device.dictionary ?? [:]
            var state = try await ask(["do": "state", "device": device["name"] ?? .null]).0.dictionary ?? [:]
            for name in ["id", "ok", "device"] { state[name] = nil }
            members["state"] = .object(state)
            all.append(.object(members))
        }
        return Reply(
            json: members(all).merging(["seen": .integer(number), "time": .text(RecordTime.now.iso8601)]) { $1 })
    }
}

extension Problem {
    static func noDevice(_ name: String) -> Problem {
        Problem(
            .notFound, "no_such_device", "there is no device named '\(name)'", hint: "list them: GET /api/v1/devices",
            outcome: "not_sent")
    }
}

extension Session {
    fileprivate var members: [String: JSONValue] {
        [
            "id": .text(id), "scope": .text(scopeName), "began": .text(began.iso8601), "ends": .text(ends.iso8601),
        ]
    }
}
