import DeviceKit
import LineProtocol
import Transports

/// `rescue listen --offer` and `rescue sync --offer`: in both roles at once, where a port is named too.
extension CommandContext {
    /// Receives over the named port, if there is one, and from phones that find this computer, and hands on to them.
    ///
    /// Runs until what is waited for has come, `time` is over, or a signal ends it.
    func listen(
        offering options: OfferOptions, _ store: any RescueStore, until goal: MessageGoal, for time: Duration?
    ) async throws {
        let relay = relay(store, until: goal, offeredAs: options.offeredName)
        let offering = offering(relay, options)
        var roles: [MessageOffering.Role] = [{ try await relay.untilCome() }]
        if self.options.port != nil {
            let receiving = try receiving(by: relay)
            roles.append { try await follow(receiving) }
        }
        let hasCome = try await run(for: time) { [roles] in try await offering.run(beside: roles) }
        if !hasCome, goal.isSOS { throw Failure.noSOS(in: time) }
    }

    /// Receives over the port; a device over the air that is not there yet, or does not offer what is needed yet, is waited
    /// for: where each looks for the other, one is the first.
    private func follow(_ receiving: @Sendable () async throws -> Void) async throws {
        let isOnAir = try endpoint().scheme == "ble"
        var told: LinkError?
        while true {
            do { return try await receiving() } catch let error as LinkError
                where isOnAir && [.notFound, .timedOut, .disconnected, .system].contains(error.code)
            {
                if error != told { output.note("pumpctl: \(error); waiting for it") }
                told = error
                try await clock.sleep(for: Reconnector.interval)
            }
        }
    }

    /// Hands on what waits, over the named port or to phones that find this computer, and takes in what comes meanwhile.
    ///
    /// - Parameter time: How long to go on; nil for until all was handed on.
    /// - Returns: How many messages were handed on.
    /// - Throws: `Failure` where some still wait when `time` is over.
    func sync(offering options: OfferOptions, _ store: any RescueStore, for time: Duration?) async throws -> Int {
        let relay = relay(store, offeredAs: options.offeredName)
        let offering = offering(relay, options)
        let pending = try await store.messages(.pendingSync)
        let ids = pending.map(\.id)
        if self.options.port != nil {
            if try BLESurvey.isWanted(for: endpoint()) {
                try await offering.run(beside: [{ try await sync(pending, by: relay, for: time) }])
            } else {
                try await offering.run(beside: [
                    { try await relay.send(pending, over: openLink(), receivingFor: time) }
                ])
            }
        } else if time != nil {
            try await run(for: time) { try await offering.run(beside: []) }
        } else if !pending.isEmpty {
            try await offering.run(beside: [{ try await relay.untilHandedOn(ids) }])
        }
        return try await relay.handedOn(of: ids, in: time)
    }

    private func offering(_ relay: MessageRelay, _ options: OfferOptions) -> MessageOffering {
        MessageOffering(relay, as: options.offeredName, on: options.adapter) { [self] central in
            let traced = self.options.verbose ? TracedLink(central, note: output.note) : central
            return recorded(traced, as: central.name, note: output.note)
        }
    }
}
