internal import NIOCore
internal import NIOHTTP1
internal import StrictJSON

/// The stops under way for one device.
struct StopQueue {
    /// The largest number of stops of a device that the daemon gets at once. It takes 16 on one connection, for all
    /// devices together.
    static let limit = 4

    /// The number of stops that were sent and are not answered.
    var count = 0
    /// The stop that is sent when one of those under way is answered. Its answer is for all clients that request a stop
    /// until then. nil if no stop waits.
    var next: Task<Reply, Never>?
}

/// The last stops that were requested, so that no change undoes one if its sender saw an earlier state of the device.
struct StopLog {
    /// The largest number of stops that are kept.
    private static let capacity = 256

    /// The devices, and the numbers of the last events before their stops.
    private var stops: [(device: String, number: Int)] = []
    /// The highest number of a stop that is no longer kept.
    private var forgotten = Int.min

    /// Adds a stop.
    ///
    /// - Parameter number: The number of the last event. It does not decrease from stop to stop.
    mutating func add(_ device: String, after number: Int) {
        stops.append((device, number))
        guard stops.count > Self.capacity else { return }
        forgotten = stops.removeFirst().number
    }

    /// Whether a stop of the device was requested after a client saw this event. Also true if such a stop may have been
    /// forgotten.
    func hasStop(of device: String, since seen: Int) -> Bool {
        seen <= forgotten || stops.contains { $0.device == device && seen <= $0.number }
    }
}

/// A change of a device that a client requests.
struct Change {
    let device: String
    /// The number of the last event that its sender had seen.
    let seen: Int
    /// The connection to which the change was written; nil before that.
    var channel: (any Channel)?
    /// Whether a stop was written to that connection, behind the change.
    var hasStop = false
}

// Stops: the commands that make a device safe. A stop is sent at once, whatever else is under way, and the daemon
// carries it out even if its client leaves.
extension PageServer {
    /// Sends the command that makes a device safe, and waits for its answer as long as ``patience``.
    func stop(_ device: String, _ session: Session?) async -> Reply {
        let request: [String: JSONValue] = ["do": "stop", "device": .text(device), "by": author(session)]
        stopLog.add(device, after: ring.last)
        // A state that was seen before the stop no longer permits a change, so clients need a newer number for the next
        // change.
        tick()
        writeBehindChanges(of: device, request)
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

    /// Writes a stop also to the connections to which changes of the device were written, so that no change undoes the
    /// stop: the daemon reads the lines of one connection in order, but several connections in any order.
    private func writeBehindChanges(of device: String, _ request: [String: JSONValue]) {
        for (id, change) in changes where change.device == device && !change.hasStop {
            guard let channel = change.channel else { continue }
            channel.writeAndFlush(DaemonConnection.line(request, id: 1), promise: nil)
            changes[id]?.hasStop = true
        }
    }

    /// Sends a change, unless a stop is requested or the device is lost before the change is written to the daemon.
    func send(_ request: [String: JSONValue], _ change: Change) async throws(Problem) -> JSONValue {
        lastChange += 1
        let id = lastChange
        changes[id] = change
        commandCount += 1
        defer {
            changes[id] = nil
            commandCount -= 1
        }
        return try await call.ask(request, within: patience, outcome: "unknown") { channel, line throws(Problem) in
            try await self.write(line, to: channel, id)
        }
    }

    /// Writes a change, after checking once more that it may be sent: the connection took some time to open.
    private func write(_ line: ByteBuffer, to channel: any Channel, _ id: Int) throws(Problem) {
        guard let change = changes[id] else { throw .overtaken }
        try check(change)
        changes[id]?.channel = channel
        channel.writeAndFlush(line, promise: nil)
    }

    /// Sends a stop as soon as fewer than ``StopQueue/limit`` stops of the device are under way.
    private func sendNextStop(_ request: [String: JSONValue], _ device: String) async -> Reply {
        while stops[device]?.count ?? 0 >= StopQueue.limit { await nextEvent() }
        stops[device, default: StopQueue()].count += 1
        stops[device]?.next = nil
        return await sendStop(request, device)
    }

    /// Sends a stop. If the daemon or the device is away, repeats the stop for ``PageSettings/Limits/stop``, because
    /// the daemon may be restarting. Repeating a stop is safe.
    private func sendStop(_ request: [String: JSONValue], _ device: String) async -> Reply {
        defer {
            if var queue = stops[device] {
                queue.count -= 1
                stops[device] = queue.count == 0 && queue.next == nil ? nil : queue
            }
            wake()
        }
        var end: Duration?
        while true {
            do throws(Problem) { return Reply(answer: try await sendStop(request)) } catch {
                // A daemon that has just been started may not have the device yet.
                let isAbsent =
                    Problem.absences.contains(error.code) || error.code == "device_away"
                    || end != nil && error.outcome == "not_sent"
                let until = end ?? Self.now + .milliseconds(settings.limits.stop)
                guard isAbsent, Self.now < until else { return Reply(error) }
                end = until
                await pause(milliseconds: 200)
            }
        }
    }

    private func sendStop(_ request: [String: JSONValue]) async throws(Problem) -> JSONValue {
        // The watched connection is open already; for a new one, other clients may have left no place in the daemon.
        // The daemon takes 16 stops on one connection at once. A minute is longer than the daemon repeats a stop.
        let count = stops.values.reduce(0) { $0 + $1.count }
        if watch.problem == nil, watch.channel != nil, count <= 16 {
            return try await ask(request, within: .seconds(60), outcome: "unknown").0
        }
        return try await call.ask(request, within: .seconds(60), outcome: "unknown")
    }

    /// Waits for a stop's answer as long as ``patience``. After that the stop itself goes on.
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

extension Problem {
    /// A stop was asked for after the command, or is under way.
    static let overtaken = Problem(
        .conflict, "overtaken", "OFF came first",
        hint: "wait for its answer, and read the device's state before you repeat the command", outcome: "not_sent")
}
