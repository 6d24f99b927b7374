internal import DBus
internal import DescriptorIO

extension BlueZ {
    /// Offers a device to centrals until it is closed.
    ///
    /// - Parameters:
    ///   - adapter: The name or address of an adapter; nil for the first that is on.
    ///   - handlers: What it does about what centrals do.
    /// - Throws: ``BLEError`` with ``BLEError/Code/invalidArgument`` where the description can't be offered, and nothing
    ///   was done then; with ``BLEError/Code/notRunning``, ``BLEError/Code/noAdapter``, ``BLEError/Code/adapterOff``,
    ///   ``BLEError/Code/unsupported``, ``BLEError/Code/notPermitted``, ``BLEError/Code/busy`` or
    ///   ``BLEError/Code/failed``, and all was withdrawn.
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

/// How far an offered device is known to bluetoothd.
struct Registration {
    /// The connection over which bluetoothd can call the objects.
    var bus: DBusConnection?
    /// The adapter that it is registered with.
    var adapter: ObjectPath?
    var hasApplication = false
    var isAdvertised = false
    var isClosed = false
    /// How often it was lost, by which an answer that came too late is known.
    var losses = 0
    /// Why it can't be found now, as was told.
    var interruption: BLEError?
    /// Whether something has happened since it was last seen to.
    var mustLook = false
    /// Sees to it that it is registered.
    var caretaker: Task<Void, Never>?
    /// Whether somebody else sees to it.
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
    /// How long to wait after a refusal before it is tried again, and how often.
    static let pauses: [Duration] = [.milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2)]
    /// How long bluetoothd may take to forget it.
    private static let closingTime = Duration.seconds(5)

    private var activity: String { description.activity }

    func start() async throws(BLEError) {
        registration.isStarting = true
        registration.observer = bluez.keeper.observe { [weak self] change in
            self?.assumeIsolated { $0.take(change) }
        }
        try await register()
        registration.isStarting = false
        if registration.mustLook { look() }
    }

    /// Withdraws all, and hangs up on those who have used it. Closing twice is allowed.
    public func close() async {
        guard !registration.isClosed else { return }
        registration.isClosed = true
        registration.caretaker?.cancel()
        if let observer = registration.observer { bluez.keeper.stopObserving(observer) }
        queue.fail(BLEError(.closed, activity: "notifying"))
        // A task of its own: whoever closes may be cancelled, and bluetoothd is told nevertheless.
        await Task(executorPreference: bluez.loop) { await self.withdraw() }.value
        sockets.close()
    }

    private func withdraw() async {
        await registration.caretaker?.value
        if let adapter = registration.adapter {
            for central in guests { hangUp(central, on: adapter) }
            // Also where it is not known to be there: a registration may have been under way.
            try? await call(adapter, BlueZName.advertisingManager, "UnregisterAdvertisement", tree.advertisement)
            try? await call(adapter, BlueZName.gattManager, "UnregisterApplication", tree.application)
        }
        for path in tree.paths { try? await bluez.bus.unexport(path) }
        registration.lose()
    }

    /// Hangs up on the centrals that have used what is offered, which stays offered. Others that are connected to the adapter
    /// may be there for another program; where it is known of none that it has used anything, all are hung up on.
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

    /// Registers what is not registered yet.
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

    /// Lets bluetoothd call the objects, over the connection that there is now.
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

    private func add(_ interface: String, _ what: String, _ object: ObjectPath) async throws(BLEError) {
        guard let adapter = registration.adapter else { throw BLEError(.noAdapter, activity: activity) }
        let losses = registration.losses
        do throws(BLEError) { try await ask(adapter, interface, "Register\(what)", object) } catch {
            // What bluetoothd has kept while the adapter was off may be on the air no more: make it anew.
            guard error.name == .bluez("AlreadyExists") else { throw error }
            try? await call(adapter, interface, "Unregister\(what)", object)
            try await ask(adapter, interface, "Register\(what)", object)
        }
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
            // So bluetoothd says that the controller has no room for another advertisement.
            throw BLEError(
                .busy, name: error.name, message: error.message, activity: activity,
                hint: "stop a program that advertises through this adapter, which is full")
        }
    }

    /// Sees to it that it is registered, unless somebody does.
    private func look() {
        registration.mustLook = true
        guard !registration.isStarting, !registration.isClosed, registration.caretaker == nil else { return }
        registration.caretaker = Task(executorPreference: bluez.loop) { await self.takeCare() }
    }

    private func takeCare() async {
        var pauses = Self.pauses[...]
        while registration.mustLook, !registration.isClosed {
            registration.mustLook = false
            guard !registration.isComplete else { continue }
            do throws(BLEError) { try await register() } catch {
                interrupt(error)
                // Those are told of when they are over; the others are not.
                let isTold = [.notRunning, .noBus, .noAdapter, .adapterOff, .cancelled].contains(error.code)
                guard !isTold, let pause = pauses.popFirst() else { continue }
                try? await bluez.clock.sleep(for: pause)
                registration.mustLook = true
            }
        }
        registration.caretaker = nil
    }

    private func interrupt(_ error: BLEError) {
        guard !registration.isClosed, registration.interruption?.code != error.code else { return }
        registration.interruption = error
        handlers.event?(.interrupted(error))
    }

    /// bluetoothd has given up the advertisement by itself.
    func advertisementWasReleased() {
        registration.isAdvertised = false
        look()
    }

    // MARK: What becomes of bluetoothd

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

    private func lose(_ error: BLEError) {
        registration.lose()
        queue.fail(error)
        sockets.close()
        dismissCentrals()
        interrupt(error)
    }

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

    private func noteDevice(_ path: ObjectPath) {
        guard isOurs(path), let properties = bluez.keeper.mirror[path, BlueZName.device],
            let central = Self.address(path, properties)
        else { return }
        setConnected(properties["Connected"]?.boolean == true, central)
    }

    private func meetCentrals() {
        for (path, _) in bluez.keeper.mirror.objects(with: BlueZName.device) { noteDevice(path) }
    }

    private func dismissCentrals() {
        for central in centrals.keys { setConnected(false, central) }
        for characteristic in subscribed { setSubscribed(false, characteristic) }
    }

    private static func address(_ path: ObjectPath, _ properties: ObjectMirror.Properties) -> BluetoothAddress? {
        properties["Address"]?.string.flatMap { BluetoothAddress($0) } ?? ATTRequest.address(path)
    }
}
