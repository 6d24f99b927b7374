public import LineProtocol

/// An exchange of messages over a port, with phones that find this computer, or both at once.
///
/// ```swift
/// let relay = MessageRelay(try await RecordedMessages.open()) { print($0) }
/// let offering = MessageOffering(relay, as: "Rescue")
/// try await MessageExchange(of: relay, over: nil, offering).receive()
/// ```
public struct MessageExchange: Sendable {
    private let relay: MessageRelay
    private let carrier: MessageCarrier?
    private let offering: MessageOffering?

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - relay: The relay of `carrier` and `offering`.
    ///   - carrier: The device at the port; nil for none.
    ///   - offering: Makes this computer visible to phones; nil to stay invisible.
    public init(of relay: MessageRelay, over carrier: MessageCarrier?, _ offering: MessageOffering? = nil) {
        self.relay = relay
        self.carrier = carrier
        self.offering = offering
    }

    /// Receives messages until the relay's goal is reached or the task is cancelled.
    ///
    /// - Throws: The errors of ``MessageCarrier/receive(waitsForDevice:)`` and ``MessageOffering/run(beside:)``.
    public func receive() async throws {
        guard let offering else { return try await carrier?.receive() ?? () }
        var roles: [MessageOffering.Role] = [{ try await relay.untilCome() }]
        if let carrier { roles.append { try await carrier.receive(waitsForDevice: true) } }
        try await offering.run(beside: roles)
    }

    /// Sends stored messages, and stores the messages that arrive in the meantime.
    ///
    /// - Parameters:
    ///   - messages: The messages to send.
    ///   - time: The time to go on; nil to end once all messages were sent or each phone in range was served.
    /// - Returns: The number of `messages` that were not sent to any device.
    /// - Throws: The errors of ``MessageCarrier/handOn(_:receivingFor:)`` and ``MessageOffering/run(beside:)``.
    public func handOn(_ messages: [RescueMessage], receivingFor time: Duration? = nil) async throws -> Int {
        if let carrier {
            let handOn: MessageOffering.Role = { try await carrier.handOn(messages, receivingFor: time) }
            if let offering { try await offering.run(beside: [handOn]) } else { try await handOn() }
        } else if let offering {
            try await handOn(messages, by: offering, for: time)
        }
        let handedOn = await relay.handedOn
        return messages.count { !handedOn.contains($0.id) }
    }

    /// Lets phones fetch messages for a time; if `time` is nil, until phones have fetched all messages.
    private func handOn(_ messages: [RescueMessage], by offering: MessageOffering, for time: Duration?) async throws {
        guard let time else {
            guard !messages.isEmpty else { return }
            return try await offering.run(beside: [{ try await relay.untilHandedOn(messages.map(\.id)) }])
        }
        let (isTimeUp, result) = await withTimeLimit(time, clock: relay.clock, on: relay.loop) {
            try await offering.run(beside: [])
        }
        // Reaching the time limit is no failure, unless messages that arrived could not be stored.
        if case .failure(let error) = result, !isTimeUp || error is RescueStoreError { throw error }
    }
}
