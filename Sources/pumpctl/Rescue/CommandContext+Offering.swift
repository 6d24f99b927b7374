import LineProtocol
import Transports

/// `message listen --offer` and `message sync --offer`: in both roles at once, where a port is named too.
extension CommandContext {
    /// Receives over the named port, if there is one, and from phones that find this computer, and hands on to them.
    ///
    /// Runs until what is waited for has come, `time` is over, or a signal ends it.
    func listen(
        offering options: OfferOptions, _ store: any RescueStore, until ending: MessageIntake.Ending,
        for time: Duration?
    ) async throws {
        let relay = MessageRelay(store, until: ending, on: loop)
        let offering = MessageOffering(self, relay, options)
        var roles: [MessageOffering.Role] = [{ try await relay.untilCome() }]
        if self.options.port != nil {
            let listening = try MessageListening(self, store, until: MessageIntake.Ending(), by: relay)
            roles.append { try await follow(listening) }
        }
        let hasCome = try await run(for: time) { [roles] in try await offering.run(beside: roles) }
        if !hasCome, ending.isSOS { throw Failure.noSOS(in: time) }
    }

    /// Receives over the port; a device over the air that is not there yet, or does not offer what is needed yet, is waited
    /// for: where each looks for the other, one is the first.
    private func follow(_ listening: MessageListening) async throws {
        let isOnAir = try endpoint().scheme == "ble"
        var told: LinkError?
        while true {
            do { return try await listening.run(for: nil) } catch let error as LinkError
                where isOnAir && [.notFound, .timedOut, .disconnected, .system].contains(error.code)
            {
                if error != told { output.note("pumpctl: \(error); waiting for it") }
                told = error
                try await clock.sleep(for: Reopening.interval)
            }
        }
    }

    /// Hands on what waits, over the named port or to phones that find this computer, and takes in what comes meanwhile.
    ///
    /// - Parameter time: How long to go on; nil for until all was handed on.
    /// - Returns: How many messages were handed on.
    /// - Throws: `Failure` where some still wait when `time` is over.
    func sync(offering options: OfferOptions, _ store: any RescueStore, for time: Duration?) async throws -> Int {
        let relay = MessageRelay(store, on: loop)
        let offering = MessageOffering(self, relay, options)
        let pending = try await store.messages(.pendingSync)
        let ids = pending.map(\.id)
        if self.options.port != nil {
            let exchange = MessageExchange(self, store, by: relay)
            try await offering.run(beside: [{ try await exchange.send(pending, receivingFor: time) }])
        } else if time != nil {
            try await run(for: time) { try await offering.run(beside: []) }
        } else if !pending.isEmpty {
            try await offering.run(beside: [{ try await relay.untilHandedOn(ids) }])
        }
        let handedOn = await relay.handedOn
        let waitingCount = ids.count { !handedOn.contains($0) }
        guard waitingCount == 0 else {
            throw Failure(
                .temporaryFailure, code: "no_answer",
                "\(handedOn.count) handed on in \(time?.inSeconds ?? "") s, and \(waitingCount) still wait",
                hint: "they are kept: bring a phone near that takes them, or go on for longer",
                outcome: RescueStatus.pendingSync.rawValue)
        }
        return handedOn.count
    }
}
