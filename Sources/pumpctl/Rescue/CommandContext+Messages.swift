import DeviceKit
import LineProtocol
import Transports

/// `rescue listen` and `rescue sync` over a named port, or over every phone in sight.
extension CommandContext {
    /// Receives over the named port until what is waited for has come, `time` is over, or a signal ends it.
    func listen(_ store: any RescueStore, until goal: MessageGoal, for time: Duration?) async throws {
        let relay = relay(store, until: goal)
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
        let gathering = try gathering(for: relay, .watching) { link in try await relay.receive(from: link) }
        return {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: loop) { try await gathering.run() }
                group.addTask(executorPreference: loop) { try await relay.untilCome() }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    /// Links to the phones in sight.
    private func gathering(
        for relay: MessageRelay, _ use: LinkUse, _ service: @escaping PhoneGathering.Service
    ) throws -> PhoneGathering {
        try PhoneGathering(endpoint(), for: relay) { endpoint in
            try await openLink(endpoint, for: use, note: output.note)
        } _: {
            try await service($0)
        }
    }

    /// Hands on what waits over the named port, or to every phone in sight, and takes in what comes meanwhile.
    ///
    /// - Returns: How many messages were handed on.
    func sync(_ store: any RescueStore, for time: Duration?) async throws -> Int {
        let pending = try await store.messages(.pendingSync)
        let relay = relay(store)
        do {
            guard try BLESurvey.isWanted(for: endpoint()) else {
                try await relay.send(pending, over: openLink(), receivingFor: time)
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
        let gathering = try gathering(for: relay, .transfer) { link in
            try await relay.exchange(messages, over: link, staysOpen: time != nil)
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
            hint: "bring a phone near that takes them, and try again: pumpctl rescue sync",
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
            hint = "hand it on later: pumpctl rescue sync" + (error.hint.map { "; " + $0 } ?? "")
        case let failure as Failure: self = failure
        case let error as RescueStoreError: self.init(error)
        default:
            self.init(
                .interrupted, code: "cancelled", "interrupted; it is kept",
                hint: "hand it on later: pumpctl rescue sync")
        }
        outcome = RescueStatus.pendingSync.rawValue
    }
}
