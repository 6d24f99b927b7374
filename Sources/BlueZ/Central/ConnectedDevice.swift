internal import DBus
public import DescriptorIO

/// A device that is connected, and whose services are known.
///
/// It ends once: when the device, the adapter or bluetoothd goes, or when this end disconnects. One that is let go is
/// disconnected.
public actor ConnectedDevice {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { bluez.loop.asUnownedSerialExecutor() }
    /// The loop that all of it runs on.
    public nonisolated var loop: EventLoop { bluez.loop }

    public nonisolated let address: BluetoothAddress
    /// Whether it keeps this address; see ``DeviceReport/hasStableAddress``.
    public nonisolated let hasStableAddress: Bool
    /// What it calls itself, or else its address.
    public nonisolated let name: String
    /// What it has.
    public nonisolated let services: [GATTService]

    nonisolated let bluez: BlueZ
    private nonisolated let path: ObjectPath
    private nonisolated let device: Device
    private var observer: UInt64?
    private var end: BLEError?
    private var endHandlers: [@Sendable (BLEError) -> Void] = []
    /// The last write to each characteristic, behind which the next begins: bluetoothd answers a second one at a time with
    /// InProgress, and does not say when it is ready.
    private var lastWrites: [ObjectPath: Task<Void, Never>] = [:]
    /// The results of the writes that have not ended.
    private var writes: [ObjectIdentifier: Outcome<Void>] = [:]
    /// The characteristics that were ever listened to.
    private var heard: Set<ObjectPath> = []
    /// The characteristics with a write that bluetoothd has not answered. It refuses the next as in progress then, though
    /// nobody else writes.
    private var unanswered: Set<ObjectPath> = []

    init(_ device: Device, at path: ObjectPath) {
        let bluez = device.bluez
        self.bluez = bluez
        self.device = device
        self.path = path
        address = device.address
        let keeper = bluez.keeper
        hasStableAddress = keeper.mirror[path, BlueZName.device].flatMap { DeviceReport($0) }?.hasStableAddress ?? false
        name = keeper.mirror[path, BlueZName.device]?["Name"]?.string ?? "\(device.address)"
        services = keeper.mirror.services(of: path)
    }

    /// Begins to watch for the end.
    func watch() {
        observer = bluez.keeper.observe { [weak self, path, weak keeper = bluez.keeper] change in
            if let keeper, let error = Self.end(change, path, keeper) { self?.assumeIsolated { $0.finish(error) } }
            if case .removed(let path, BlueZName.gattCharacteristic, _) = change {
                self?.assumeIsolated { $0.withdrawn(path) }
            }
        }
    }

    deinit {
        guard let observer else { return }
        bluez.loop.execute { [bluez, path] in
            bluez.keeper.stopObserving(observer)
            bluez.assumeIsolated { $0.abandon(path) }
        }
    }

    /// The device has a characteristic no more, as when the program that offered it has ended; the connection is left to
    /// itself then. Whoever listens would hear nothing for ever.
    private func withdrawn(_ characteristic: ObjectPath) {
        guard end == nil, heard.contains(characteristic) else { return }
        finish(
            BLEError(.disconnected, activity: "using the device", hint: "connect again: the device withdrew a service"))
        bluez.assumeIsolated { $0.abandon(path) }
    }

    private static func end(_ change: MirrorChange, _ path: ObjectPath, _ keeper: MirrorKeeper) -> BLEError? {
        switch change {
        case .changed(path, BlueZName.device, _):
            guard keeper.mirror[path, BlueZName.device]?["Connected"]?.boolean != true else { return nil }
            return BLEError(
                .disconnected, activity: "using the device", hint: "move the device closer, or check its power")
        case .removed(path, BlueZName.device, _):
            return BLEError(.disconnected, activity: "using the device", hint: "connect again: the device was removed")
        case .serviceWent: return keeper.absence("using the device")
        default: return nil
        }
    }

    // MARK: What it has

    /// Whether it is paired with this computer.
    public var isPaired: Bool { bluez.keeper.mirror[path, BlueZName.device]?["Paired"]?.boolean == true }

    /// The characteristic of a service.
    ///
    /// - Throws: ``BLEError`` with ``BLEError/Code/notFound``, and what there is instead.
    public nonisolated func characteristic(
        _ uuid: BluetoothUUID, of service: BluetoothUUID
    ) throws(BLEError) -> GATTCharacteristic {
        for candidate in services where candidate.uuid == service {
            if let found = candidate.characteristics.first(where: { $0.uuid == uuid }) { return found }
        }
        let all = services.flatMap(\.characteristics).map { "\($0.uuid)" }.joined(separator: ", ")
        throw BLEError(
            .notFound, activity: "looking for the characteristic \(uuid) of \(name)",
            hint: all.isEmpty
                ? "choose another device: this one has no characteristics"
                : "choose a characteristic that it has: \(all)")
    }

    /// How many bytes a packet has room for, three of them for its head: 23 where bluetoothd does not know, as before
    /// version 5.62. Asked for anew each time, since it grows right after connecting.
    public func mtu(of characteristic: GATTCharacteristic) async -> Int {
        let value = try? await bluez.bus.property(
            "MTU", of: BlueZName.gattCharacteristic, at: characteristic.path, of: BlueZName.service)
        return max(23, value?.uint16.map { Int($0) } ?? 23)
    }

    // MARK: Reading and writing

    /// Reads a value.
    ///
    /// - Throws: ``BLEError``.
    public func read(_ characteristic: GATTCharacteristic) async throws(BLEError) -> [UInt8] {
        let activity = "reading \(characteristic.uuid) of \(name)"
        try check(characteristic, .read, "be read", activity)
        let reply = try await whileConnected(activity) { () throws(BLEError) in
            try await self.bluez.call(
                characteristic.path, BlueZName.gattCharacteristic, "ReadValue", [.properties([:])], activity: activity)
        }
        return reply.first?.bytes ?? []
    }

    /// How a value is written.
    public enum WriteType: String, Sendable, Hashable {
        /// Without a confirmation.
        case command
        /// With one.
        case request
    }

    /// Writes a value, behind the writes to the same characteristic that wait.
    ///
    /// A task that is cancelled does not wait for the write to end; the next write does.
    ///
    /// By a call of bluetoothd: some 70 µs, in which no radio carries a packet. The socket that `AcquireWrite` hands out
    /// takes 15 µs, and drops in silence what does not fit.
    ///
    /// - Parameter bytes: As a command no more than ``mtu(of:)`` - 3, as a request no more than 512.
    /// - Throws: ``BLEError`` with ``BLEError/Code/unsupported`` where the characteristic is not written so;
    ///   ``BLEError/Code/busy`` where another program writes to it all the time.
    public func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ type: WriteType
    ) async throws(BLEError) {
        let activity = "writing to \(characteristic.uuid) of \(name)"
        // bluetoothd does not check a type that is named against the flags.
        try check(
            characteristic, type == .command ? .writeWithoutResponse : .write, "be written as a \(type.rawValue)",
            activity)
        if Task.isCancelled { throw BLEError(.cancelled, activity: activity) }
        let outcome = Outcome<Void>()
        writes[ObjectIdentifier(outcome)] = outcome
        let (path, previous) = (characteristic.path, lastWrites[characteristic.path])
        lastWrites[path] = Task(executorPreference: loop) {
            await previous?.value
            // Whoever has given up meanwhile sends nothing.
            if !outcome.isFinished { outcome.finish(await self.carryOut(bytes, path, type, activity)) }
            await self.forget(outcome)
        }
        try await outcome.wait(activity: activity)
    }

    private func carryOut(
        _ bytes: [UInt8], _ path: ObjectPath, _ type: WriteType, _ activity: String
    ) async -> Result<Void, BLEError> {
        // Another program's write is in the way until it is confirmed. Nothing was sent then.
        var pauses = BackOff(first: .milliseconds(10), count: 8)
        while true {
            do throws(BLEError) {
                try await whileConnected(activity) { () throws(BLEError) in
                    try await self.bluez.call(
                        path, BlueZName.gattCharacteristic, "WriteValue",
                        [.bytes(bytes), .properties(["type": .string(type.rawValue)])], activity: activity)
                }
                unanswered.remove(path)
                return .success(())
            } catch {
                if error.code == .timedOut { unanswered.insert(path) }
                guard error.name == .bluez("InProgress") else { return .failure(error) }
                guard let pause = pauses.next() else { return .failure(inProgress(error, at: path)) }
                try? await bluez.clock.sleep(for: pause)
            }
        }
    }

    /// What bluetoothd's "in progress" means: another's write is in the way, or one of this program's that the device has
    /// left without an answer. bluetoothd gives up such a one after 30 s, later than whoever waits.
    private func inProgress(_ error: BLEError, at path: ObjectPath) -> BLEError {
        guard unanswered.contains(path) else { return error }
        return BLEError(
            .timedOut, message: "the write before was not answered", activity: error.activity, hint: silenceHint)
    }

    /// A device that wants to be paired may leave a request unanswered, and bluetoothd with it.
    private var silenceHint: String? { isPaired ? nil : "if it wants to be paired, run bluetoothctl pair \(address)" }

    /// bluetoothd remembers what a device has, which may have changed since (bluez#191).
    private var staleHint: String {
        "if the device has other services than before, have bluetoothd forget it: bluetoothctl remove \(address)"
            + (isPaired ? "; then pair with it again: bluetoothctl pair \(address)" : "")
    }

    private func forget(_ write: Outcome<Void>) { writes[ObjectIdentifier(write)] = nil }

    // MARK: Notifications

    /// What a characteristic tells of, from now on.
    ///
    /// - Throws: ``BLEError``; ``BLEError/Code/unsupported`` where it does not tell of anything. The sequence throws when
    ///   the device is gone.
    public func notifications(of characteristic: GATTCharacteristic) async throws(BLEError) -> BLESequence<[UInt8]> {
        let queue = ArrivalQueue<[UInt8], BLEError>()
        onEnd { queue.end($0.code == .closed ? nil : $0) }
        let subscription = try await listen(to: characteristic) { queue.append($0) }
        return BLESequence(queue) { subscription.cancel() }
    }

    /// Calls `handler` with all that a characteristic tells of, on the loop's thread, as long as the subscription is
    /// there. The first may come before this returns.
    ///
    /// By signals of bluetoothd, of which 30,000 come through in a second; the socket that `AcquireNotify` hands out loses
    /// what is told before the subscription is confirmed (bleak#1885).
    ///
    /// - Throws: ``BLEError``.
    public func listen(
        to characteristic: GATTCharacteristic, _ handler: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(BLEError) -> ValueSubscription {
        let activity = "subscribing to \(characteristic.uuid) of \(name)"
        if characteristic.flags.isDisjoint(with: [.notify, .indicate]) {
            throw BLEError(
                .unsupported, activity: activity, hint: "this characteristic has no notifications: read it instead")
        }
        // Before StartNotify, which the first notification may overtake (bleak#374).
        let subscription = ValueSubscription(bluez, characteristic.path, handler)
        heard.insert(characteristic.path)
        do throws(BLEError) {
            try await whileConnected(activity) { () throws(BLEError) in
                try await self.bluez.call(
                    characteristic.path, BlueZName.gattCharacteristic, "StartNotify", activity: activity)
            }
        } catch {
            subscription.cancel()
            var error = error
            // The characteristic tells by its flags: bluetoothd has not found what a subscription is written to.
            if error.name == .bluez("NotSupported") { (error.code, error.hint) = (.failed, staleHint) }
            throw error
        }
        return subscription
    }

    /// Whether somebody else has subscribed to a characteristic, before this client does. bluetoothd then signals each
    /// value once for each subscriber, to all of them (seen with 5.66), so that each hears all values twice.
    public func isHeardElsewhere(_ characteristic: GATTCharacteristic) -> Bool {
        let keeper = bluez.keeper
        guard !keeper.isHandling(characteristic.path) else { return false }
        let properties = keeper.mirror[characteristic.path, BlueZName.gattCharacteristic]
        return ["Notifying", "NotifyAcquired"].contains { properties?[$0]?.boolean == true }
    }

    // MARK: Whether it is there

    /// Waits for an answer of the device, whatever it is. What it told of before has been handed out then.
    ///
    /// It is asked for a Client Characteristic Configuration, which changes nothing. Where it has none, and so tells of
    /// nothing, this returns at once.
    ///
    /// - Throws: ``BLEError``: it is gone, did not answer in 25 s, or could not be asked.
    public func confirmConnection() async throws(BLEError) {
        let activity = "asking whether \(name) is there"
        let all = services.lazy.flatMap(\.characteristics).compactMap(\.configuration)
        guard let configuration = all.first else { return }
        do throws(BLEError) {
            try await whileConnected(activity) { () throws(BLEError) in
                try await self.bluez.call(
                    configuration, BlueZName.gattDescriptor, "ReadValue", [.properties([:])], activity: activity)
            }
        } catch {
            switch error.code {
            // A device that refuses is there. One of which bluetoothd says that it is busy was not asked. One that wants to
            // be paired may have kept back what it would have told.
            case .notPermitted, .unsupported, .invalidArgument, .failed: return
            default: throw error
            }
        }
    }

    // MARK: The end

    /// Calls `handler` once it has ended, with the reason; at once where it has.
    public func onEnd(_ handler: @escaping @Sendable (BLEError) -> Void) {
        if let end { handler(end) } else { endHandlers.append(handler) }
    }

    /// Disconnects; what waits ends with ``BLEError/Code/closed``. Disconnecting twice is allowed.
    ///
    /// It is waited for, 5 s at most, also where the task is cancelled: bluetoothd takes up to 2 s for it, and whoever
    /// connects meanwhile is given a connection that is about to go.
    ///
    /// - Returns: Whether it is disconnected by now.
    @discardableResult
    public func disconnect() async -> Bool {
        guard end == nil else { return !bluez.keeper.isConnected(path) }
        finish(BLEError(.closed, activity: "using the device"))
        let ending = Task(executorPreference: loop) { [bluez, path, name, device] in
            let limit = Duration.seconds(5)
            let watch = Stopwatch(bluez.clock)
            _ = try? await bluez.call(
                path, BlueZName.device, "Disconnect", timeout: limit, activity: "disconnecting from \(name)")
            // It may be answered before the connection has gone.
            return await bluez.waitUntilDisconnected(device, within: max(limit - watch.elapsed, .milliseconds(1)))
        }
        return await ending.value
    }

    /// Asks bluetoothd to disconnect, and does not wait until it has; what waits ends with ``BLEError/Code/closed``.
    ///
    /// bluetoothd goes on with it when this program has ended. See ``Device/waitUntilDisconnected(within:)``.
    public func beginDisconnecting() async {
        guard end == nil else { return }
        finish(BLEError(.closed, activity: "using the device"))
        await bluez.abandon(path)
        try? await bluez.bus.flush()
    }

    /// Ends the use of it, and leaves it connected: somebody else uses the same connection.
    public func leave() { finish(BLEError(.closed, activity: "using the device")) }

    private func finish(_ error: BLEError) {
        guard end == nil else { return }
        end = error
        if let observer { bluez.keeper.stopObserving(observer) }
        observer = nil
        stopListening()
        for write in writes.values { write.finish(.failure(error)) }
        writes = [:]
        let handlers = endHandlers
        endHandlers = []
        for handler in handlers { handler(error) }
    }

    /// bluetoothd keeps subscriptions for as long as their client is on the bus, and shows them to whoever connects next.
    private func stopListening() {
        for path in heard where bluez.keeper.isHandling(path) {
            bluez.assumeIsolated { $0.endNotifications(of: path) }
        }
    }

    // MARK: Checking

    private func check(
        _ characteristic: GATTCharacteristic, _ flag: GATTCharacteristic.Flags, _ what: String, _ activity: String
    ) throws(BLEError) {
        if var end {
            end.activity = activity
            throw end
        }
        guard characteristic.flags.contains(flag) else {
            throw BLEError(
                .unsupported, activity: activity, hint: "choose another characteristic: this one can't \(what)")
        }
    }

    /// Carries out a call; where it fails and the device turns out to be gone, that is the error.
    @discardableResult
    private func whileConnected<Value: Sendable>(
        _ activity: String, _ body: () async throws(BLEError) -> Value
    ) async throws(BLEError) -> Value {
        if var end {
            end.activity = activity
            throw end
        }
        do throws(BLEError) { return try await body() } catch {
            var error = error
            if end == nil, error.code == .failed || error.code == .notFound || error.attError != nil {
                // bluetoothd tells of the end a little later than it refuses; the answer to this comes behind it.
                _ = try? await bluez.bus.property(
                    "Connected", of: BlueZName.device, at: path, of: BlueZName.service)
            }
            guard var end else {
                // A device that is paired has another reason for it.
                if error.attError == .unlikelyError, isPaired { (error.code, error.hint) = (.failed, nil) }
                if error.code == .timedOut { error.hint = silenceHint }
                if [.invalidHandle, .attributeNotFound].contains(error.attError) { error.hint = staleHint }
                throw error
            }
            end.activity = activity
            throw end
        }
    }
}

/// A handler's place among those who hear of a characteristic, until it is cancelled or let go.
public final class ValueSubscription: Sendable {
    private let bluez: BlueZ
    private let path: ObjectPath
    private let id: UInt64

    init(_ bluez: BlueZ, _ path: ObjectPath, _ handler: @escaping @Sendable ([UInt8]) -> Void) {
        self.bluez = bluez
        self.path = path
        id = bluez.keeper.handleValues(of: path, handler)
    }

    deinit { cancel() }

    /// Ends it. Cancelling twice is allowed.
    public func cancel() {
        bluez.loop.execute { [bluez, path, id] in
            guard bluez.keeper.stopHandling(id, of: path) else { return }
            bluez.assumeIsolated { $0.endNotifications(of: path) }
        }
    }
}

extension BlueZ {
    fileprivate func endNotifications(of path: ObjectPath) {
        guard keeper.mirror[path, BlueZName.gattCharacteristic] != nil else { return }
        try? bus.assumeIsolated {
            try $0.callWithoutReply(DBusCall(to: BlueZName.service, path, BlueZName.gattCharacteristic, "StopNotify"))
        }
    }
}
