internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

/// The stops of a device under way.
struct StopQueue {
    /// The largest number of stops that the daemon gets at once.
    static let limit = 4

    /// The number of stops that were sent and are not answered.
    var count = 0
    /// The stop that is sent when one of these is answered. All who ask until then get its answer.
    var next: Task<Reply, Never>?
}

// Commands for devices.
extension PageServer {
    /// The longest time for which what a client has seen counts as the present.
    private static let viewTime = Duration.seconds(10)

    // MARK: Changes and queries

    func command(_ body: [UInt8], _ device: String, _ session: Session?) async throws(Problem) -> Reply {
        let members = try members(of: body, ["id", "seen", "name", "parameters"])
        guard let name = members["name"]?.text else { throw .badRequest("'name' must be a string") }
        guard members["parameters"]?.isObject ?? true else { throw .badRequest("'parameters' must be an object") }
        var request: [String: JSONValue] = [
            "do": "command", "device": .text(device), "name": .text(name), "by": author(session),
        ]
        request["parameters"] = members["parameters"]
        guard members["id"] != nil || members["seen"] != nil else {
            request["effect"] = "query"
            try checkLoad()
            return await send(request, outcome: "nothing_changed")
        }
        guard let id = members["id"]?.text, Self.isUUID(id) else { throw .badRequest("'id' must be a UUID") }
        guard let seen = members["seen"]?.integer else {
            throw .badRequest("'seen' must be the number of the last event that was shown, an integer")
        }
        let key = Array(JSONValue.object(request).bytes)
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
        let answer = Task(executorPreference: executor) { [request] in await self.send(request, outcome: "unknown") }
        log.add(id.lowercased(), .init(time: Self.now, request: key, answer: answer))
        return await answer.value
    }

    private func checkLoad() throws(Problem) {
        guard commandCount < settings.limits.commands else {
            throw Problem(
                .tooManyRequests, "too_many_requests", "\(settings.limits.commands) commands are under way",
                hint: "wait for an answer first; 'stop' is never limited", outcome: "not_sent")
        }
    }

    private func send(_ request: [String: JSONValue], outcome: String) async -> Reply {
        commandCount += 1
        defer { commandCount -= 1 }
        return await answer(to: request, within: patience, outcome: outcome)
    }

    private func answer(to request: [String: JSONValue], within time: TimeAmount, outcome: String) async -> Reply {
        do throws(Problem) {
            let response = try await call.ask(request, within: time, outcome: outcome)
            return Reply(json: ["outcome": "done", "reply": response["reply"] ?? .array([])])
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

    /// Sends the command that makes a device safe. It is sent at once, whatever else is under way, and goes on in the
    /// daemon if its asker leaves.
    func stop(_ device: String, _ session: Session?) async -> Reply {
        let request: [String: JSONValue] = ["do": "stop", "device": .text(device), "by": author(session)]
        let queue = stops[device] ?? StopQueue()
        let stopping: Task<Reply, Never>
        if queue.count < StopQueue.limit {
            stops[device, default: queue].count += 1
            stopping = Task(executorPreference: executor) { await self.sendStop(request, device) }
        } else if let next = queue.next {
            stopping = next
        } else {
            stopping = Task(executorPreference: executor) { await self.sendNextStop(request, device) }
            stops[device]?.next = stopping
        }
        return await first(of: stopping)
    }

    private func sendNextStop(_ request: [String: JSONValue], _ device: String) async -> Reply {
        while stops[device]?.count ?? 0 >= StopQueue.limit { await nextEvent() }
        stops[device, default: StopQueue()].count += 1
        stops[device]?.next = nil
        return await sendStop(request, device)
    }

    private func sendStop(_ request: [String: JSONValue], _ device: String) async -> Reply {
        let reply = await answer(to: request, within: .seconds(60), outcome: "unknown")
        if var queue = stops[device] {
            queue.count -= 1
            stops[device] = queue.count == 0 && queue.next == nil ? nil : queue
        }
        wake()
        return reply
    }

    /// Waits for a stop's answer, for five seconds at most. The stop itself goes on.
    private func first(of stopping: Task<Reply, Never>) async -> Reply {
        let promise = loop.makePromise(of: Reply.self)
        let timer = loop.scheduleTask(in: patience) {
            promise.succeed(
                Reply(
                    Problem(
                        .gatewayTimeout, "no_answer",
                        "the stop is under way, and not confirmed yet; the device may be on",
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
