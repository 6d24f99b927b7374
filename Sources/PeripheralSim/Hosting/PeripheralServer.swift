public import BlueZ
public import FirmwareSim

/// Offers a simulated device over BLE, so that phones and other centrals find it.
///
/// Output is lost while no central is subscribed, as on a line that nobody has open.
///
/// ```swift
/// let host = DeviceHost(HM10Module(PumpFirmware()), pace: .realTime(ContinuousClock()))
/// let server = try await PeripheralServer.open(host, over: BlueZ.open(.system))
/// try await host.run()
/// ```
public actor PeripheralServer<Device: SimulatedPeripheral> {
    /// The number of bytes kept for a slow radio. Further bytes are lost.
    private static var capacity: Int { ClientLine.capacity }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { bluez.unownedExecutor }

    private nonisolated let bluez: BlueZ
    private let host: DeviceHost<Device>
    private var peripheral: Peripheral?
    /// The notifications that the writer has yet to take.
    private var outbox: [Emission] = []
    /// The number of bytes that were queued and not passed to bluetoothd yet. Some of them may have left ``outbox``.
    private var outboxLength = 0
    /// The characteristics to which a central has subscribed.
    private var subscribed: Set<BluetoothUUID> = []
    /// Whether the centrals are disconnected once the outbox is empty.
    private var hangsUp = false
    /// The task that passes the outbox to bluetoothd; nil while the outbox is empty.
    private var writer: Task<Void, Never>?

    /// Offers the device of `host` until ``close()``. The host must run on the loop of `bluez`.
    ///
    /// - Parameters:
    ///   - host: The host of the device.
    ///   - bluez: The connection to bluetoothd.
    ///   - adapter: The name or address of an adapter; nil for the first one that is on.
    ///   - onEvent: Called for each event, on the loop's thread.
    /// - Throws: The errors of `BlueZ.offer(_:on:handlers:)`.
    public static func open(
        _ host: DeviceHost<Device>, over bluez: BlueZ, on adapter: String? = nil,
        onEvent: @escaping @Sendable (PeripheralEvent) -> Void = { _ in }
    ) async throws(BLEError) -> PeripheralServer {
        let server = PeripheralServer(host, bluez)
        try await server.offer(on: adapter, onEvent)
        return server
    }

    private init(_ host: DeviceHost<Device>, _ bluez: BlueZ) {
        self.host = host
        self.bluez = bluez
    }

    private func offer(
        on adapter: String?, _ onEvent: @escaping @Sendable (PeripheralEvent) -> Void
    ) async throws(BLEError) {
        let host = host
        let tell: @Sendable (CentralEvent) -> Void = { [weak self] event in
            let length = self?.assumeIsolated { $0.notificationLength }
            let written: [UInt8]? = if case .wrote(let bytes, _, _) = event { bytes } else { nil }
            host.assumeIsolated {
                $0.change(hearing: written) { device, now in
                    device.setNotificationLength(length)
                    device.take(event, at: now)
                }
            }
        }
        let handlers = PeripheralHandlers(
            write: { bytes, characteristic, request throws(ATTError) in
                tell(.wrote(bytes, to: characteristic, mtu: request.mtu))
                if host.assumeIsolated({ $0.change { device, _ in device.hasLostWrite } }) { throw .failed }
            },
            read: { characteristic, _ throws(ATTError) in
                let value: Result<[UInt8]?, ATTError> = host.assumeIsolated { host in
                    host.change { device, now in
                        device.isSilent(at: now) ? .failure(.failed) : .success(device.read(characteristic, at: now))
                    }
                }
                return try value.get()
            },
            event: { [weak self] event in
                self?.assumeIsolated { $0.noteSubscriptions(event) }
                if let event = CentralEvent(event) { tell(event) }
                onEvent(event)
            })
        await host.attach(self)
        await host.onCarrierEvent { [weak self] event in self?.assumeIsolated { $0.take(event) } }
        do throws(BLEError) {
            peripheral = try await bluez.offer(
                await host.change { device, _ in device.offered }, on: adapter, handlers: handlers)
        } catch {
            await host.detach(self)
            throw error
        }
    }

    /// Keeps ``subscribed`` up to date.
    private func noteSubscriptions(_ event: PeripheralEvent) {
        switch event {
        case .subscribed(let characteristic): subscribed.insert(characteristic)
        case .unsubscribed(let characteristic): subscribed.remove(characteristic)
        case .offered, .interrupted, .connected, .disconnected: break
        }
    }

    /// Performs a carrier event of the device on the radio.
    private func take(_ event: CarrierEvent) {
        switch event.action {
        case .hangUp: hangUp()
        case .notifyEarly(let bytes, let output?):
            peripheral?.assumeIsolated { $0.notifyEarly(bytes, on: BluetoothUUID(bits: output)) }
        case .notifyEarly(_, nil), .unplug, .plugIn: break
        }
    }

    /// The most bytes of a notification that reach the centrals whole; nil if unknown.
    private var notificationLength: Int? { peripheral?.assumeIsolated { $0.knownNotificationLength } }

    /// Withdraws the device, and disconnects centrals. The connection to bluetoothd stays open. Closing twice is
    /// allowed.
    public func close() async {
        await host.detach(self)
        writer?.cancel()
        await peripheral?.close()
    }

    /// Disconnects the centrals after earlier output has been sent.
    private func hangUp() {
        guard writer != nil else { return peripheral?.assumeIsolated { $0.disconnectCentrals() } ?? () }
        hangsUp = true
    }

    // MARK: Output

    /// Queues notifications. Returns the number of bytes lost for lack of room.
    private func put(_ emissions: [Emission]) -> Int {
        guard peripheral != nil else { return 0 }
        var lost = 0
        for emission in emissions {
            guard outboxLength + emission.bytes.count <= Self.capacity else {
                lost += emission.bytes.count
                continue
            }
            outbox.append(emission)
            outboxLength += emission.bytes.count
        }
        if writer == nil { writer = Task(executorPreference: bluez.loop) { await self.write() } }
        return lost
    }

    /// Notifies until the outbox is empty, and then disconnects the centrals if the device demands it.
    private func write() async {
        // The device may demand the disconnection while this function waits, after the last notification.
        while !Task.isCancelled, !outbox.isEmpty || hangsUp {
            let emissions = outbox
            outbox = []
            for emission in emissions {
                outboxLength -= emission.bytes.count
                guard let characteristic = emission.characteristic else { continue }
                // The call fails, for example, if bluetoothd has stopped. Then nobody can receive the notification, and
                // an event has reported the stop.
                _ = try? await peripheral?.notify(emission.bytes, on: characteristic)
            }
            if hangsUp, outbox.isEmpty {
                hangsUp = false
                await peripheral?.disconnectCentrals()
            }
            await host.listenerHasRoom()
        }
        writer = nil
    }
}

extension PeripheralServer: EmissionListener {
    package nonisolated func take(_ emissions: [Emission]) -> Int { assumeIsolated { $0.put(emissions) } }
    package nonisolated func hears(_ emission: Emission) -> Bool {
        assumeIsolated { server in emission.characteristic.map(server.subscribed.contains) == true }
    }
    package nonisolated var isFull: Bool { assumeIsolated { $0.outboxLength >= ClientLine.highWater } }
}

extension CentralEvent {
    /// Creates the event for the device; nil if the event concerns only the offer. Writes come from a handler instead.
    fileprivate init?(_ event: PeripheralEvent) {
        switch event {
        case .connected: self = .connected
        case .disconnected: self = .disconnected
        case .subscribed(let characteristic): self = .subscribed(characteristic)
        case .unsubscribed(let characteristic): self = .unsubscribed(characteristic)
        case .offered, .interrupted: return nil
        }
    }
}
