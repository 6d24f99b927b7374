internal import DBus
internal import DescriptorIO
internal import Synchronization

/// A peripheral that this program offers to centrals until it is closed.
///
/// ```swift
/// let description = PeripheralDescription(
///     name: "HMSoft",
///     services: [LocalService("FFE0", [LocalCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])])])
/// let bluez = try await BlueZ.open()
/// let module = try await bluez.offer(
///     description, on: "hci1", handlers: PeripheralHandlers(write: { bytes, _, _ in print(bytes) }))
/// try await module.notify(Array("OK\r\n".utf8), on: "FFE1")
/// await module.close()
/// ```
///
/// While the adapter is off or unplugged, or bluetoothd does not run, centrals can't find the peripheral. The
/// peripheral is offered again when the adapter and bluetoothd are back, even if the adapter then has another number.
///
/// With iPhones there is a trap: bluetoothd reads the phone's battery level, which makes the phone ask to be paired,
/// and until it is paired its writes don't arrive (bluez#38). See ``BatteryTrap``.
public actor Peripheral {
    private static let lastNumber = Atomic<UInt64>(0)

    /// The executor of the actor: the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { bluez.unownedExecutor }
    /// The address of the adapter. The address stays the same when the adapter's number changes.
    public nonisolated let adapter: BluetoothAddress

    nonisolated let bluez: BlueZ
    nonisolated let handlers: PeripheralHandlers
    nonisolated let tree: ApplicationTree
    /// The notifications of characteristics with ``LocalCharacteristic/Delivery/toAll``.
    nonisolated let queue: NotificationQueue
    /// The sockets for characteristics with ``LocalCharacteristic/Delivery/toEach``.
    nonisolated let sockets: AcquiredSockets
    /// The values for reads: at first the values of the description, then the last values written, notified or set.
    var values: [BluetoothUUID: [UInt8]]
    /// The characteristics with a subscriber, as far as bluetoothd reports subscriptions.
    var subscribed: Set<BluetoothUUID> = []
    /// The devices that are connected to the adapter, with the MTU of each connection; nil for an unknown MTU.
    var centrals: [BluetoothAddress: Int?] = [:]
    /// The connected centrals that have used the peripheral.
    var guests: Set<BluetoothAddress> = []
    var registration = Registration()

    init(
        _ description: PeripheralDescription, on adapter: BluetoothAddress, _ bluez: BlueZ,
        _ handlers: PeripheralHandlers
    ) {
        self.adapter = adapter
        self.bluez = bluez
        self.handlers = handlers
        tree = ApplicationTree(
            description, number: Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue)
        values = [:]
        for characteristic in tree.characteristics { values[characteristic.facts.uuid] = characteristic.facts.value }
        queue = NotificationQueue { [keeper = bluez.keeper] notification in
            keeper.bus.assumeIsolated { $0.notify(notification) }
        } ask: { [keeper = bluez.keeper] answer in
            keeper.call(DBusCall(to: BlueZName.service, BlueZName.root, BlueZName.peer, "Ping")) { result in
                answer(result.map { _ in () }.mapError { BLEError($0, activity: "notifying") })
            }
        }
        sockets = AcquiredSockets(on: bluez.loop)
    }

    /// The description of the peripheral.
    public nonisolated var description: PeripheralDescription { tree.description }
    /// Whether centrals can find the peripheral now.
    public var isOffered: Bool { registration.isComplete }
    /// Whether any device is connected to the adapter.
    public var isConnected: Bool { !centrals.isEmpty }
    /// The length limit in bytes of a notification that every central receives whole: bluetoothd truncates longer ones.
    /// A central with an unknown MTU counts as one with the smallest MTU. At most ``LocalCharacteristic/longestValue``.
    public var notificationLength: Int {
        Self.length(in: centrals.values.map { $0 ?? ATTRequest.smallestMTU }.min() ?? ATTRequest.smallestMTU)
    }
    /// The ``notificationLength`` for the centrals with a known MTU alone; nil if there are no such centrals.
    ///
    /// bluetoothd reports the MTU of a central that reads, writes, or has subscribed to a characteristic with
    /// ``LocalCharacteristic/Delivery/toEach``, but not of a device that this computer has connected to.
    public var knownNotificationLength: Int? { centrals.values.compactMap { $0 }.min().map(Self.length) }

    private static func length(in mtu: Int) -> Int { min(mtu - 3, LocalCharacteristic.longestValue) }

    // MARK: Notifying

    /// Notifies the subscribers of a characteristic. Notifications of one characteristic arrive in the order of the
    /// calls, and none is lost while the central is connected. If bluetoothd is slow, this function waits.
    ///
    /// - Parameters:
    ///   - value: The value, at most ``LocalCharacteristic/longestValue`` bytes.
    ///   - characteristic: The characteristic.
    ///   - central: The only receiver, for a characteristic with ``LocalCharacteristic/Delivery/toEach``; nil for all
    ///     subscribers.
    /// - Returns: Whether any central may receive the notification; false if there is no central or subscriber, or if
    ///   the peripheral is not offered now.
    /// - Throws: ``BLEError``, for example with ``BLEError/Code/invalidArgument``, ``BLEError/Code/cancelled``,
    ///   ``BLEError/Code/closed``, ``BLEError/Code/notRunning`` or ``BLEError/Code/noBus``.
    @discardableResult
    public func notify(
        _ value: [UInt8], on characteristic: BluetoothUUID, to central: BluetoothAddress? = nil
    ) async throws(BLEError) -> Bool {
        let activity = "notifying \(characteristic)"
        guard let place = tree.characteristic(characteristic), place.facts.tells,
            value.count <= LocalCharacteristic.longestValue
        else {
            throw BLEError(
                .invalidArgument, message: "the characteristic does not notify, or the value is too long",
                activity: activity)
        }
        guard !registration.isClosed else { throw BLEError(.closed, activity: activity) }
        values[characteristic] = value
        switch place.facts.delivery {
        case .toEach: return try await sockets.send(value, characteristic, to: central, activity: activity)
        case .toAll:
            // A central may be subscribed since an earlier connection, without a report of bluetoothd (bluez#1106).
            guard isOffered, subscribed.contains(characteristic) || !centrals.isEmpty else { return false }
            try await queue.send(NotificationQueue.Notification(path: place.path, value: value))
            return true
        }
    }

    /// Sends a notification immediately, ahead of waiting ones. If the handler of ``PeripheralEvent/subscribed(_:)``
    /// calls this function, the notification is sent before the subscription is confirmed. For simulators of devices
    /// that notify too early.
    package func notifyEarly(_ value: [UInt8], on characteristic: BluetoothUUID) {
        guard isOffered, let place = tree.characteristic(characteristic), place.facts.delivery == .toAll else { return }
        _ = bluez.bus.assumeIsolated {
            $0.notify(NotificationQueue.Notification(path: place.path, value: value))
        }
    }

    /// Waits until bluetoothd has taken all earlier notifications of characteristics with
    /// ``LocalCharacteristic/Delivery/toAll``.
    ///
    /// - Throws: ``BLEError``, as ``notify(_:on:to:)`` does.
    public func flush() async throws(BLEError) { try await queue.flush() }

    /// Waits until bluetoothd has taken all notifications of a characteristic with
    /// ``LocalCharacteristic/Delivery/toEach``.
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - central: The receiver; nil for all subscribers.
    /// - Returns: Whether any receiver is still there. If none is, the last notifications may not have arrived.
    public func flush(_ characteristic: BluetoothUUID, to central: BluetoothAddress? = nil) async -> Bool {
        guard await sockets.flush(characteristic, to: central) else { return false }
        // bluetoothd forwards everything that it has read before it replies to this call.
        _ = try? await bluez.call(BlueZName.root, BlueZName.peer, "Ping", activity: "notifying")
        return await sockets.flush(characteristic, to: central)
    }

    /// Changes the value for reads, without a notification. Does nothing if the peripheral has no such characteristic.
    public func setValue(_ value: [UInt8], of characteristic: BluetoothUUID) {
        if tree.characteristic(characteristic) != nil { values[characteristic] = value }
    }

    // MARK: Calls of bluetoothd

    /// Answers `ReadValue`: returns the value from the requested offset on.
    func read(_ characteristic: LocalCharacteristic, _ options: [String: DBusValue]) throws(DBusError) -> [UInt8] {
        do throws(ATTError) {
            guard characteristic.flags.contains(.read) else { throw .notPermitted }
            let request = ATTRequest(options)
            noteGuest(request)
            let value = try handlers.read?(characteristic.uuid, request) ?? values[characteristic.uuid] ?? []
            guard request.offset <= value.count else { throw .invalidOffset }
            return Array(value[request.offset...])
        } catch {
            throw error.answer
        }
    }

    /// Answers `WriteValue`.
    func write(
        _ bytes: [UInt8], to characteristic: LocalCharacteristic, _ options: [String: DBusValue]
    ) throws(DBusError) {
        do throws(ATTError) {
            guard characteristic.isWritable else { throw .notPermitted }
            let request = ATTRequest(options)
            noteGuest(request)
            try write(bytes, to: characteristic.uuid, request)
        } catch {
            throw error.answer
        }
    }

    /// Passes a write to the handler. If the handler accepts, the bytes replace the value from the offset to the end.
    func write(_ bytes: [UInt8], to characteristic: BluetoothUUID, _ request: ATTRequest) throws(ATTError) {
        let value = values[characteristic] ?? []
        guard request.offset <= value.count else { throw .invalidOffset }
        guard request.offset + bytes.count <= LocalCharacteristic.longestValue else { throw .invalidLength }
        try handlers.write?(bytes, characteristic, request)
        values[characteristic] = value[..<request.offset] + bytes
    }

    /// Records whether a characteristic has a subscriber, and reports a change as an event.
    func setSubscribed(_ isSubscribed: Bool, _ characteristic: BluetoothUUID) {
        if isSubscribed {
            if subscribed.insert(characteristic).inserted { handlers.event?(.subscribed(characteristic)) }
        } else {
            if subscribed.remove(characteristic) != nil { handlers.event?(.unsubscribed(characteristic)) }
        }
    }

    /// Records that a central uses the peripheral, and therefore is connected, and the MTU of its connection.
    func noteGuest(_ request: ATTRequest) {
        guard let central = request.central else { return }
        guests.insert(central)
        setConnected(true, central)
        centrals[central] = request.mtu
    }

    /// Records whether a device is connected to the adapter, and reports a change as an event.
    func setConnected(_ isConnected: Bool, _ central: BluetoothAddress) {
        if isConnected {
            guard centrals[central] == nil else { return }
            centrals[central] = .some(nil)
            handlers.event?(.connected(central))
        } else {
            guard centrals.removeValue(forKey: central) != nil else { return }
            guests.remove(central)
            sockets.stopTelling(central)
            // The subscriptions end with the last central, whether bluetoothd reports their end or not.
            if centrals.isEmpty { for characteristic in subscribed { setSubscribed(false, characteristic) } }
            handlers.event?(.disconnected(central))
        }
    }
}

extension DBusConnection {
    /// Signals a new value of a characteristic.
    fileprivate func notify(_ notification: NotificationQueue.Notification) -> NotificationQueue.Answer {
        do throws(DBusError) {
            try emitPropertiesChanged(
                notification.path, BlueZName.gattCharacteristic, ["Value": .bytes(notification.value)])
            return .success(())
        } catch {
            return .failure(BLEError(error, activity: "notifying"))
        }
    }
}
