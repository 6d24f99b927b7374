internal import ControlProtocol
internal import DescriptorIO
internal import DeviceKit
internal import LineProtocol
internal import RecordFormat
internal import StrictJSON
internal import Transports

// Requests of programs on the control socket.
extension SharedDevice {
    // MARK: State

    /// Returns the device's entry in the list of devices.
    func outline() async -> JSONValue {
        .object([
            "name": .text(settings.name), "family": .text(settings.family.name),
            "endpoint": .text(settings.endpoint.text), "up": .boolean(isUp),
            "device_id": watch.deviceID.map(JSONValue.text) ?? .null,
            "shares": .array(settings.shares.map { .text($0.description) }),
            "clients": .integer(clients.count), "last_heard": watch.heard.json,
            "signal_dbm": await link?.signalStrength().map(JSONValue.integer) ?? .null,
        ])
    }

    /// Returns the link's state and the device's values, by the keys of the family's fields, as in the JSON of
    /// ``DeviceKit/FamilyUpdate``. All values are unknown while there is no link.
    func state() async -> [String: JSONValue] {
        let values = await speaker?.values() ?? [:]
        let fields = settings.family.state
        var members: [String: JSONValue] = [
            "device": .text(settings.name), "link": isUp ? "up" : "lost",
            "values": .object(
                Dictionary(fields.map { ($0.key, JSONValue(values[$0.key], of: $0)) }, uniquingKeysWith: { $1 })),
            "last_change": watch.lastChange?.json ?? .null,
        ]
        if fields.contains(where: \.isMeasured) {
            let faults = fields.filter { field in values[field.key].map { !field.isPlausible($0) } ?? false }
            members["sensor_faults"] = .array(faults.map { .text($0.key) })
        }
        return members
    }

    /// Returns a state with its times: the age of the last report of any of its values (in a family without state: of
    /// the last output), the ages of the values that are known, and the time at which anything last arrived. Ages are
    /// in seconds, to the millisecond, and null if they are unknown.
    func dated(_ state: [String: JSONValue]) -> [String: JSONValue] {
        let now = watch.elapsed()
        let ages = (speaker?.ages() ?? [:]).filter { !watch.isReadLate(now - $0.value) }
        let known = state["values"]?.dictionary?.filter { !$0.value.isNull } ?? [:]
        let age = { (age: Duration?) in
            age.map { JSONValue.number(($0 / .milliseconds(1)).rounded() / 1000) } ?? .null
        }
        return state.merging([
            "age_s": age(watch.lastTold.flatMap { watch.isReadLate($0) ? nil : now - $0 }),
            "last_heard": watch.heard.json,
            "ages_s": .object(
                Dictionary(
                    settings.family.state.map { ($0.key, known[$0.key] == nil ? .null : age(ages[$0.key])) },
                    uniquingKeysWith: { $1 })),
        ]) { $1 }
    }

    // MARK: The link

    /// Waits until the link is open, for at most ``DeviceWatch/openingPatience``. Returns at once if the link is always
    /// held: if it is not open then, the device is away. ``isUp`` says afterwards whether the link is open.
    ///
    /// The caller must count as a user of the link: ``addUser()``.
    ///
    /// - Parameter isPatient: Whether to keep waiting if the link was lost or an attempt to open it failed.
    func waitForLink(isPatient: Bool = true) async {
        guard settings.holding != .always, !isUp, isPatient || !isAway else { return }
        watch.lastWaiter += 1
        let id = watch.lastWaiter
        let timer = Task(executorPreference: loop) { [clock] in
            if (try? await clock.sleep(for: DeviceWatch.openingPatience)) != nil { await self.endWait(of: id) }
        }
        defer { timer.cancel() }
        await withCheckedContinuation { continuation in
            if isUp { continuation.resume() } else { watch.waiters.append((id, isPatient, continuation)) }
        }
    }

    private func endWait(of id: UInt64) {
        guard let index = watch.waiters.firstIndex(where: { $0.id == id }) else { return }
        isAway = true
        watch.waiters.remove(at: index).continuation.resume()
    }

    /// Records that the link could not be opened, and resumes the impatient waiters. ``run()`` tries again.
    func linkIsNotOpened() {
        isAway = true
        for waiter in watch.waiters where !waiter.isPatient { waiter.continuation.resume() }
        watch.waiters.removeAll { !$0.isPatient }
    }

    /// Waits for the link, and sends a line of a request on the control socket in its turn.
    ///
    /// - Parameters:
    ///   - line: The line. If it is a stop line, it is sent even if the program has left by then.
    ///   - name: The program's name, for the log, for other programs and for the record.
    ///   - asker: The receiver of the reply.
    ///   - isOvertaken: Whether the program has sent a stop line after this line; checked after the wait for the link.
    /// - Throws: `away` if there is no link, or if the line is a change and this process was stopped (SIGSTOP) before
    ///   its turn; `session` if a stop line overtook the line, the program has left, or the speaker throws an error.
    func request(
        _ line: ClientLine, by name: String, for asker: Asker, isOvertaken: @Sendable () -> Bool
    ) async throws(SharingError) {
        addUser()
        defer { removeUser() }
        if line.isStop { stopCount += 1 }
        let waiting = waitingLine(line)
        await waitForLink()
        guard line.isStop || asker.isThere() else {
            report(.notSent(line.bytes, by: name, "the client has disconnected, or no longer wants it"))
            throw .session(SessionError(.cancelled, command: line.text, outcome: .notSent))
        }
        guard !isOvertaken() else { throw overtaken(line, by: name) }
        try checkTurn(waiting, by: name)
        try await perform(waiting, by: name, for: asker)
    }

    /// Waits for the link, and attaches a program to the device's lines until the program leaves or the link is lost.
    /// The caller passes the program's input to ``hear(_:_:)``.
    ///
    /// - Parameter greeting: The first bytes to send to the program.
    /// - Returns: The new client's ID; nil if the device is away.
    func attach(
        _ channel: DescriptorChannel, _ name: String, isExtra: Bool, saying greeting: [UInt8]
    ) async -> ClientID? {
        addUser()
        defer { removeUser() }
        await waitForLink()
        guard isUp else { return nil }
        let client = enroll(channel, name, .attached, isExtra: isExtra)
        _ = client.tell(greeting)
        return client.id
    }

    // MARK: Subscriptions

    /// Sets the subscription of a program, or ends it with ``DeviceWatch/Subscription/none``.
    ///
    /// A program that has not been sent the state yet gets it at once when it subscribes to `state`. A subscription
    /// keeps the link open.
    func subscribe(
        _ program: ObjectIdentifier, _ subscription: DeviceWatch.Subscription,
        by tell: @escaping @Sendable ([UInt8]) -> Void
    ) {
        let previous = watch.subscribers[program]
        let subscriber =
            subscription == .none
            ? nil : DeviceWatch.Subscriber(subscription: subscription, tell: tell, state: previous?.state)
        watch.subscribers[program] = subscriber
        if previous == nil, subscriber != nil { addUser() }
        if previous != nil, subscriber == nil { removeUser() }
        stateMayHaveChanged()
        pollIfWanted()
    }

    /// Sends an event to its subscribers. `members` is evaluated only if there are any.
    private func publish(_ kind: DeviceWatch.Kind, _ members: @autoclosure () -> [String: JSONValue]) {
        guard watch.wants(kind) else { return }
        let line = ControlMessage.event(
            kind.rawValue, members().merging(["device": .text(settings.name)]) { $1 })
        for subscriber in watch.subscribers.values where subscriber.subscription.kinds.contains(kind) {
            subscriber.tell(line)
        }
    }

    // MARK: Events

    /// Publishes that the link is open, and resumes the waiters.
    func linkIsUp(_ deviceID: String?) {
        watch.deviceID = deviceID
        isAway = false
        for waiter in watch.waiters { waiter.continuation.resume() }
        watch.waiters = []
        publish(.link, ["link": "up"])
        stateMayHaveChanged()
        pollIfWanted()
    }

    /// Publishes that the link was lost or closed.
    func linkIsLost() {
        watch.deviceID = nil
        watch.lines.reset()
        watch.forgetChange()
        stopPolling()
        publish(.link, ["link": "lost"])
        stateMayHaveChanged()
    }

    /// Publishes lines that the device sent unsolicited, and notes the changes by hand that they report.
    ///
    /// - Parameter tellsState: Whether the lines report any of the device's state.
    func said(_ bytes: [UInt8], tellsState: Bool) {
        if tellsState { stateIsTold() }
        for line in Self.lines(of: bytes) {
            let event = settings.family.events.first { $0.isByHand && line.starts(with: $0.line.utf8) }
            guard let event else { continue }
            // MANUAL:ON does what the command `on` does.
            let rest = String(decoding: line.dropFirst(event.line.utf8.count), as: UTF8.self).lowercased()
            let name = settings.family.commands.first { $0.name == rest }?.name ?? event.name
            watch.note(DeviceChange(command: name, by: DeviceChange.byHand))
            recordChange(name, by: DeviceChange.byHand, outcome: "done")
        }
        if watch.wants(.said) {
            let lines =
                row.framing == .bytes
                ? watch.lines.append(bytes).map(\.text) : Self.lines(of: bytes).map(Self.text(of:))
            for line in lines { publish(.said, ["line": .text(line)]) }
        }
        stateMayHaveChanged()
    }

    /// Returns a copy of `asker` that also records when a reply reports the device's state, or that the device has
    /// carried out a change.
    ///
    /// - Parameters:
    ///   - line: The line of a program; nil for a poll.
    ///   - name: The program's name.
    func noting(_ asker: Asker, _ line: ClientLine? = nil, by name: String = "") -> Asker {
        Asker(
            tell: { bytes, tellsState in
                asker.tell(bytes, tellsState)
                self.assumeIsolated { device in
                    if tellsState { device.stateIsTold() }
                    if let line, line.isStop || line.mayChange, !device.isRefusal(bytes) {
                        device.noteChange(line, by: name, isDone: true)
                    }
                }
            }, waitForRoom: asker.waitForRoom, isThere: asker.isThere, isDue: asker.isDue, goesFirst: asker.goesFirst)
    }

    /// Notes that the device has reported some of its state, and schedules a reading for the record.
    private func stateIsTold() {
        watch.noteReport(isLate: loop.isCatchingUp)
        guard settings.isRecorded, !watch.isReadingDue else { return }
        watch.isReadingDue = true
        Task(executorPreference: loop) { await self.takeReading() }
    }

    /// Records the known values, unless the most important one, the first of ``DeviceKit/Family/state``, is unknown.
    private func takeReading() async {
        watch.isReadingDue = false
        let values = await speaker?.values() ?? [:]
        guard let main = settings.family.state.first?.key, values[main] != nil else { return }
        record(.reading(Reading(values, of: settings.family)))
    }

    /// Records a line that may have changed the device, with its sender and its outcome.
    func recordChange(_ line: ClientLine, by name: String, outcome: String) {
        guard line.isStop || line.mayChange else { return }
        recordChange(command(of: line)?.name, by: name, outcome: outcome)
    }

    private func recordChange(_ command: String?, by name: String, outcome: String) {
        guard settings.isRecorded else { return }
        let change: [String: JSONValue] = [
            "command": command.map(JSONValue.text) ?? .null, "by": .text(name), "outcome": .text(outcome),
        ]
        record(.event(kind: "command", text: JSONValue.object(change).json))
    }

    /// Returns whether a reply has an error code of the family.
    private func isRefusal(_ reply: [UInt8]) -> Bool {
        Self.lines(of: reply).contains { settings.family.wire.errorCode(Array($0).span, .lineFeed) != nil }
    }

    private func noteChange(_ line: ClientLine, by name: String, isDone: Bool) {
        watch.note(DeviceChange(command: command(of: line)?.name, by: name, isDone: isDone))
    }

    /// Notes a change whose reply is complete or missing, unless the reply has noted it, or a later change is known.
    ///
    /// - Parameter count: The number of changes when the line was about to be sent.
    func noteChange(_ line: ClientLine, by name: String, since count: Int, isDone: Bool) {
        guard line.isStop || line.mayChange, watch.changeCount == count else { return }
        noteChange(line, by: name, isDone: isDone)
    }

    /// Publishes the name of the command in a line that is about to be sent; null if the family has no such command.
    /// The event does not contain the line itself.
    func sends(_ line: ClientLine, for name: String) {
        publish(.command, ["name": command(of: line).map { .text($0.name) } ?? .null, "by": .text(name)])
    }

    /// Returns the command of the family that a line sends; nil if there is none. A command without parameters is the
    /// whole line, and one with a choice of words ends in one of them; others are recognized by the text before their
    /// first parameter, which is empty for a text to a peer, so they come last.
    private func command(of line: ClientLine) -> FamilyCommand? {
        if line.isStop { return settings.family.stop }
        let text = String(decoding: line.bytes, as: UTF8.self)
        let commands = settings.family.commands
        return commands.first { $0.parameters.isEmpty && text == $0.line }
            ?? commands.first { command in
                guard case .choice(let words)? = command.parameters.first?.value else { return false }
                return words.contains { text == command.line.replacing("{\(command.parameters[0].name)}", with: $0) }
            }
            ?? commands.first { !$0.parameters.isEmpty && text.hasPrefix($0.line.prefix { $0 != "{" }) }
    }

    /// Schedules a comparison of the state with the state that its subscribers last received, if there are any.
    func stateMayHaveChanged() {
        guard !watch.isStateLookedAt, watch.wants(.state) else { return }
        watch.isStateLookedAt = true
        Task(executorPreference: loop) { await self.lookAtState() }
    }

    /// Sends the state to its subscribers if it differs from the state that they last received.
    ///
    /// - Parameter isPolled: Whether the state answers a poll. Programs that poll get it even if it is unchanged,
    ///   because its age has changed.
    func lookAtState(isPolled: Bool = false) async {
        watch.isStateLookedAt = false
        let state = await state()
        let line = ControlMessage.event(
            DeviceWatch.Kind.state.rawValue, dated(state))
        for (program, subscriber) in watch.subscribers where subscriber.subscription.kinds.contains(.state) {
            guard subscriber.state != state || isPolled && subscriber.subscription.polls else { continue }
            watch.subscribers[program]?.state = state
            subscriber.tell(line)
        }
    }

    // MARK: Lines

    /// Splits a device's output into its lines, without empty lines and line ends.
    static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var rest = bytes[...]
        var lines: [ArraySlice<UInt8>] = []
        while let line = takeLine(from: &rest) { lines.append(line) }
        return lines
    }

    /// Removes and returns the first line that is not empty, without its end.
    private static func takeLine(from rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            let line = rest[..<end]
            rest = rest[end...].dropFirst()
            let text = line.last == 0x0D ? line.dropLast() : line
            if !text.isEmpty { return text }
        }
        return nil
    }

    /// Returns a line as text. If the line is not valid UTF-8, all bytes but printable ASCII are escaped.
    static func text(of line: ArraySlice<UInt8>) -> String {
        String(validating: line, as: UTF8.self) ?? Array(line).printable()
    }
}

extension JSONValue {
    /// Converts a state value for programs. An unknown value becomes the field's word for unknown, or null if the field
    /// has none; an implausible value (of a broken sensor) becomes null.
    fileprivate init(_ value: StateValue?, of field: StateField) {
        switch value ?? field.unknownWord.map({ .text($0) }) {
        case let value? where !field.isPlausible(value): self = .null
        case .number(let number): self = .number(number)
        case .integer(let number): self = .integer(number)
        case .boolean(let isOn): self = .boolean(isOn)
        case .text(let text): self = .text(text)
        case nil: self = .null
        }
    }
}
