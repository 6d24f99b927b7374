internal import NIOCore
internal import StrictJSON

/// The connection on which the daemon reports its devices, and its last reports.
struct DaemonWatch {
    /// The last state of each device, by its name, with the time of its arrival. Empty while no daemon is connected: an
    /// old state is not the present one.
    var states: [String: (message: JSONValue, time: Duration)] = [:]
    /// The daemon's list of devices; empty while no daemon is connected.
    var devices: [JSONValue] = []
    /// The families of the devices, by their names. They are kept when the daemon is lost.
    var families: [String: String] = [:]
    /// The names of the commands that make a device safe, by its family; nil until the daemon has told them.
    var stopNames: [String: String]?
    /// The reason why no daemon is connected; nil while one is.
    var problem: Problem? = .daemonUnknown
    /// The number of the event by which each device's link was last lost or came back.
    var losses: [String: Int] = [:]
    /// The number of the event by which the daemon, and all devices with it, was last lost or came back.
    var lastLoss = 0
    /// The time up to which everything that happened is in the ring of events: the daemon answered a question that was
    /// asked then.
    var certainUntil = Duration.zero

    /// The connection; nil while there is none.
    var channel: (any Channel)?
    /// The path of the connected daemon's socket; nil while there is none. The connections of ``PageServer/call`` must
    /// reach the same daemon.
    var path: String?
    /// The path of the socket at which a daemon was watched first; nil before. The server stays with it: another daemon may
    /// have other devices of the same names, and a stop must not reach another pump.
    var ownPath: String?
    /// The functions that take the answers to requests on the connection, by the IDs of the requests. They are called
    /// once, with nil if the connection has ended.
    var requests: [Int: (JSONValue?) -> Void] = [:]
    /// The ID of the last request.
    var lastRequest = 0
    /// The number of questions, one every two seconds, that the daemon has not answered.
    var unanswered = 0

    /// The number of the event by which a device, or the daemon, was last lost or came back. A client that has seen
    /// only earlier events may not change the device.
    func loss(of device: String) -> Int { max(lastLoss, losses[device] ?? 0) }
}

extension PageServer {
    /// The largest number of questions of clients under way on the watched connection; pumpctld takes 16 requests, and
    /// stops besides.
    private static let askingLimit = 12

    // MARK: The connection

    /// Starts to watch the daemon, unless that is in progress.
    func startWatching() {
        if ticker == nil {
            ticker = loop.scheduleRepeatedTask(initialDelay: .seconds(2), delay: .seconds(2)) { [executor] _ in
                Task(executorPreference: executor) { await self.tickIfWatched() }
            }
        }
        guard watching == nil else { return }
        watching = Task(executorPreference: executor) { await self.watchDaemon() }
    }

    /// Watches the daemon until nobody needs it any more: publishes its events, and connects again after a loss.
    private func watchDaemon() async {
        while isWatched {
            do { try await watchOnce() } catch { lose(error as? Problem ?? .daemonLost(outcome: nil)) }
            guard isWatched else { break }
            await pause(milliseconds: 500)
        }
        // Without a watch nobody sees a loss, so nothing that was seen before counts as seen.
        lose(.daemonUnknown, isForced: true)
        watching = nil
        if isWatched { startWatching() }
    }

    /// Connects to the daemon, and watches it until the connection ends.
    ///
    /// - Throws: The reason of the end, always.
    private func watchOnce() async throws {
        let (connection, path) = try await DaemonConnection.open(daemonPaths, on: loop)
        (watch.channel, watch.path, watch.unanswered) = (connection.channel, path, 0)
        watch.ownPath = path
        defer { endConnection() }
        // Somebody looks at the devices, so the daemon asks them for their state.
        send(["do": "subscribe", "poll": true]) { _ in }
        send(["do": "describe"]) { message in if let message { self.takeFamilies(message) } }
        askDaemon()
        try await hearAll(connection)
        throw isSilent ? Problem.daemonSilent(outcome: nil) : .daemonLost(outcome: nil)
    }

    /// Whether the daemon did not answer in time.
    private var isSilent: Bool { watch.unanswered >= settings.limits.unanswered }

    /// The paths at which the server's daemon may listen, best first.
    var daemonPaths: [String] { watch.ownPath.map { [$0] } ?? settings.daemonSockets() }

    private func endConnection() {
        let requests = watch.requests.values
        (watch.channel, watch.path, watch.requests) = (nil, nil, [:])
        for take in requests { take(nil) }
        wakeAskers()
    }

    @concurrent
    private nonisolated func hearAll(_ connection: DaemonConnection.Channel) async throws {
        try await connection.executeThenClose { inbound, _ in
            var messages = DaemonMessages(inbound)
            guard let hello = try await messages.next() else { return }
            try Problem.check(hello: hello)
            await daemonIsUp()
            while let message = try await messages.next() { try await hear(message) }
        }
    }

    private func daemonIsUp() {
        watch.problem = nil
        // Events that a client has seen in the time without a daemon say nothing of the devices.
        watch.lastLoss = publish("daemon", .object(["daemon": "up"]))
    }

    private func hear(_ message: JSONValue) throws {
        guard let event = message["event"]?.text else {
            if let id = message["id"]?.integer {
                watch.requests.removeValue(forKey: id)?(message)
            } else if let error = message["error"] {
                throw Problem(daemonError: error)
            }
            return
        }
        guard let device = message["device"]?.text else { return }
        let number = publish(event, message)
        switch event {
        case "state":
            watch.states[device] = (message, Self.now)
            if message["link"]?.text == "lost" { watch.losses[device] = number }
        case "link": watch.losses[device] = number
        default: break
        }
    }

    /// Notes that no daemon is connected, and that nothing is known of any device.
    ///
    /// - Parameter isForced: Whether to publish the loss even if the last published loss has the same reason.
    private func lose(_ problem: Problem, isForced: Bool = false) {
        let isNew = watch.problem?.code != problem.code || watch.lastLoss == 0
        (watch.states, watch.devices, watch.problem) = ([:], [], problem)
        guard isNew || isForced else { return }
        var members: [String: JSONValue] = ["daemon": "away", "code": .text(problem.code)]
        members["message"] = .text(problem.message)
        members["hint"] = problem.hint.map(JSONValue.text)
        watch.lastLoss = publish("daemon", .object(members))
    }

    // MARK: Requests

    /// Waits until the daemon is connected, which takes milliseconds if it runs.
    ///
    /// - Throws: The reason why it is not connected, once an attempt to connect has failed for a new reason, or at the
    ///   first event or tick after a second; `daemon_silent` if there is no reason yet after 5 s.
    func untilWatched() async throws(Problem) {
        // Longer than the 10 s for which a state that a client has seen permits changes: after the end of the watch no
        // such state permits any.
        leaseEnds = Self.now + .seconds(15)
        startWatching()
        let (loss, start) = (watch.lastLoss, Self.now)
        while let problem = watch.problem {
            let isUnknown = problem.code == Problem.daemonUnknown.code
            guard watch.lastLoss == loss, Self.now < start + .seconds(isUnknown ? 5 : 1) else {
                throw isUnknown ? .daemonSilent(outcome: "not_sent") : problem
            }
            await nextEvent()
        }
    }

    /// Sends a request that the daemon answers without asking a device. Returns the answer, and the number of the last
    /// event before it.
    ///
    /// - Parameter take: Takes the answer before anything else is heard from the daemon.
    func ask(
        _ members: [String: JSONValue], take: @escaping (JSONValue) -> Void = { _ in }
    ) async throws(Problem) -> (JSONValue, last: Int) {
        try await untilWatched()
        while watch.channel != nil, askingCount >= Self.askingLimit {
            await withCheckedContinuation { askers.append($0) }
        }
        askingCount += 1
        defer {
            askingCount -= 1
            wakeAskers()
        }
        return try await ask(members, within: patience, outcome: nil, take: take)
    }

    /// Sends a request on the watched connection. Returns the answer, and the number of the last event before it.
    func ask(
        _ members: [String: JSONValue], within time: TimeAmount, outcome: String?,
        take: @escaping (JSONValue) -> Void = { _ in }
    ) async throws(Problem) -> (JSONValue, last: Int) {
        guard watch.channel != nil else { throw .daemonLost(outcome: outcome == nil ? nil : "not_sent") }
        let answer = loop.makePromise(of: Result<(JSONValue, last: Int), Problem>.self)
        let timer = loop.scheduleTask(in: time) { answer.succeed(.failure(.silent(outcome))) }
        send(members) { message in
            timer.cancel()
            guard let message else {
                return answer.succeed(.failure(self.isSilent ? .silent(outcome) : .daemonLost(outcome: outcome)))
            }
            if let error = message["error"] { return answer.succeed(.failure(Problem(daemonError: error))) }
            take(message)
            answer.succeed(.success((message, self.ring.last)))
        }
        let result = try? await answer.futureResult.get()
        return try (result ?? .failure(.daemonLost(outcome: outcome))).get()
    }

    /// Sends a request on the watched connection.
    private func send(_ members: [String: JSONValue], _ take: @escaping (JSONValue?) -> Void) {
        guard let channel = watch.channel else { return take(nil) }
        watch.lastRequest += 1
        watch.requests[watch.lastRequest] = take
        channel.writeAndFlush(DaemonConnection.line(members, id: watch.lastRequest), promise: nil)
    }

    private func wakeAskers() {
        let woken = askers
        askers = []
        for asker in woken { asker.resume() }
    }

    private func takeFamilies(_ message: JSONValue) {
        var names: [String: String] = [:]
        for family in message["families"]?.elements ?? [] {
            if let name = family["name"]?.text { names[name] = family["stop"]?.text }
        }
        watch.stopNames = names
    }

    /// Returns whether a command makes a device safe. Asks the daemon if the device, or the commands that make devices
    /// safe, are unknown. If they are still unknown then, `off` counts as such a command.
    func isStop(_ command: String, of device: String) async -> Bool {
        if watch.families[device] == nil { _ = try? await deviceList() }
        if watch.stopNames == nil { _ = try? await ask(["do": "describe"]) { self.takeFamilies($0) } }
        guard let family = watch.families[device], let names = watch.stopNames else { return command == "off" }
        return names[family] == command
    }

    // MARK: Ticks

    private func tickIfWatched() {
        guard isWatched else {
            ticker?.cancel()
            ticker = nil
            watch.channel?.close(promise: nil)
            return
        }
        // Without an answer of the daemon, no other tick shows readers that the stream is alive.
        if watch.channel == nil || watch.unanswered > 0 { tick() }
        askDaemon()
    }

    /// Asks the daemon for its devices, to learn whether it still answers. The answer comes after all events that
    /// happened before the question. Closes the connection if the last questions were not answered.
    private func askDaemon() {
        guard let channel = watch.channel else { return }
        guard !isSilent else { return channel.close(promise: nil) }
        watch.unanswered += 1
        let time = Self.now
        send(["do": "devices"]) { message in if let message { self.takeList(message, askedAt: time) } }
    }

    /// Asks the daemon for its devices. Returns them, and the number by which a client shows that it knows their
    /// present state (`seen`): all events that happened before the daemon was asked have this number or a lower one.
    func deviceList() async throws(Problem) -> ([JSONValue], number: Int) {
        try await untilWatched()
        let time = Self.now
        let (answer, number) = try await ask(["do": "devices"]) { self.takeList($0, askedAt: time) }
        return (answer["devices"]?.elements ?? [], number)
    }

    /// Takes the daemon's list of devices. Publishes that nothing else happened until the daemon was asked, unless that
    /// was published less than a second ago.
    private func takeList(_ message: JSONValue, askedAt time: Duration) {
        guard let list = message["devices"]?.elements else { return }
        (watch.unanswered, watch.devices) = (0, list)
        watch.families = [:]
        for device in list {
            if let name = device["name"]?.text { watch.families[name] = device["family"]?.text }
        }
        watch.certainUntil = max(watch.certainUntil, time)
        if ring.time(of: ring.last).map({ $0 + .seconds(1) < time }) ?? true { tick() }
    }
}

extension Problem {
    /// The problem of a request that was not answered in time. The outcome is nil for a request that is no command.
    fileprivate static func silent(_ outcome: String?) -> Problem {
        outcome.map { .noAnswer(outcome: $0) } ?? .daemonSilent(outcome: nil)
    }
}
