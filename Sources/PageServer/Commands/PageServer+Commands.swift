internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

// Commands for devices.
extension PageServer {
    /// The greatest age of a view with which a client may change a device. A view is the state that the client shows;
    /// it is identified by the number of the last event that the client has read (`seen`).
    private static let viewTime = Duration.seconds(10)

    // MARK: Changes and queries

    /// Carries out the command in a request's body: a stop, a query (without `id` and `seen`), or a change.
    func command(
        _ body: [UInt8], _ device: String, _ session: Session?, _ channel: any Channel
    ) async throws(Problem) -> Reply {
        let members = try members(of: body, ["id", "seen", "name", "parameters"])
        guard let name = members["name"]?.text else { throw .badRequest("'name' must be a string") }
        // A stop is never refused, also not for the age of a view.
        if await isStop(name, of: device) { return await stop(device, session) }
        guard members["parameters"]?.isObject ?? true else { throw .badRequest("'parameters' must be an object") }
        var request: [String: JSONValue] = ["do": "command", "device": .text(device), "name": .text(name)]
        request["parameters"] = members["parameters"]
        guard members["id"] != nil || members["seen"] != nil else {
            request["effect"] = "query"
            request["by"] = author(session)
            return await query(request)
        }
        guard let id = members["id"]?.text, Self.isUUID(id) else { throw .badRequest("'id' must be a UUID") }
        guard let seen = members["seen"]?.integer else {
            throw .badRequest("'seen' must be the number of the last event that was shown, an integer")
        }
        await untilStateIsKnown(of: device)
        let change = Change(device: device, seen: seen)
        return try await carryOut(change, request, id.lowercased(), session, channel)
    }

    private func query(_ request: [String: JSONValue]) async -> Reply {
        do throws(Problem) {
            try checkLoad()
            commandCount += 1
            defer { commandCount -= 1 }
            return Reply(answer: try await call.ask(request, within: patience, outcome: "nothing_changed"))
        } catch {
            return Reply(error)
        }
    }

    /// Carries out a change. If a change with this ID was begun, or refused by ``check(_:)``, before, only returns the
    /// answer to that change.
    private func carryOut(
        _ change: Change, _ request: [String: JSONValue], _ id: String, _ session: Session?, _ channel: any Channel
    ) async throws(Problem) -> Reply {
        let key = JSONValue.object(request).bytes.hashValue
        if let entry = log.entry(id, at: Self.now) {
            guard entry.request == key else {
                throw Problem(
                    .conflict, "id_reused", "the id belongs to another command", hint: "use a new UUID",
                    outcome: "not_sent")
            }
            return await answer(of: entry, on: channel)
        }
        do throws(Problem) { try check(change) } catch {
            // The ID keeps this refusal, even if the change is sent again with a newer `seen`: a new change needs a new
            // ID.
            log.add(
                id,
                .init(
                    time: Self.now, request: key, answer: Task(executorPreference: executor) { [error] in Reply(error) }
                ))
            throw error
        }
        try checkLoad()
        guard !isEnding else { throw .daemonLost(outcome: "not_sent") }
        var request = request
        request["by"] = author(session)
        let answer = Task(executorPreference: executor) { [request] in
            do throws(Problem) { return Reply(answer: try await self.send(request, change)) } catch {
                return Reply(error)
            }
        }
        let entry = CommandLog<Reply>.Entry(time: Self.now, request: key, answer: answer)
        log.add(id, entry)
        return await self.answer(of: entry, on: channel)
    }

    /// Waits for the answer to a change. When all clients that wait for it have left, the connection to the daemon
    /// ends, and the daemon does not send the change any more.
    private func answer(of entry: CommandLog<Reply>.Entry, on channel: any Channel) async -> Reply {
        entry.askers.count += 1
        whenClosed(channel) {
            entry.askers.count -= 1
            if entry.askers.count == 0 { entry.answer.cancel() }
        }
        defer { whenClosed(channel, nil) }
        return await entry.answer.value
    }

    /// Checks that there is room for one more request that takes the daemon some time.
    func checkLoad() throws(Problem) {
        guard commandCount < settings.limits.commands else {
            throw Problem(
                .tooManyRequests, "too_many_requests", "\(settings.limits.commands) commands are under way",
                hint: "wait for an answer first; 'stop' is never limited", outcome: "not_sent")
        }
    }

    /// Returns the name by which the daemon reports the sender of a command.
    func author(_ session: Session?) -> JSONValue { .text("page session \(session?.id ?? "")") }

    /// Waits until the daemon has reported the state of a device that it has, which takes milliseconds. Gives up at the
    /// first event or tick after one second.
    private func untilStateIsKnown(of device: String) async {
        let end = Self.now + .seconds(1)
        while watch.problem == nil, watch.families[device] != nil, watch.states[device] == nil, Self.now < end {
            await nextEvent()
        }
    }

    /// Checks that a change may be sent: no stop of the device is under way or was requested since the sender's view,
    /// the view is not stale, and the device is there.
    ///
    /// - Throws: `overtaken`, `device_away`, `stale_view`; the reason why the daemon is away.
    func check(_ change: Change) throws(Problem) {
        let device = change.device
        guard stops[device] == nil, !stopLog.hasStop(of: device, since: change.seen) else { throw .overtaken }
        try checkView(change.seen, of: device)
        // A change of a device that is not listed may be sent: the daemon knows whether it has the device.
        guard watch.families[device] != nil else { return }
        guard watch.states[device]?.message["link"]?.text == "up" else {
            throw Problem(
                .serviceUnavailable, "device_away", "the device is away",
                hint: "check the device and its cable; a BLE link may just be opening: look at it again",
                outcome: "not_sent")
        }
    }

    /// Checks that the daemon is connected, that a view is not older than ``viewTime``, and that neither the device nor
    /// the daemon was lost or came back since.
    private func checkView(_ seen: Int, of device: String) throws(Problem) {
        if var problem = watch.problem, problem.code != Problem.daemonUnknown.code {
            problem.outcome = "not_sent"
            throw problem
        }
        let isOld = ring.time(of: seen).map { $0 + Self.viewTime < Self.now } ?? true
        guard isOld || seen < watch.loss(of: device) else { return }
        throw Problem(
            .conflict, "stale_view",
            isOld ? "what was shown is older than 10 seconds" : "the device was away since the view was shown",
            hint: "read the device again, and look at it before you repeat the command", outcome: "not_sent")
    }

    private static func isUUID(_ text: String) -> Bool {
        let lengths = text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        return lengths == [8, 4, 4, 4, 12] && text.utf8.allSatisfy { $0 == 0x2D || JSONGrammar.hexDigit($0) != nil }
    }
}

extension Reply {
    /// Creates the reply to a command that the daemon has carried out.
    init(answer: JSONValue) {
        self.init(json: ["outcome": "done", "reply": answer["reply"] ?? .array([])])
    }
}
