internal import CPageFiles
internal import NIOCore
internal import NIOHTTP1
internal import RecordFormat
internal import StrictJSON

// The operations of the routes.
extension PageServer {
    /// The longest wait for the daemon's answer.
    var patience: TimeAmount { .milliseconds(Int64(settings.limits.answer)) }

    var call: DaemonCall { DaemonCall(paths: settings.daemonSockets(), loop: loop) }

    /// Carries out a request, whose permission was checked.
    func perform(_ admission: Admission, _ body: [UInt8]) async throws(Problem) -> Reply {
        let (device, session) = (admission.device, admission.session)
        if admission.route.operation != .stop { try admission.request.checkQuery() }
        switch admission.route.operation {
        case .page: return file(page_index, type: "text/html; charset=utf-8")
        case .openAPI: return file(page_openapi, type: "application/json")
        case .logIn: return try await logIn(body)
        case .session: return Reply(json: session?.members ?? [:])
        case .logOut: return try logOut(session)
        case .devices: return try await devices()
        case .device: return try await self.device(device)
        case .families:
            let response = try await call.ask(["do": "describe"], within: patience)
            return Reply(json: ["families": response["families"] ?? .array([])])
        case .command: return try await command(body, device, session)
        case .stop: return await stop(device, session)
        case .events: preconditionFailure("events are streamed")
        }
    }

    private func file(_ file: page_file, type: String) -> Reply {
        Reply(type: type, Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
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
        do throws(SessionFile.Failure) { result = try sessions.exchange(code: code, at: .now) } catch {
            throw Problem(error)
        }
        guard let result else { throw await wrong("the code is wrong, was used, or is older than five minutes") }
        settings.log("session \(result.session.id) began (\(result.session.scopeName))")
        return Reply(.created, json: result.session.members.merging(["token": .text(result.token)]) { $1 })
    }

    private func logOut(_ session: Session?) throws(Problem) -> Reply {
        guard let session else { return Reply(.noContent, type: nil, []) }
        do throws(SessionFile.Failure) { _ = try sessions.revoke(session.id, at: .now) } catch { throw Problem(error) }
        settings.log("session \(session.id) ended")
        return Reply(.noContent, type: nil, [])
    }

    // MARK: Devices

    /// Returns the number by which a client shows that it knows the present state, once the daemon is watched: so no
    /// loss of a link goes unnoticed that the client could not know of.
    private func handOutNumber() async throws(Problem) -> Int {
        leaseEnds = Self.now + .seconds(15)
        startWatching()
        let (loss, start) = (watch.lastLoss, Self.now)
        while let problem = watch.problem {
            let isUnknown = problem.code == Problem.daemonUnknown.code
            guard watch.lastLoss == loss, Self.now < start + .seconds(isUnknown ? 5 : 1) else {
                throw isUnknown ? .daemonSilent(outcome: nil) : problem
            }
            await nextEvent()
        }
        if ring.time(of: ring.last).map({ $0 + .seconds(1) < Self.now }) ?? true { tick() }
        return ring.last
    }

    private func devices() async throws(Problem) -> Reply {
        let number = try await handOutNumber()
        let list = try await call.ask(["do": "devices"], within: patience)["devices"]?.elements ?? []
        return try await reply(list, number) { ["devices": .array($0)] }
    }

    private func device(_ name: String) async throws(Problem) -> Reply {
        let number = try await handOutNumber()
        let list = try await call.ask(["do": "devices"], within: patience)["devices"]?.elements ?? []
        guard let device = list.first(where: { $0["name"]?.text == name }) else { throw .noDevice(name) }
        return try await reply([device], number) { ["device": $0[0]] }
    }

    private func reply(
        _ devices: [JSONValue], _ number: Int, _ members: ([JSONValue]) -> [String: JSONValue]
    ) async throws(Problem) -> Reply {
        let states = try await call.ask(
            devices.map { ["do": "state", "device": $0["name"] ?? .null] }, within: patience)
        let all = zip(devices, states).map { device, state in
            var members = device.dictionary ?? [:]
            var rest = state.dictionary ?? [:]
            for name in ["id", "ok", "device"] { rest[name] = nil }
            members["state"] = .object(rest)
            return JSONValue.object(members)
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
