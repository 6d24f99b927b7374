internal import DescriptorIO
public import LineProtocol
public import Transports

/// A source and destination of messages: one device, or with `ble:*` every phone in range.
///
/// ```swift
/// let relay = MessageRelay(try await RecordedMessages.open()) { print($0) }
/// try await MessageCarrier(try Endpoint("ble:*?family=rescue"), for: relay).receive()
/// ```
public struct MessageCarrier: Sendable {
    private let endpoint: Endpoint
    private let relay: MessageRelay
    private let open: Reconnector.Opener
    private let reconnector: @Sendable (any Link) -> Reconnector

    /// Creates a carrier, which opens its links when it is used.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the device, or `ble:*`.
    ///   - relay: Stores the messages that arrive, and receives all events.
    ///   - open: Opens links to devices.
    ///   - reconnector: Returns the reconnector for a link; nil for one that opens links by `open`.
    public init(
        _ endpoint: Endpoint, for relay: MessageRelay,
        open: @escaping Reconnector.Opener = { try await LinkSchemes.families.open($0) },
        reconnector: (@Sendable (any Link) -> Reconnector)? = nil
    ) {
        self.endpoint = endpoint
        self.relay = relay
        self.open = open
        self.reconnector = reconnector ?? { Reconnector(endpoint, $0, on: relay.loop, clock: relay.clock, open: open) }
    }

    // MARK: Receiving

    /// Receives messages until the relay's goal is reached or the task is cancelled. If the device is lost, waits for
    /// its return.
    ///
    /// - Parameter waitsForDevice: Whether to wait for a BLE device that is not there yet or does not offer its service
    ///   yet: two devices that look for each other never start together.
    /// - Throws: `LinkError`; `RescueStoreError` if received messages are not stored; `CancellationError`.
    public func receive(waitsForDevice: Bool = false) async throws {
        guard waitsForDevice, endpoint.scheme == "ble" else { return try await receive() }
        var told: LinkError?
        while true {
            // Wait after failures to connect that may pass, including `system`: bluetoothd reports many failures as its
            // general error.
            do { return try await receive() } catch let error as LinkError
                where [.notFound, .timedOut, .disconnected, .system].contains(error.code)
            {
                if error != told { relay.tell(.waitsForDevice(error)) }
                told = error
                try await relay.clock.sleep(for: Reconnector.interval)
            }
        }
    }

    private func receive() async throws {
        guard BLESurvey.isWanted(for: endpoint) else { return try await receiveFromOne() }
        let gathering = try gathering { link in try await relay.receive(from: link) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: relay.loop) { try await gathering.run() }
            group.addTask(executorPreference: relay.loop) { try await relay.untilCome() }
            try await group.endWithFirst()
        }
    }

    /// Receives from a single device, and waits for its return whenever it is lost.
    private func receiveFromOne() async throws {
        let link = try await open(endpoint)
        var intake = MessageIntake(relay)
        do {
            try await reconnector(link).follow(link) { error in
                relay.tell(.lost(error))
            } onReturn: {
                relay.tell(.back(endpoint.text))
            } _: { link in
                guard try await intake.receive(from: link) else { throw CancellationError() }
            }
        } catch {
            try intake.finish()
            throw error
        }
        try intake.finish()
    }

    // MARK: Handing on

    /// Sends messages, and stores the messages that arrive in the meantime. ``MessageRelay/handedOn`` lists the
    /// messages that were sent. With a single device, it lists all of `messages`, unless this method throws.
    ///
    /// - Parameters:
    ///   - messages: The messages.
    ///   - time: The time to go on receiving, and with `ble:*` to look for more phones; nil to end once the device, or
    ///     every phone in range, was served.
    /// - Throws: `LinkError`, with `notFound` if `time` is nil and no phone is found; `RescueStoreError`;
    ///   `CancellationError`.
    public func handOn(_ messages: [RescueMessage], receivingFor time: Duration? = nil) async throws {
        guard BLESurvey.isWanted(for: endpoint) else {
            return try await relay.send(messages, over: open(endpoint), receivingFor: time)
        }
        let gathering = try gathering { link in
            try await relay.exchange(messages, over: link, staysOpen: time != nil)
        }
        if let time { return try await gathering.run(for: time) }
        try await gathering.runOnce(for: PhoneGathering.searchTime)
        guard await gathering.servedCount == 0 else { return }
        if let error = await gathering.lastError { throw error }
        throw LinkError(
            .notFound, name: endpoint.text, activity: "find",
            hint: "bring a phone with the rescue app near, and open the app")
    }

    private func gathering(_ service: @escaping PhoneGathering.Service) throws(LinkError) -> PhoneGathering {
        try PhoneGathering(endpoint, for: relay, open: open, service)
    }
}
