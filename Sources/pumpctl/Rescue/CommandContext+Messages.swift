import DeviceKit
import LineProtocol
import Transports

/// `rescue listen` and `rescue sync`: over a named port, over every phone in sight, and with `--offer` as a device that phones
/// find, beside the port where one is named.
extension CommandContext {
    /// Receives until what is waited for has come, `time` is over, or a signal ends it.
    func listen(
        _ store: any RescueStore, until goal: MessageGoal, for time: Duration?, _ offer: OfferOptions
    ) async throws {
        let relay = relay(store, until: goal, offeredAs: offer.offeredName)
        let carrier = offer.isWanted && options.port == nil ? nil : try carrier(for: relay, .watching)
        let hasCome = try await run(for: time) {
            guard offer.isWanted else { return try await carrier?.receive() ?? () }
            var roles: [MessageOffering.Role] = [{ try await relay.untilCome() }]
            if let carrier { roles.append { try await carrier.receive(waitsForDevice: true) } }
            try await offering(relay, offer).run(beside: roles)
        }
        if !hasCome, goal.isSOS {
            throw Failure(.temporaryFailure, code: "no_answer", "no SOS in \(time?.inSeconds ?? "") s")
        }
    }

    /// Hands on what waits, and takes in what comes meanwhile.
    ///
    /// - Parameter time: How long to go on; nil for until all was handed on, or each phone in sight was served.
    /// - Returns: How many messages were handed on.
    /// - Throws: `Failure` where some still wait.
    func sync(_ store: any RescueStore, for time: Duration?, _ offer: OfferOptions) async throws -> Int {
        let relay = relay(store, offeredAs: offer.offeredName)
        let pending = try await store.messages(.pendingSync)
        let ids = pending.map(\.id)
        if !offer.isWanted {
            do { try await carrier(for: relay, .transfer).handOn(pending, receivingFor: time) } catch {
                throw pending.isEmpty ? error : Failure(pending: error)
            }
        } else if options.port != nil {
            let carrier = try carrier(for: relay, .transfer)
            try await offering(relay, offer).run(beside: [{ try await carrier.handOn(pending, receivingFor: time) }])
        } else if time != nil {
            try await run(for: time) { try await offering(relay, offer).run(beside: []) }
        } else if !pending.isEmpty {
            try await offering(relay, offer).run(beside: [{ try await relay.untilHandedOn(ids) }])
        }
        let handedOn = await relay.handedOn
        let waitingCount = ids.count { !handedOn.contains($0) }
        guard waitingCount > 0 else { return ids.count }
        let limit = time.map { " in \($0.inSeconds) s" } ?? ""
        throw Failure(
            .temporaryFailure, code: "no_answer",
            "\(ids.count - waitingCount) handed on\(limit), and \(waitingCount) still wait",
            hint: "bring a phone near that takes them, and try again: pumpctl rescue sync",
            outcome: RescueStatus.pendingSync.rawValue)
    }

    private func carrier(for relay: MessageRelay, _ use: LinkUse) throws -> MessageCarrier {
        let endpoint = try endpoint()
        return MessageCarrier(endpoint, for: relay) { endpoint in
            try await openLink(endpoint, for: use, note: output.note)
        } reconnector: { link in
            reconnector(endpoint, link, note: output.note)
        }
    }

    private func offering(_ relay: MessageRelay, _ offer: OfferOptions) -> MessageOffering {
        MessageOffering(relay, as: offer.offeredName, on: offer.adapter) { [self] central in
            let traced = options.verbose ? TracedLink(central, note: output.note) : central
            return recorded(traced, as: central.name, note: output.note)
        }
    }
}

extension Failure {
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
