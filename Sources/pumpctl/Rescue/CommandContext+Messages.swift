import LineProtocol
import Transports

/// `message listen` and `message sync` over a named port, or over every phone in sight.
extension CommandContext {
    /// Receives over the named port until what is waited for has come, `time` is over, or a signal ends it.
    func listen(_ store: any RescueStore, until goal: MessageGoal, for time: Duration?) async throws {
        let relay = MessageRelay(store, until: goal, on: loop)
        let receiving = try receiving(by: relay)
        let hasCome = try await run(for: time) { try await receiving() }
        if !hasCome, goal.isSOS { throw Failure.noSOS(in: time) }
    }

    /// What receives over the named port until what `relay` waits for has come; over `ble:*` from every phone in sight.
    func receiving(by relay: MessageRelay) throws -> @Sendable () async throws -> Void {
        let endpoint = try endpoint()
        guard BLESurvey.isWanted(for: endpoint) else {
            let listening = MessageListening(self, endpoint, relay)
            return { try await listening.run() }
        }
        let gathering = try PhoneGathering(self, for: .watching) { link in try await receive(from: link, by: relay) }
        return {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: loop) { try await gathering.run() }
                group.addTask(executorPreference: loop) { try await relay.untilCome() }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Receives from a phone until it leaves, and until what came from it is stored.
    private func receive(from link: any Link, by relay: MessageRelay) async throws {
        var intake = MessageIntake(relay, from: link.deviceAddress, self)
        let result: Result<Void, any Error>
        do {
            _ = try await intake.receive(from: link)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        do { try await intake.untilStored() } catch {
            try intake.finish()
            throw error
        }
        try result.get()
    }

    /// Hands on what waits over the named port, or to every phone in sight, and takes in what comes meanwhile.
    ///
    /// - Returns: How many messages were handed on.
    func sync(_ store: any RescueStore, for time: Duration?) async throws -> Int {
        let pending = try await store.messages(.pendingSync)
        let relay = MessageRelay(store, on: loop)
        do {
            guard try BLESurvey.isWanted(for: endpoint()) else {
                try await MessageExchange(self, relay).send(pending, receivingFor: time)
                return pending.count
            }
            try await sync(pending, by: relay, for: time)
        } catch {
            throw pending.isEmpty ? error : Failure(pending: error)
        }
        return try await relay.handedOn(of: pending.map(\.id), in: time)
    }

    /// Hands `messages` on to every phone in sight.
    func sync(_ messages: [RescueMessage], by relay: MessageRelay, for time: Duration?) async throws {
        let gathering = try PhoneGathering(self, for: .transfer) { link in
            try await exchange(messages, over: link, by: relay, staysOpen: time != nil)
        }
        guard time == nil else {
            try await run(for: time) { try await gathering.run() }
            return
        }
        try await gathering.runOnce(for: PhoneGathering.searchTime)
        guard await gathering.servedCount == 0 else { return }
        if let error = await gathering.lastError { throw error }
        throw LinkError(
            .notFound, name: try endpoint().text, activity: "find",
            hint: "bring a phone with the rescue app near, and open the app")
    }

    /// Hands messages on to a phone and takes in what comes meanwhile.
    ///
    /// - Parameter staysOpen: Whether to go on receiving until the phone leaves.
    private func exchange(
        _ messages: [RescueMessage], over link: any Link, by relay: MessageRelay, staysOpen: Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) { try await receive(from: link, by: relay) }
            do { try await relay.handOn(messages, over: link) { _ in } } catch {
                await link.close()
                try await group.waitForAll()
                throw error
            }
            if !staysOpen { await link.close() }
            try await group.waitForAll()
        }
    }
}

extension MessageRelay {
    /// How many messages of these ids were handed on.
    ///
    /// - Throws: `Failure` where some still wait.
    func handedOn(of ids: [RescueID], in time: Duration?) throws(Failure) -> Int {
        let waitingCount = ids.count { !handedOn.contains($0) }
        guard waitingCount > 0 else { return ids.count }
        let limit = time.map { " in \($0.inSeconds) s" } ?? ""
        throw Failure(
            .temporaryFailure, code: "no_answer",
            "\(ids.count - waitingCount) handed on\(limit), and \(waitingCount) still wait",
            hint: "bring a phone near that takes them, and try again: pumpctl message sync",
            outcome: RescueStatus.pendingSync.rawValue)
    }
}

extension Failure {
    /// What was waited for did not come.
    static func noSOS(in time: Duration?) -> Failure {
        Failure(.temporaryFailure, code: "no_answer", "no SOS in \(time?.inSeconds ?? "") s")
    }

    /// Messages could not be handed on; they still wait.
    init(pending error: any Error) {
        switch error {
        case let error as LinkError:
            self.init(error)
            hint = "hand it on later: pumpctl message sync" + (error.hint.map { "; " + $0 } ?? "")
        case let failure as Failure: self = failure
        case let error as RescueStoreError: self.init(error)
        default:
            self.init(
                .interrupted, code: "cancelled", "interrupted; it is kept",
                hint: "hand it on later: pumpctl message sync")
        }
        outcome = RescueStatus.pendingSync.rawValue
    }
}
