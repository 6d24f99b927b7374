internal import DBus
public import DescriptorIO

/// A connected device with known services.
///
/// The connection ends once: when the device disconnects, when the adapter or bluetoothd is gone, when the device
/// withdraws a subscribed characteristic, or when this program calls ``disconnect()``, ``beginDisconnecting()`` or
/// ``leave()``. Releasing the object before the end of the connection disconnects the device.
public actor ConnectedDevice {
    /// The executor of the actor: the ``loop``.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { bluez.loop.asUnownedSerialExecutor() }
    /// The event loop that the connection runs on.
    public nonisolated var loop: EventLoop { bluez.loop }

    /// The address of the device.
    public nonisolated let address: BluetoothAddress
    /// Whether the device keeps its address; see ``DeviceReport/hasStableAddress``.
    public nonisolated let hasStableAddress: Bool
    /// The device's name, or else its address.
    public nonisolated let name: String
    /// The services of the device.
    public nonisolated let services: [GATTService]

    nonisolated let bluez: BlueZ
    private nonisolated let path: ObjectPath
    private nonisolated let device: Device
    private var observer: UInt64?
    /// The reason for the end of the connection; nil while the connection lasts.
    private var end: BLEError?
    private var endHandlers: [@Sendable (BLEError) -> Void] = []
    /// The last write to each characteristic. The next write waits for its end: bluetoothd refuses a concurrent write
    /// with InProgress, and does not report when it is ready for another.
    private var lastWrites: [ObjectPath: Task<Void, Never>] = [:]
    /// The outcomes of the writes that are in progress or wait for their turn.
    private var writes: [ObjectIdentifier: Outcome<Void>] = [:]
    /// The characteristics to which this object has subscribed, or tried to subscribe.
    private var heard: Set<ObjectPath> = []
    /// The characteristics with a write that bluetoothd has not answered in time. bluetoothd refuses the next write to
    /// such a characteristic with InProgress, although no other program writes.
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

    /// The strength of the device's advertisements in dBm; nil while bluetoothd receives none. bluetoothd knows the
    /// strength only while some program scans and the device goes on advertising, and does not measure it on a
    /// connection.
    public var signalStrength: Int? {
        bluez.keeper.mirror[path, BlueZName.device].flatMap { DeviceReport($0) }?.rssi
    }

    /// Begins to watch for the end of the connection.
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

    /// Ends the connection if the device has withdrawn a subscribed characteristic, for example because the program
    /// that offered it has ended. Otherwise the connection would stay up, and subscribers would wait forever.
    private func withdrawn(_ characteristic: ObjectPath) {
        guard end == nil, heard.contains(characteristic) else { return }
        finish(
            BLEError(.disconnected, activity: "using the device", hint: "connect again: the device withdrew a service"))
        bluez.assumeIsolated { $0.abandon(path) }
    }

    /// Returns the reason for the end of the connection if the change ends it; nil for any other change.
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

    // MARK: Services

    /// Whether the device is paired with this computer.
    public var isPaired: Bool { bluez.keeper.mirror[path, BlueZName.device]?["Paired"]?.boolean == true }

    /// Returns a characteristic of a service.
    ///
    /// - Parameters:
    ///   - uuid: The characteristic.
    ///   - service: The service.
    /// - Throws: ``BLEError`` with ``BLEError/Code/notFound``, and a hint that lists the device's characteristics.
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

    /// Returns the MTU of the connection in bytes, which includes 3 bytes of header; 23 if bluetoothd does not report
    /// it, as before version 5.62. Reads the MTU on each call, since it grows right after connecting.
    public func mtu(of characteristic: GATTCharacteristic) async -> Int {
        let value = try? await bluez.bus.property(
            "MTU", of: BlueZName.gattCharacteristic, at: characteristic.path, of: BlueZName.service)
        return max(23, value?.uint16.map { Int($0) } ?? 23)
    }

    // MARK: Reading and writing

    /// Reads the value of a characteristic.
    ///
    /// - Parameter characteristic: The characteristic.
    /// - Returns: The value, at most 512 bytes.
    /// - Throws: ``BLEError``, with ``BLEError/Code/unsupported`` if the characteristic can't be read.
    public func read(_ characteristic: GATTCharacteristic) async throws(BLEError) -> [UInt8] {
        let activity = "reading \(characteristic.uuid) of \(name)"
        try check(characteristic, .read, "be read", activity)
        let reply = try await whileConnected(activity) { () throws(BLEError) in
            try await self.bluez.call(
                characteristic.path, BlueZName.gattCharacteristic, "ReadValue", [.properties([:])], activity: activity)
        }
        return reply.first?.bytes ?? []
    }

    /// The type of a write that this computer makes as a central.
    public enum WriteType: String, Sendable, Hashable {
        /// A write without confirmation.
        case command
        /// A write that the device confirms.
        case request
    }

    /// Writes a value, after pending writes to the same characteristic.
    ///
    /// If the task is cancelled, this function throws at once. A write that has not begun is then not sent; a write
    /// that has begun goes on, and the next write waits for its end.
    ///
    /// The write is a method call, which takes about 70 µs, less than the time of a packet on the radio. The socket of
    /// `AcquireWrite` takes 15 µs, but silently drops data that does not fit.
    ///
    /// - Parameters:
    ///   - bytes: The value: at most ``mtu(of:)`` - 3 bytes for a command, at most 512 bytes for a request.
    ///   - characteristic: The characteristic.
    ///   - type: The type of the write.
    /// - Throws: ``BLEError``, for example with ``BLEError/Code/unsupported`` if the characteristic does not support
    ///   this type of write, or ``BLEError/Code/busy`` if another program keeps writing to the characteristic.
    public func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, _ type: WriteType
    ) async throws(BLEError) {
        let activity = "writing to \(characteristic.uuid) of \(name)"
        // bluetoothd does not check the type against the flags.
        try check(
            characteristic, type == .command ? .writeWithoutResponse : .write, "be written as a \(type.rawValue)",
            activity)
        if Task.isCancelled { throw BLEError(.cancelled, activity: activity) }
        let outcome = Outcome<Void>()
        writes[ObjectIdentifier(outcome)] = outcome
        let (path, previous) = (characteristic.path, lastWrites[characteristic.path])
        lastWrites[path] = Task(executorPreference: loop) {
            await previous?.value
            // A write is not sent if its caller has given up.
            if !outcome.isFinished { outcome.finish(await self.carryOut(bytes, path, type, activity)) }
            await self.forget(outcome)
        }
        try await outcome.wait(activity: activity)
    }

    /// Performs a write. While bluetoothd is busy with another program's write, tries again after a pause.
    private func carryOut(
        _ bytes: [UInt8], _ path: ObjectPath, _ type: WriteType, _ activity: String
    ) async -> Result<Void, BLEError> {
        // bluetoothd answers InProgress while another program's write is unconfirmed. In that case bluetoothd has sent
        // nothing, so try again, with pauses of 10 ms to 1.28 s, 2.55 s in total (chosen, not measured).
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

    /// Interprets bluetoothd's InProgress: another program is writing, or the device has not answered an earlier write
    /// of this program. bluetoothd gives up an unanswered write only after 30 s, when callers no longer wait.
    private func inProgress(_ error: BLEError, at path: ObjectPath) -> BLEError {
        guard unanswered.contains(path) else { return error }
        return BLEError(
            .timedOut, message: "the device did not answer the previous write", activity: error.activity,
            hint: silenceHint)
    }

    /// The hint after a time-out; nil for a paired device. A device that requires pairing may leave a request
    /// unanswered, and bluetoothd then leaves the call unanswered.
    private var silenceHint: String? {
        isPaired ? nil : "if the device requires pairing, run bluetoothctl pair \(address)"
    }

    /// The hint if bluetoothd may remember services of the device that have changed since (bluez#191).
    private var staleHint: String {
        "if the services of the device have changed, let bluetoothd forget it: bluetoothctl remove \(address)"
            + (isPaired ? "; then pair with it again: bluetoothctl pair \(address)" : "")
    }

    private func forget(_ write: Outcome<Void>) { writes[ObjectIdentifier(write)] = nil }

    // MARK: Notifications

    /// Subscribes to a characteristic.
    ///
    /// - Parameter characteristic: A characteristic that notifies or indicates.
    /// - Returns: The values that the device notifies or indicates. The sequence throws when the device is gone, and
    ///   ends if this program closes the connection.
    /// - Throws: ``BLEError``, with ``BLEError/Code/unsupported`` if the characteristic neither notifies nor indicates.
    public func notifications(of characteristic: GATTCharacteristic) async throws(BLEError) -> BLESequence<[UInt8]> {
        let queue = ArrivalQueue<[UInt8], BLEError>()
        onEnd { queue.end($0.code == .closed ? nil : $0) }
        let subscription = try await listen(to: characteristic) { queue.append($0) }
        return BLESequence(queue) { subscription.cancel() }
    }

    /// Subscribes to a characteristic until the returned subscription is cancelled or released.
    ///
    /// Values arrive as signals of bluetoothd, which can deliver 30,000 per second. The socket of `AcquireNotify` would
    /// lose values that arrive before the subscription is confirmed (bleak#1885).
    ///
    /// - Parameters:
    ///   - characteristic: A characteristic that notifies or indicates.
    ///   - handler: Called on the loop's thread with each notified value, possibly before this function returns. The
    ///     end of the connection is reported only by ``onEnd(_:)``.
    /// - Returns: The subscription, which the caller must keep.
    /// - Throws: ``BLEError``, with ``BLEError/Code/unsupported`` if the characteristic neither notifies nor indicates.
    public func listen(
        to characteristic: GATTCharacteristic, _ handler: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(BLEError) -> ValueSubscription {
        let activity = "subscribing to \(characteristic.uuid) of \(name)"
        if characteristic.flags.isDisjoint(with: [.notify, .indicate]) {
            throw BLEError(
                .unsupported, activity: activity, hint: "read this characteristic instead: it has no notifications")
        }
        // Register the handler before StartNotify: the first notification may overtake the reply (bleak#374).
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
            // The flags promise notifications, but bluetoothd has found no descriptor to write the subscription to.
            if error.name == .bluez("NotSupported") { (error.code, error.hint) = (.failed, staleHint) }
            throw error
        }
        return subscription
    }

    /// Whether another client of bluetoothd has subscribed to a characteristic. Call this before subscribing: for a
    /// characteristic that this client has subscribed to, the result is false.
    ///
    /// If several programs subscribe, bluetoothd signals each value to every subscriber once per subscriber (seen with
    /// 5.66): two subscribers receive all values twice.
    public func isHeardElsewhere(_ characteristic: GATTCharacteristic) -> Bool {
        let keeper = bluez.keeper
        guard !keeper.isHandling(characteristic.path) else { return false }
        let properties = keeper.mirror[characteristic.path, BlueZName.gattCharacteristic]
        return ["Notifying", "NotifyAcquired"].contains { properties?[$0]?.boolean == true }
    }

    // MARK: Presence

    /// Waits for any answer of the device. When this function returns, all values that the device notified before its
    /// answer have been delivered.
    ///
    /// Reads a Client Characteristic Configuration, which changes nothing. A device without such a descriptor notifies
    /// nothing; for such a device this function returns at once.
    ///
    /// - Throws: ``BLEError`` if the device is gone, did not answer within 25 s (the default time-out of a call),
    ///   requires pairing, or could not be asked.
    public func confirmConnection() async throws(BLEError) {
        let activity = "checking the connection to \(name)"
        let all = services.lazy.flatMap(\.characteristics).compactMap(\.configuration)
        guard let configuration = all.first else { return }
        do throws(BLEError) {
            try await whileConnected(activity) { () throws(BLEError) in
                try await self.bluez.call(
                    configuration, BlueZName.gattDescriptor, "ReadValue", [.properties([:])], activity: activity)
            }
        } catch {
            switch error.code {
            // A refusal proves that the device is there. `busy` means that bluetoothd did not ask the device.
            // `notPaired` is thrown, since the device may have withheld notifications.
            case .notPermitted, .unsupported, .invalidArgument, .failed: return
            default: throw error
            }
        }
    }

    // MARK: The end

    /// Calls `handler` once, on the loop's thread, with the reason when the connection ends; at once if it has ended.
    public func onEnd(_ handler: @escaping @Sendable (BLEError) -> Void) {
        if let end { handler(end) } else { endHandlers.append(handler) }
    }

    /// Disconnects, and ends pending operations with ``BLEError/Code/closed``. Disconnecting twice is allowed.
    ///
    /// Waits for the disconnection, 5 s at most, even if the task is cancelled: bluetoothd takes up to 2 s, and a
    /// program that connects earlier gets the connection that is about to end.
    ///
    /// - Returns: Whether the device is disconnected when this function returns.
    @discardableResult
    public func disconnect() async -> Bool {
        guard end == nil else { return !bluez.keeper.isConnected(path) }
        finish(BLEError(.closed, activity: "using the device"))
        let ending = Task(executorPreference: loop) { [bluez, path, name, device] in
            let limit = Duration.seconds(5)
            let watch = Stopwatch(bluez.clock)
            _ = try? await bluez.call(
                path, BlueZName.device, "Disconnect", timeout: limit, activity: "disconnecting from \(name)")
            // bluetoothd may reply before the connection has ended.
            return await bluez.waitUntilDisconnected(device, within: max(limit - watch.elapsed, .milliseconds(1)))
        }
        return await ending.value
    }

    /// Requests the disconnection without waiting for it, and ends pending operations with ``BLEError/Code/closed``.
    ///
    /// bluetoothd completes the disconnection even if this program ends. See ``Device/waitUntilDisconnected(within:)``.
    public func beginDisconnecting() async {
        guard end == nil else { return }
        finish(BLEError(.closed, activity: "using the device"))
        await bluez.abandon(path)
        try? await bluez.bus.flush()
    }

    /// Ends this object's use of the device, but leaves the device connected for another program that uses the same
    /// connection. Pending writes end with ``BLEError/Code/closed``; a pending read still returns its value.
    public func leave() { finish(BLEError(.closed, activity: "using the device")) }

    /// Ends the connection for this object: ends pending writes and subscriptions, and calls the handlers of
    /// ``onEnd(_:)``. Only the first call counts. Does not disconnect.
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

    /// Ends the subscriptions of this client. Otherwise bluetoothd keeps them as long as the client is on the bus, and
    /// the next program that connects finds the characteristics subscribed.
    private func stopListening() {
        for path in heard where bluez.keeper.isHandling(path) {
            bluez.assumeIsolated { $0.endNotifications(of: path) }
        }
    }

    // MARK: Checking

    /// Throws if the connection has ended, or if a characteristic lacks a flag. `what` completes "this one can't …".
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

    /// Performs a call. Throws the reason for the end of the connection if the connection has ended before, or if the
    /// call fails because the connection has ended.
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
                // bluetoothd signals the end of the connection a little after the refusal. The reply to this query
                // comes after the signal.
                _ = try? await bluez.bus.property(
                    "Connected", of: BlueZName.device, at: path, of: BlueZName.service)
            }
            guard var end else {
                // For a paired device, this error does not mean that pairing is required.
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

/// A subscription of a handler to the values of a characteristic. Cancelling or releasing it ends the subscription.
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

    /// Ends the subscription. Cancelling twice is allowed.
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
