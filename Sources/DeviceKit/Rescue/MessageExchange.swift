public import LineProtocol

/// Messages that come and go over a port, to phones that find this computer, or both ways at once.
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

    /// An exchange that has not begun.
    ///
    /// - Parameters:
    ///   - relay: That of `carrier` and `offering`.
    ///   - carrier: What is at the port; nil for none.
    ///   - offering: What lets phones find this computer; nil where they are not to.
    public init(of relay: MessageRelay, over carrier: MessageCarrier?, _ offering: MessageOffering? = nil) {
        self.relay = relay
        self.carrier = carrier
        self.offering = offering
    }

    /// Receives until what the relay waits for has come, or the task is cancelled.
    ///
    /// - Throws: As ``MessageCarrier/receive(waitsForDevice:)`` and ``MessageOffering/run(beside:)``.
    public func receive() async throws {
        guard let offering else { return try await carrier?.receive() ?? () }
        var roles: [MessageOffering.Role] = [{ try await relay.untilCome() }]
        if let carrier { roles.append { try await carrier.receive(waitsForDevice: true) } }
        try await offering.run(beside: roles)
    }

    /// Hands on messages, which are stored, and takes in what comes meanwhile.
    ///
    /// - Parameter time: How long to go on; nil to end once all were handed on, or each phone in sight was served.
    /// - Returns: How many of the messages still wait.
    /// - Throws: As ``MessageCarrier/handOn(_:receivingFor:)`` and ``MessageOffering/run(beside:)``.
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

    /// Has phones fetch messages.
    private func handOn(_ messages: [RescueMessage], by offering: MessageOffering, for time: Duration?) async throws {
        guard let time else {
            guard !messages.isEmpty else { return }
            return try await offering.run(beside: [{ try await relay.untilHandedOn(messages.map(\.id)) }])
        }
        let (isTimeUp, result) = await withTimeLimit(time, clock: relay.clock, on: relay.loop) {
            try await offering.run(beside: [])
        }
        // That the time is up is no failure, unless something that came meanwhile is not kept.
        if case .failure(let error) = result, !isTimeUp || error is RescueStoreError { throw error }
    }
}
