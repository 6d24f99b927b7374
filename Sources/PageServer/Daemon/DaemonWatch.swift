internal import NIOCore
internal import StrictJSON

/// The daemon's devices and their states as last reported, for readers of the stream of events.
struct DaemonWatch {
    /// The last state of each device, by its name, as the daemon reported it. Empty while no daemon is connected:
    /// an old state is not the present one.
    var states: [String: JSONValue] = [:]
    /// The daemon's list of devices; empty while no daemon is connected.
    var devices: [JSONValue] = []
    /// The reason why no daemon is connected; nil while one is.
    var problem: Problem? = .daemonUnknown
    /// The number of the event by which each device's link was last lost.
    var losses: [String: Int] = [:]
    /// The number of the event by which all devices were last lost, with the daemon.
    var lastLoss = 0

    /// The number of the last loss of a device.
    func loss(of device: String) -> Int { max(lastLoss, losses[device] ?? 0) }
}

extension PageServer {
    /// The largest number of questions, one a tick, that the daemon may leave unanswered.
    private static let unansweredLimit = 2

    /// Watches the daemon until nobody needs it any more: publishes its events, and connects again after a loss.
    func watchDaemon() async {
        while isWatched {
            do { try await watchOnce() } catch { lose(error as? Problem ?? .daemonLost(outcome: nil)) }
            guard isWatched else { break }
            try? await loop.scheduleTask(in: .milliseconds(500)) {}.futureResult.get()
        }
        // Without a watch nobody sees a loss, so nothing that was seen before counts as seen.
        lose(.daemonUnknown, isPublished: false)
        watching = nil
        if isWatched { startWatching() }
    }

    private func watchOnce() async throws {
        let connection = try await DaemonConnection.open(settings.daemonSockets(), on: loop)
        watchChannel = connection.channel
        defer { watchChannel = nil }
        unanswered = 0
        subscribe(polls: !streams.isEmpty)
        askDaemon()
        try await hearAll(connection)
        throw unanswered < Self.unansweredLimit ? Problem.daemonLost(outcome: nil) : .daemonSilent(outcome: nil)
    }

    @concurrent
    private nonisolated func hearAll(_ connection: DaemonConnection.Channel) async throws {
        try await connection.executeThenClose { inbound, _ in
            var messages = DaemonMessages(inbound)
            while let message = try await messages.next() { try await hear(message) }
        }
    }

    private func hear(_ message: JSONValue) throws {
        guard let event = message["event"]?.text else {
            if let error = message["error"] { throw Problem(daemonError: error) }
            unanswered = 0
            if let list = message["devices"]?.elements { watch.devices = list }
            return
        }
        if event == "hello" {
            guard message["version"]?.integer == DaemonConnection.version else { throw Problem.otherVersion }
            watch.problem = nil
            publish("daemon", .object(["daemon": "up"]))
            return
        }
        guard let device = message["device"]?.text else { return }
        let number = publish(event, message)
        switch event {
        case "state":
            watch.states[device] = message
            if message["link"]?.text == "lost" { watch.losses[device] = number }
        case "link" where message["link"]?.text == "lost": watch.losses[device] = number
        default: break
        }
    }

    /// Notes that no daemon is connected, and that nothing is known of any device.
    private func lose(_ problem: Problem, isPublished: Bool = true) {
        let isNew = watch.problem?.code != problem.code || watch.lastLoss == 0
        (watch.states, watch.devices, watch.problem) = ([:], [], problem)
        guard isNew || !isPublished else { return }
        var members: [String: JSONValue] = ["daemon": "away", "code": .text(problem.code)]
        members["message"] = .text(problem.message)
        members["hint"] = problem.hint.map(JSONValue.text)
        watch.lastLoss = publish("daemon", .object(members))
    }

    /// Has the daemon ask the devices for their state as long as somebody looks at it.
    func pollDevices() { subscribe(polls: true) }

    private func subscribe(polls: Bool) {
        tellDaemon(["id": "subscribe", "do": "subscribe", "poll": .boolean(polls)])
    }

    private func tellDaemon(_ request: [String: JSONValue]) {
        watchChannel?.writeAndFlush(ByteBuffer(bytes: Array(JSONValue.object(request).bytes) + [0x0A]), promise: nil)
    }

    /// Asks the daemon whether it still answers. Closes the connection if it did not answer the questions before.
    func askDaemon() {
        guard let channel = watchChannel else { return }
        guard unanswered < Self.unansweredLimit else { return channel.close(promise: nil) }
        unanswered += 1
        tellDaemon(["id": "devices", "do": "devices"])
    }
}
