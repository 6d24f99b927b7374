internal import DBus
internal import DescriptorIO
internal import Synchronization

/// Keeps the mirror, a copy of bluetoothd's objects, up to date, and reports changes. Reconnects after a restart of the
/// bus.
///
/// This class is separate from the actor so that the event loop can call it directly, without a job, in the order in
/// which the bus delivers messages.
final class MirrorKeeper: @unchecked Sendable {
    // @unchecked: all accesses are on the loop's thread, by the client, whose executor is the loop, and by the handlers
    // that the connection calls there.

    typealias Observer = (MirrorChange) -> Void
    typealias ValueHandler = ([UInt8]) -> Void

    /// The current connection to the bus, which changes after a restart of the bus. Any thread may read it.
    var bus: DBusConnection { connection.withLock { $0 } }
    private let connection: Mutex<DBusConnection>
    private let address: DBusBus
    /// Whether the connection was lost, and no new one is ready.
    private var isBusGone = false
    private var isClosed = false
    private(set) var mirror = ObjectMirror()
    /// Whether bluetoothd runs, and the mirror has all its objects.
    private(set) var isComplete = false
    /// The devices that a scan of this client has found in sight, and that bluetoothd has not removed since. bluetoothd
    /// forgets the signal strength of devices when the scan ends.
    var seen: Set<ObjectPath> = []
    private var observers: [(id: UInt64, call: Observer)] = []
    private var valueHandlers: [ObjectPath: [(id: UInt64, call: ValueHandler)]] = [:]
    private var lastID: UInt64 = 0
    /// The number of times that bluetoothd came or went, or the bus was lost. Replies of an earlier generation are
    /// ignored.
    private(set) var generation = 0
    private var subscriptions: [DBusSubscription] = []

    private let clock: any Clock<Duration>
    /// The pauses before bluetoothd is queried again.
    private var pauses = BackOff.usual
    private let rules: [DBusMatchRule] = [
        .nameOwnerChanged(BlueZName.service),
        DBusMatchRule(sender: BlueZName.service, interface: BlueZName.objectManager),
        .propertiesChanged(sender: BlueZName.service),
    ]

    init(_ bus: DBusConnection, to address: DBusBus, clock: any Clock<Duration>) {
        connection = Mutex(bus)
        self.address = address
        self.clock = clock
    }

    /// Subscribes to changes, then queries all objects, so that no change in between is missed.
    func start() async throws(DBusError) {
        try await listen()
        // The handler runs before the handlers of later messages. A task that awaits the reply could run after them.
        let filled: Result<Void, DBusError> = await withUnsafeContinuation { continuation in
            fill { continuation.resume(returning: $0) }
        }
        try filled.get()
    }

    private func listen() async throws(DBusError) {
        let bus = bus
        subscriptions = []
        await bus.onEnd { [weak self] error in self?.end(error) }
        for rule in rules {
            subscriptions.append(try await bus.handleSignals(matching: rule) { [weak self] in self?.take($0) })
        }
    }

    /// Stops the attempts to reconnect.
    func close() { isClosed = true }

    // MARK: The bus

    /// Handles the end of the connection.
    private func end(_ error: DBusError?) {
        isBusGone = error != nil
        loseService()
        if isBusGone { reconnect() }
    }

    /// Tries to reconnect until there is a bus, or this object is closed or released. The pauses grow from 0.25 to 2
    /// seconds (chosen, not measured).
    private func reconnect() {
        Task(executorPreference: bus.loop) { [weak self, clock] in
            var pause = Duration.milliseconds(250)
            while true {
                try? await clock.sleep(for: pause)
                guard let self, !isClosed else { return }
                if await connectAgain() { return }
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    /// Connects to the bus and fills the mirror again.
    ///
    /// - Returns: Whether to stop trying.
    private func connectAgain() async -> Bool {
        guard let bus = try? await DBusConnection.open(address, on: bus.loop, clock: clock) else { return false }
        guard !isClosed else {
            await bus.close()
            return true
        }
        connection.withLock { $0 = bus }
        do throws(DBusError) { try await listen() } catch {
            // If the bus is gone again, the handler of its end has already started another attempt.
            guard await bus.isOpen else { return true }
            await bus.close()
            return false
        }
        isBusGone = false
        fill { _ in }
        return true
    }

    /// Returns the error for an operation while the mirror is incomplete: this object is closed, or the bus or bluetoothd
    /// is missing.
    func absence(_ activity: String) -> BLEError {
        BLEError(isClosed ? .closed : isBusGone ? .noBus : .notRunning, activity: activity)
    }

    // MARK: Observers

    /// Calls `observer` with each change until ``stopObserving(_:)`` is called with the returned identifier.
    func observe(_ observer: @escaping Observer) -> UInt64 {
        lastID += 1
        observers.append((lastID, observer))
        return lastID
    }

    func stopObserving(_ id: UInt64) { observers.removeAll { $0.id == id } }

    /// Calls `handler` with each value that a characteristic notifies, until ``stopHandling(_:of:)`` is called with the
    /// returned identifier.
    func handleValues(of characteristic: ObjectPath, _ handler: @escaping ValueHandler) -> UInt64 {
        lastID += 1
        valueHandlers[characteristic, default: []].append((lastID, handler))
        return lastID
    }

    /// Removes a handler. Returns whether it was the last one of the characteristic.
    func stopHandling(_ id: UInt64, of characteristic: ObjectPath) -> Bool {
        guard valueHandlers[characteristic]?.contains(where: { $0.id == id }) == true else { return false }
        valueHandlers[characteristic]?.removeAll { $0.id == id }
        guard valueHandlers[characteristic]?.isEmpty == true else { return false }
        valueHandlers[characteristic] = nil
        return true
    }

    /// Whether this client has a handler for the values of a characteristic.
    func isHandling(_ characteristic: ObjectPath) -> Bool { valueHandlers[characteristic] != nil }

    /// Whether a device is connected; false if there is no such device.
    func isConnected(_ device: ObjectPath?) -> Bool {
        device.flatMap { mirror[$0, BlueZName.device] }?["Connected"]?.boolean == true
    }

    private func tell(_ changes: [MirrorChange]) {
        // The loop iterates over a copy: observers may be added and removed.
        for change in changes { for observer in observers { observer.call(change) } }
    }

    // MARK: Listening

    private func take(_ message: DBusMessage) {
        if message.isFrom(BlueZName.properties, "PropertiesChanged") {
            takeProperties(message)
        } else if message.isFrom(BlueZName.objectManager, "InterfacesAdded") {
            tell(mirror.add(message.arguments))
        } else if message.isFrom(BlueZName.objectManager, "InterfacesRemoved") {
            let changes = mirror.remove(message.arguments)
            for case .removed(let path, BlueZName.device, _) in changes { seen.remove(path) }
            tell(changes)
        } else {
            takeOwner(message.arguments)
        }
    }

    /// Passes the value of a notification to its handlers directly from the message: these signals are the only
    /// frequent ones, and the mirror need not store the value.
    private func takeProperties(_ message: DBusMessage) {
        guard let path = message.path, let interface = message.cursor else { return }
        guard interface.isString(BlueZName.gattCharacteristic), let handlers = valueHandlers[path] else {
            return tell(mirror.change(path, message.arguments))
        }
        var changed = interface
        guard changed.next() else { return }
        var value: [UInt8]?
        var hasMore = false
        changed.forEachProperty { name, cursor in
            if name == "Value" { value = cursor.withBytes { Array($0) } } else { hasMore = true }
        }
        if hasMore || value == nil { tell(mirror.change(path, message.arguments)) }
        guard let value else { return }
        for handler in handlers { handler.call(value) }
    }

    private func takeOwner(_ arguments: [DBusValue]) {
        guard arguments.count == 3, let owner = arguments[2].string else { return }
        loseService()
        if !owner.isEmpty { fill { _ in } }
    }

    private func loseService() {
        generation += 1
        pauses = .usual
        mirror = ObjectMirror()
        seen = []
        guard isComplete else { return }
        isComplete = false
        tell([.serviceWent])
    }

    /// Queries all objects, and fills the mirror with the reply. A reply is ignored if bluetoothd or the bus has gone
    /// since; `done` gets it in any case.
    private func fill(_ done: @escaping @Sendable (Result<Void, DBusError>) -> Void) {
        let generation = generation
        let call = DBusCall(to: BlueZName.service, .root, BlueZName.objectManager, "GetManagedObjects")
        self.call(call) { [weak self] result in
            if let self, generation == self.generation { takeAll(result) }
            done(result.map { _ in () })
        }
    }

    private func takeAll(_ result: Result<[DBusValue], DBusError>) {
        guard case .success(let reply) = result else { return askAgain() }
        mirror.replace(with: reply.first)
        isComplete = true
        tell([.serviceCame])
    }

    /// Queries the objects again after a pause, up to four times: a bluetoothd that has just started may own its name
    /// before it has objects.
    private func askAgain() {
        guard let pause = pauses.next() else { return }
        Task(executorPreference: bus.loop) { [weak self, clock, generation] in
            try? await clock.sleep(for: pause)
            guard let self, generation == self.generation else { return }
            fill { _ in }
        }
    }

    /// Calls a method. `handler` gets the reply, in the order in which all messages arrive, or the error, also if the
    /// call can't be sent.
    func call(_ call: DBusCall, then handler: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void) {
        bus.assumeIsolated { bus in
            do throws(DBusError) { try bus.call(call, then: handler) } catch { handler(.failure(error)) }
        }
    }
}
