internal import DescriptorIO
internal import LineProtocol

// Client input, and the order in which lines are sent to the device.
extension SharedDevice {
    /// Handles a client's bytes: OFF is sent at once, and other lines in turn.
    func hear(_ bytes: [UInt8], _ id: ClientID) {
        guard let client = clients[id] else { return }
        // One user's incomplete line must not swallow another user's OFF.
        if client.isInterrupted(by: bytes, where: { row.read($0).isStop }) { client.forgetLineBegun() }
        var lines: [ClientLine] = []
        var isTooLong = false
        let frames: [ClientFramer.Frame]
        do throws(LineClient.Offence) { frames = try client.append(bytes) } catch { return drop(client, for: error) }
        for frame in frames {
            switch frame {
            case .whole(let line): lines.append(row.read(line))
            case .malformed(let bytes, let reason): report(.failed(bytes, for: client.name, reason))
            case .tooLong: isTooLong = true
            }
        }
        guard isTooLong else { return take(lines, client) }
        if client.kind == .terminal {
            // The client stays, and its next line counts.
            drop(client, for: .longLine)
            take(lines, client)
        } else {
            take(lines.filter(\.isStop), client)
            drop(client, for: .longLine)
        }
    }

    private func take(_ lines: [ClientLine], _ client: LineClient) {
        var lines = lines[...]
        if client.isExtra, lines.contains(where: \.mayChange), !lines.contains(where: \.isStop) {
            return turnAway(client)
        }
        if client.isExtra { lines.removeAll(where: \.mayChange) }
        if let stop = lines.lastIndex(where: \.isStop) {
            // Drop earlier changes of this client, which must not undo OFF. Queue its queries after OFF: they may ask
            // whether the device is safe now.
            for line in client.takeLines(where: \.mayChange) + lines[..<stop].filter(\.mayChange) {
                if let notice = overtaken(line, by: client.name).notice { tell(client, notice) }
            }
            for line in lines[...stop] where line.isStop {
                stopCount += 1
                client.lastStop = watch.elapsed()
                // So many pending OFF lines are enough. More would delay the other clients.
                guard client.stopCount < LineClient.stopLimit else { continue }
                client.stopCount += 1
                if let waiting = client.waitingStop {
                    waiting.count += 1
                    continue
                }
                let sending = LineClient.StopSending()
                if client.stopCount > 1 { client.waitingStop = sending }
                Task.immediate(executorPreference: loop) { await self.stop(line, for: client, sending) }
            }
            lines = (lines[..<stop].filter { !$0.isStop && !$0.mayChange } + lines[(stop + 1)...])[...]
        }
        for line in lines where !client.enqueue(waitingLine(line)) {
            return drop(client, for: .flood)
        }
        serveQueue(of: client)
    }

    /// Starts to work through a client's queue, unless that is in progress, or stop lines of the client are: their
    /// replies come first.
    private func serveQueue(of client: LineClient) {
        guard !client.isServed, client.stopCount == 0, client.hasLines else { return }
        client.isServed = true
        Task.immediate(executorPreference: loop) { await self.serve(client) }
    }

    /// Sends the lines of a client's queue. The queue counts as a user of the link, because the client of a message may
    /// leave before the message is sent.
    private func serve(_ client: LineClient) async {
        addUser()
        defer { removeUser() }
        while client.stopCount == 0, let line = client.nextLine() { await perform(line, for: client) }
        client.isServed = false
        if client.hasEnded, !client.isOwedAnswer { hangUp(client) }
    }

    /// Sends a stop line. While it waits for an earlier stop line of the client, further ones are not sent, and the
    /// reply to this one answers them too: a program that repeats OFF while this daemon or the device is busy must not
    /// keep the device from serving the others.
    ///
    /// The line counts as a user of the link, because the client may leave before the link is open.
    private func stop(_ line: ClientLine, for client: LineClient, _ sending: LineClient.StopSending) async {
        addUser()
        defer { removeUser() }
        await perform(waitingLine(line), for: client) { sending.count }
        client.stopCount -= sending.count
        // The stop line that waited for this one, if any, is being sent now.
        client.waitingStop = nil
        serveQueue(of: client)
        if client.hasEnded, !client.isOwedAnswer { hangUp(client) }
    }

    /// Wraps a line that has just arrived, with the numbers of stop lines and process pauses so far.
    func waitingLine(_ line: ClientLine) -> LineClient.WaitingLine {
        LineClient.WaitingLine(
            line: line, stopsBefore: stopCount, epoch: loop.isCatchingUp ? nil : ProcessPauses.number)
    }

    /// Sends a line in its turn.
    ///
    /// - Parameter answers: Returns the number of lines that the reply answers.
    private func perform(
        _ waiting: LineClient.WaitingLine, for client: LineClient, answers: @escaping @Sendable () -> Int = { 1 }
    ) async {
        do throws(SharingError) {
            guard try await isDue(waiting, of: client) else { return }
            try await perform(waiting, by: client.name, for: asker(client, answers: answers))
        } catch {
            guard isThere(client) else { return }
            if let notice = error.notice { for _ in 0..<answers() { tell(client, notice) } }
            if row.endsAnswersBySilence, error.breaksOffAnswer { drop(client, for: .brokenOff) }
        }
    }

    /// Waits for a link that is being opened. Then returns whether to send the line: always if it is a stop line or a
    /// message, otherwise only if its client is still connected. A message has no answer, so its client counts it as sent
    /// once it is written, and leaves.
    ///
    /// - Throws: ``SharingError`` if the line is a change that must not be sent any more; see ``checkTurn(_:by:)``.
    private func isDue(_ waiting: LineClient.WaitingLine, of client: LineClient) async throws(SharingError) -> Bool {
        if !isUp { await waitForLink(isPatient: false) }
        if waiting.line.isStop { return true }
        guard isThere(client) || row.framing == .objects else { return false }
        try checkTurn(waiting, by: client.name)
        return true
    }

    /// Checks that a line may still be sent in its turn.
    ///
    /// - Throws: ``SharingError`` if the line may change the device and a stop line of any program arrived after it, or
    ///   if ``isOutdated(_:)``: the sender may have given the line up.
    func checkTurn(_ waiting: LineClient.WaitingLine, by name: String) throws(SharingError) {
        guard waiting.line.mayChange else { return }
        if isOvertaken(waiting) { throw overtaken(waiting.line, by: name) }
        guard isOutdated(waiting) else { return }
        report(.notSent(waiting.line.bytes, by: name, "pumpctld was suspended"))
        throw .away
    }

    /// Returns whether a line may change the device, and a stop line of any program arrived after it.
    private func isOvertaken(_ waiting: LineClient.WaitingLine) -> Bool {
        waiting.line.mayChange && stopCount != waiting.stopsBefore
    }

    /// Returns whether a line may change the device, and this process was stopped after the client had sent the line. A
    /// line that may have arrived during a pause counts as sent before the pause.
    ///
    /// False in families without a refusal notice: their lines, such as messages, are sent late rather than dropped
    /// silently.
    private func isOutdated(_ waiting: LineClient.WaitingLine) -> Bool {
        waiting.epoch != ProcessPauses.number && waiting.line.mayChange && row.wording(.notSent) != nil
    }

    /// Sends a line in its turn, unless ``isOutdated(_:)`` or ``isOvertaken(_:)`` is true by then.
    func perform(_ waiting: LineClient.WaitingLine, by name: String, for asker: Asker) async throws(SharingError) {
        let asker = Asker(
            tell: asker.tell, waitForRoom: asker.waitForRoom, isThere: asker.isThere,
            isDue: {
                asker.isThere() && !self.assumeIsolated { $0.isOutdated(waiting) || $0.isOvertaken(waiting) }
            }, goesFirst: asker.goesFirst)
        do throws(SharingError) { try await perform(waiting.line, by: name, for: asker) } catch {
            guard case .session(let failure) = error, failure.code == .cancelled else { throw error }
            if isOvertaken(waiting) { throw overtaken(waiting.line, by: name) }
            if isOutdated(waiting) { throw .away }
            throw error
        }
    }

    /// Reports that a line is not sent because OFF has priority, and returns the error.
    func overtaken(_ line: ClientLine, by name: String) -> SharingError {
        report(.notSent(line.bytes, by: name, "OFF has priority"))
        return .session(SessionError(.overtaken, command: line.text, outcome: .notSent))
    }

    private func asker(_ client: LineClient, answers: @escaping @Sendable () -> Int) -> Asker {
        Asker(
            tell: { [self] bytes, _ in
                assumeIsolated { device in for _ in 0..<answers() { device.answer(bytes, to: client) } }
            },
            waitForRoom: { [self] in await waitForRoom(client) },
            isThere: { [self] in assumeIsolated { $0.isThere(client) } },
            goesFirst: client.lastStop.map { watch.elapsed() - $0 < Self.stopTime } ?? false)
    }

    /// Returns whether a client is still connected.
    private func isThere(_ client: LineClient) -> Bool {
        clients[client.id] != nil && client.channel.assumeIsolated { $0.isOpen }
    }

    private func answer(_ bytes: [UInt8], to client: LineClient) {
        if isThere(client), !client.tell(bytes) { drop(client, for: .doesNotRead) }
    }

    private func waitForRoom(_ client: LineClient) async {
        if await !client.hasRoom(within: Self.patience, by: clock), isThere(client) {
            drop(client, for: .stalled)
        }
    }

    private func tell(_ client: LineClient, _ notice: RelayNotice) {
        guard let bytes = row.wording(notice) else { return }
        if !client.tell(bytes) { drop(client, for: .doesNotRead) }
    }
}
