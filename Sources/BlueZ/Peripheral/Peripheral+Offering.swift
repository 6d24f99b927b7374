internal import DBus
internal import DescriptorIO

extension BlueZ {
    /// Offers a peripheral to centrals until the peripheral is closed.
    ///
    /// - Parameters:
    ///   - description: The name, the services and the advertisement.
    ///   - adapter: The name or address of an adapter; nil for the first that is powered.
    ///   - handlers: The handlers of reads, writes, subscriptions and events.
    /// - Throws: ``BLEError``, after everything was withdrawn: with ``BLEError/Code/invalidArgument`` if the
    ///   description can't be offered, otherwise with ``BLEError/Code/notRunning``, ``BLEError/Code/noBus``,
    ///   ``BLEError/Code/noAdapter``, ``BLEError/Code/adapterOff``, ``BLEError/Code/unsupported``,
    ///   ``BLEError/Code/notPermitted``, ``BLEError/Code/busy``, ``BLEError/Code/timedOut``,
    ///   ``BLEError/Code/cancelled`` or ``BLEError/Code/failed``.
    public func offer(
        _ description: PeripheralDescription, on adapter: String? = nil, handlers: PeripheralHandlers = .init()
    ) async throws(BLEError) -> Peripheral {
        try description.check()
        let peripheral = Peripheral(description, on: try self.adapter(adapter).address, self, handlers)
        do throws(BLEError) { try await peripheral.start() } catch {
            await peripheral.close()
            throw error
        }
        return peripheral
    }
}

/// The state of a peripheral's registration with bluetoothd.
struct Registration {
    /// The connection on which the objects are exported.
    var bus: DBusConnection?
    /// The path of the adapter for the registration, set before bluetoothd is asked to register; nil before that, and
    /// after a loss.
    var adapter: ObjectPath?
    var hasApplication = false
    var isAdvertised = false
    var isClosed = false
    /// The number of times that the registration was lost. A reply to a call before the last loss is out of date.
    var losses = 0
    /// The reason for which centrals can't find the peripheral now, as reported by ``PeripheralEvent/interrupted(_:)``;
    /// nil while the peripheral is offered.
    var interruption: BLEError?
    /// Whether to try to restore the registration: set after a change of bluetoothd's objects, and after the pause that
    /// follows a refusal.
    var mustLook = false
    /// The task that restores the registration.
    var caretaker: Task<Void, Never>?
    /// Whether ``Peripheral/start()`` is still registering. Until it has finished, the caretaker must not run.
    var isStarting = false
    var observer: UInt64?

    var isComplete: Bool { hasApplication && isAdvertised && !isClosed }

    mutating func lose() {
        losses += 1
        adapter = nil
        hasApplication = false
        isAdvertised = false
    }
}

extension Peripheral {
    /// The pauses between attempts after a refusal, as many as ``BackOff/usual`` has.
    static let pauses: [Duration] = [.milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2)]
    /// The time limit for bluetoothd to unregister an object.
    private static let closingTime = Duration.seconds(5)

    private var activity: String { description.activity }

    /// Registers the peripheral, and from then on restores the registration after each loss.
    func start() async throws(BLEError) {
        registration.isStarting = true
        registration.observer = bluez.keeper.observe { [weak self] change in
            self?.assumeIsolated { $0.take(change) }
        }
        try await register()
        registration.isStarting = false
        if registration.mustLook { look() }
    }

    /// Withdraws the peripheral and disconnects the centrals that have used it. Closing twice is allowed.
    public func close() async {
        guard !registration.isClosed else { return }
        registration.isClosed = true
        registration.caretaker?.cancel()
        if let observer = registration.observer { bluez.keeper.stopObserving(observer) }
        queue.fail(BLEError(.closed, activity: "notifying"))
        // Use a separate task: even if the caller is cancelled, bluetoothd must be called.
        await Task(executorPreference: bluez.loop) { await self.withdraw() }.value
        sockets.close()
    }

    /// Disconnects the guests, then unregisters and withdraws all objects.
    private func withdraw() async {
        await registration.caretaker?.value
        if let adapter = registration.adapter {
            for central in guests { hangUp(central, on: adapter) }
            // Unregister even if the registration is not known to have succeeded: it may be in progress.
            try? await call(adapter, BlueZName.advertisingManager, "UnregisterAdvertisement", tree.advertisement)
            try? await call(adapter, BlueZName.gattManager, "UnregisterApplication", tree.application)
        }
        for path in tree.paths { try? await bluez.bus.unexport(path) }
        registration.lose()
    }

    /// Disconnects the centrals that have used the peripheral. The peripheral stays offered.
    ///
    /// Centrals that have not used this peripheral stay connected, since they may be using another program. But if no
    /// connected central is known to have used this peripheral, all devices on the adapter are disconnected, even those
    /// to which this computer has connected.
    public func disconnectCentrals() {
        guard let adapter = registration.adapter else { return }
        for central in guests.isEmpty ? Set(centrals.keys) : guests { hangUp(central, on: adapter) }
    }

    private func hangUp(_ central: BluetoothAddress, on adapter: ObjectPath) {
        let devices = bluez.keeper.mirror.objects(with: BlueZName.device, below: adapter)
        for (path, properties) in devices where properties["Address"]?.string == central.description {
            let call = DBusCall(to: BlueZName.service, path, BlueZName.device, "Disconnect")
            try? bluez.bus.assumeIsolated { try $0.callWithoutReply(call) }
        }
    }

    private func call(
        _ adapter: ObjectPath, _ interface: String, _ member: String, _ object: ObjectPath
    ) async throws(BLEError) {
        try await bluez.call(
            adapter, interface, member, [.objectPath(object)], timeout: Self.closingTime, activity: activity)
    }

    // MARK: Registering

    /// Registers the parts that are not registered yet.
    private func register() async throws(BLEError) {
        let adapter = try await bluez.poweredAdapter(adapter, activity: activity)
        try await export()
        if registration.adapter != adapter.path {
            registration.lose()
            registration.adapter = adapter.path
            meetCentrals()
        }
        for interface in [BlueZName.gattManager, BlueZName.advertisingManager] {
            guard bluez.keeper.mirror[adapter.path, interface] != nil else {
                throw BLEError(
                    .unsupported, message: "\(adapter.name) has no \(interface)", activity: activity,
                    hint: "use an adapter of Bluetooth 4.0 or later")
            }
        }
        if !registration.hasApplication {
            try await add(BlueZName.gattManager, "Application", tree.application)
            registration.hasApplication = true
        }
        if !registration.isAdvertised {
            try await add(BlueZName.advertisingManager, "Advertisement", tree.advertisement)
            registration.isAdvertised = true
        }
        registration.interruption = nil
        handlers.event?(.offered(adapter))
    }

    /// Exports the objects on the current connection.
    private func export() async throws(BLEError) {
        let bus = bluez.bus
        guard registration.bus !== bus else { return }
        do throws(DBusError) {
            for object in tree.objects(of: self) { try await bus.export(object) }
        } catch {
            throw BLEError(error, activity: activity)
        }
        registration.bus = bus
    }

    /// Registers one part. `what` is the part's name in the methods of `interface`: `Application` or `Advertisement`.
    private func add(_ interface: String, _ what: String, _ object: ObjectPath) async throws(BLEError) {
        guard let adapter = registration.adapter else { throw BLEError(.noAdapter, activity: activity) }
        let losses = registration.losses
        do throws(BLEError) { try await ask(adapter, interface, "Register\(what)", object) } catch {
            // If the adapter was off, bluetoothd may keep a registration that is no longer on the air: register again.
            guard error.name == .bluez("AlreadyExists") else { throw error }
            try? await call(adapter, interface, "Unregister\(what)", object)
            try await ask(adapter, interface, "Register\(what)", object)
        }
        // The registration was lost during the call.
        guard losses == registration.losses else { throw bluez.keeper.absence(activity) }
    }

    private func ask(
        _ adapter: ObjectPath, _ interface: String, _ member: String, _ object: ObjectPath
    ) async throws(BLEError) {
        let arguments: [DBusValue] = [.objectPath(object), .properties([:])]
        do throws(BLEError) {
            try await bluez.call(adapter, interface, member, arguments, activity: activity)
        } catch {
            guard error.name == .bluez("NotPermitted") else { throw error }
            // bluetoothd replies with `NotPermitted` if the controller has no room for another advertisement.
            throw BLEError(
                .busy, name: error.name, message: error.message, activity: activity,
                hint: "stop a program that advertises through this adapter: the adapter can advertise no more devices")
        }
    }

    /// Starts the task that restores the registration, unless the task runs already.
    private func look() {
        registration.mustLook = true
        guard !registration.isStarting, !registration.isClosed, registration.caretaker == nil else { return }
        registration.caretaker = Task(executorPreference: bluez.loop) { await self.takeCare() }
    }

    /// Registers again as long as there is a reason to try: see ``Registration/mustLook``. Runs as the caretaker task.
    private func takeCare() async {
        var pauses = Self.pauses[...]
        while registration.mustLook, !registration.isClosed {
            registration.mustLook = false
            guard !registration.isComplete else { continue }
            do throws(BLEError) { try await register() } catch {
                interrupt(error)
                // A signal reports the end of these failures; `cancelled` means that the peripheral is being closed.
                // After other failures, try again after a pause, as long as pauses are left.
                let isTold = [.notRunning, .noBus, .noAdapter, .adapterOff, .cancelled].contains(error.code)
                guard !isTold, let pause = pauses.popFirst() else { continue }
                try? await bluez.clock.sleep(for: pause)
                registration.mustLook = true
            }
        }
        registration.caretaker = nil
    }

    /// Reports an interruption, unless the current one has the same code.
    private func interrupt(_ error: BLEError) {
        guard !registration.isClosed, registration.interruption?.code != error.code else { return }
        registration.interruption = error
        handlers.event?(.interrupted(error))
    }

    /// Handles `Release`: bluetoothd has dropped the advertisement.
    func advertisementWasReleased() {
        registration.isAdvertised = false
        look()
    }

    // MARK: Changes of bluetoothd

    /// Handles a change of bluetoothd's objects.
    private func take(_ change: MirrorChange) {
        switch change {
        case .serviceWent: lose(bluez.keeper.absence(activity))
        case .serviceCame: look()
        case .added(_, BlueZName.adapter), .added(_, BlueZName.gattManager), .added(_, BlueZName.advertisingManager):
            look()
        case .added(let path, BlueZName.device): noteDevice(path)
        case .changed(let path, BlueZName.device, let names):
            if names.contains("Connected") { noteDevice(path) }
        case .changed(let path, BlueZName.adapter, let names):
            if names.contains("Powered") { notePower(path) }
        case .removed(let path, BlueZName.adapter, _):
            guard path == registration.adapter else { return }
            lose(BLEError(.noAdapter, activity: activity, hint: "plug the adapter \(adapter) in again"))
        case .removed(let path, BlueZName.device, let properties):
            guard isOurs(path), let central = Self.address(path, properties) else { return }
            setConnected(false, central)
        case .added, .changed, .removed: break
        }
    }

    /// Handles the loss of bluetoothd, the bus or the adapter, which ends the registration and all connections.
    private func lose(_ error: BLEError) {
        registration.lose()
        queue.fail(error)
        sockets.close()
        dismissCentrals()
        interrupt(error)
    }

    /// Handles a change of an adapter's power. While the adapter is off, the advertisement is not on the air, so it is
    /// registered again afterwards. The application stays registered.
    private func notePower(_ path: ObjectPath) {
        guard path == registration.adapter else { return look() }
        guard bluez.keeper.mirror[path, BlueZName.adapter]?["Powered"]?.boolean != true else { return look() }
        registration.isAdvertised = false
        dismissCentrals()
        interrupt(BLEError(.adapterOff, activity: activity))
    }

    private func isOurs(_ device: ObjectPath) -> Bool {
        registration.adapter.map { device.isWithin($0) } ?? false
    }

    /// Records whether a device is connected, if it is a device of the adapter.
    private func noteDevice(_ path: ObjectPath) {
        guard isOurs(path), let properties = bluez.keeper.mirror[path, BlueZName.device],
            let central = Self.address(path, properties)
        else { return }
        setConnected(properties["Connected"]?.boolean == true, central)
    }

    /// Records the devices that are connected to the adapter already.
    private func meetCentrals() {
        for (path, _) in bluez.keeper.mirror.objects(with: BlueZName.device) { noteDevice(path) }
    }

    /// Records that no device is connected and no characteristic has a subscriber.
    private func dismissCentrals() {
        for central in centrals.keys { setConnected(false, central) }
        for characteristic in subscribed { setSubscribed(false, characteristic) }
    }

    /// Returns the address of a device, from its properties or else from its path.
    private static func address(_ path: ObjectPath, _ properties: ObjectMirror.Properties) -> BluetoothAddress? {
        properties["Address"]?.string.flatMap { BluetoothAddress($0) } ?? ATTRequest.address(path)
    }
}
