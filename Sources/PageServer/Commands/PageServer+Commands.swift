internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

/// The stops of a device under way.
struct StopQueue {
    /// The stop that was sent to the daemon.
    var sent: Task<Reply, Never>
    /// The stop that is sent when that one is answered. All who ask until then get its answer.
    var next: Task<Reply, Never>?
}

// Commands for devices.
extension PageServer {
    /// The longest time for which what a client has seen counts as the present.
    private static let viewTime = Duration.seconds(10)

    // MARK: Changes and queries

    func command(
        _ body: [UInt8], _ device: String, _ session: Session?, _ channel: any Channel
    ) async throws(Problem) -> Reply {
        let members = try members(of: body, ["id", "seen", "name", "parameters"])
        guard let name = members["name"]?.text else { throw .badRequest("'name' must be a string") }
        guard members["parameters"]?.isObject ?? true else { throw .badRequest("'parameters' must be an object") }
        var request: [String: JSONValue] = ["do": "command", "device": .text(device), "name": .text(name)]
        request["parameters"] = members["parameters"]
        guard members["id"] != nil || members["seen"] != nil else {
            request["effect"] = "query"
            request["by"] = author(session)
            try checkLoad()
            return await send(request, outcome: "nothing_changed")
        }
        guard let id = members["id"]?.text, Self.isUUID(id) else { throw .badRequest("'id' must be a UUID") }
        guard let seen = members["seen"]?.integer else {
            throw .badRequest("'seen' must be the number of the last event that was shown, an integer")
        }
        // A stop is never refused for the age of a view.
        if watch.isStop(name, of: device) { return await stop(device, session) }
        let key = JSONValue.object(request).bytes.hashValue
        if let entry = log.entry(id.lowercased(), at: Self.now) {
            guard entry.request == key else {
                throw Problem(
                    .conflict, "id_reused", "the id belongs to another command", hint: "use a new UUID",
                    outcome: "not_sent")
            }
            return await entry.answer.value
        }
        do { try checkView(seen, of: device) } catch {
            // Sent again with a newer number, the ID is still that of this refused change.
            log.add(id.lowercased(), .init(time: Self.now, request: key, answer: Task { [error] in Reply(error) }))
            throw error
        }
        try checkLoad()
        request["by"] = author(session)
        let answer = Task(executorPreference: executor) { [request] in await self.send(request, outcome: "unknown") }
        log.add(id.lowercased(), .init(time: Self.now, request: key, answer: answer))
        // The daemon does not send a change whose asker has left.
        channel.closeFuture.whenComplete { _ in answer.cancel() }
        return await answer.value
    }

    /// Checks that there is room for one more request that takes the daemon some time.
    func checkLoad() throws(Problem) {
        guard commandCount < settings.limits.commands else {
            throw Problem(
                .tooManyRequests, "too_many_requests", "\(settings.limits.commands) commands are under way",
                hint: "wait for an answer first; 'stop' is never limited", outcome: "not_sent")
        }
    }

    private func send(_ request: [String: JSONValue], outcome: String) async -> Reply {
        commandCount += 1
        defer { commandCount -= 1 }
        do throws(Problem) {
            return Reply(answer: try await call.ask(request, within: patience, outcome: outcome))
        } catch {
            return Reply(error)
        }
    }

    private func author(_ session: Session?) -> JSONValue { .text("page session \(session?.id ?? "")") }

    /// Checks that a client's view of a device is the present one.
    ///
    /// - Throws: `stale_view` with status 409.
    private func checkView(_ seen: Int, of device: String) throws(Problem) {
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

    // MARK: Stops

    /// Sends the command that makes a device safe, whatever else is under way. It goes on if its asker leaves. If the
    /// device's last stop is not answered yet, sends the stop after that answer.
    func stop(_ device: String, _ session: Session?) async -> Reply {
        let request: [String: JSONValue] = ["do": "stop", "device": .text(device), "by": author(session)]
        let stopping: Task<Reply, Never>
        if let queue = stops[device] {
            stopping =
                queue.next
                ?? Task(executorPreference: executor) {
                    _ = await queue.sent.value
                    return await self.sendStop(request, device)
                }
            stops[device]?.next = stopping
        } else {
            stopping = Task(executorPreference: executor) { await self.sendStop(request, device) }
            stops[device] = StopQueue(sent: stopping)
        }
        return await first(of: stopping)
    }

    /// Sends a stop, again and again for two seconds if the daemon is away: it may be restarted just now, and a stop may
    /// be repeated.
    private func sendStop(_ request: [String: JSONValue], _ device: String) async -> Reply {
        defer { stops[device] = stops[device]?.next.map { StopQueue(sent: $0) } }
        let end = Self.now + .milliseconds(settings.limits.stop)
        while true {
            do throws(Problem) { return Reply(answer: try await sendStop(request)) } catch {
                guard Problem.absences.contains(error.code), Self.now < end else { return Reply(error) }
                await pause(milliseconds: 200)
            }
        }
    }

    private func sendStop(_ request: [String: JSONValue]) async throws(Problem) -> JSONValue {
        // The watched connection needs no place in the daemon, which other clients may have taken up. The daemon takes
        // 16 stops on it at once.
        if watch.problem == nil, watch.channel != nil, stops.count <= 16 {
            return try await ask(request, within: .seconds(60), outcome: "unknown")
        }
        return try await call.ask(request, within: .seconds(60), outcome: "unknown")
    }

    /// Waits for the stops under way to be answered, for five seconds at most.
    func finishStops() async {
        await withTaskGroup { group in
            for queue in stops.values {
                group.addTask(executorPreference: executor) { _ = await self.first(of: queue.next ?? queue.sent) }
            }
        }
    }

    /// Waits for a stop's answer, for five seconds at most. The stop itself goes on.
    private func first(of stopping: Task<Reply, Never>) async -> Reply {
        let promise = loop.makePromise(of: Reply.self)
        let timer = loop.scheduleTask(in: patience) {
            promise.succeed(
                Reply(
                    Problem(
                        .gatewayTimeout, "no_answer", "the stop is not confirmed yet; the device may be on",
                        hint: "ask again; or use the device's button or its supply", outcome: "unknown")))
        }
        Task(executorPreference: executor) {
            let reply = await stopping.value
            timer.cancel()
            promise.succeed(reply)
        }
        return (try? await promise.futureResult.get())
            ?? Reply(Problem(.gatewayTimeout, "no_answer", "no answer", outcome: "unknown"))
    }
}

extension Reply {
    /// Creates the reply to a command that the daemon has carried out.
    fileprivate init(answer: JSONValue) {
        self.init(json: ["outcome": "done", "reply": answer["reply"] ?? .array([])])
    }
}
