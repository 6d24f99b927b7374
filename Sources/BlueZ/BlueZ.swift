public import DBus
public import DescriptorIO

/// bluetoothd, seen by one program: adapters, devices, and what goes between them.
///
/// ```swift
/// let bluez = try await BlueZ.open()
/// for try await event in try await bluez.scan(for: ScanFilter(services: ["FFE0"])) {
///     guard case .found(let report) = event else { continue }
///     let pump = try await bluez.device(report.address).connect()
///     let serial = try pump.characteristic("FFE1", of: "FFE0")
///     for try await bytes in try await pump.notifications(of: serial) { print(bytes) }
/// }
/// ```
///
/// All of it runs on one event loop, over a connection to the bus of its own. Whoever wants a device for itself opens
/// one of these for it: bluetoothd keeps subscriptions by connection, also when the device was away meanwhile, so that a
/// second session on an old connection would hear all twice (bleak#83, bleak#2002).
///
/// bluetoothd may go and come back, and the bus too: what was connected has then ended, and adapters and devices are there
/// again.
public actor BlueZ {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// The loop that all of it runs on.
    public nonisolated let loop: EventLoop
    /// The connection that objects of this program are exported on.
    nonisolated var bus: DBusConnection { keeper.bus }
    /// The bus that it is a connection to.
    nonisolated let address: DBusBus
    /// What waits are measured by.
    public nonisolated let clock: any Clock<Duration>
    nonisolated let keeper: MirrorKeeper
    /// The discovery of each adapter that was ever asked to scan.
    var discoveries: [BluetoothAddress: Discovery] = [:]
    /// Which bluetoothd knows of the object that answers its questions about pairing; see ``MirrorKeeper/generation``.
    var agentGeneration: Int?

    private init(_ bus: DBusConnection, to address: DBusBus, clock: any Clock<Duration>) {
        loop = bus.loop
        self.address = address
        self.clock = clock
        keeper = MirrorKeeper(bus, to: address, clock: clock)
    }

    /// Connects to bluetoothd, and learns what there is.
    ///
    /// - Parameters:
    ///   - address: The bus; `DBUS_SYSTEM_BUS_ADDRESS` may name another than the computer's.
    ///   - clock: What waits are measured by; nil for the loop's own.
    /// - Throws: ``BLEError`` with ``BLEError/Code/noBus``, ``BLEError/Code/notRunning`` or
    ///   ``BLEError/Code/notPermitted``.
    public static func open(
        _ address: DBusBus = .system, on loop: EventLoop = .shared, clock: (any Clock<Duration>)? = nil
    ) async throws(BLEError) -> BlueZ {
        do throws(DBusError) {
            let bus = try await DBusConnection.open(address, on: loop, clock: clock)
            let bluez = BlueZ(bus, to: address, clock: clock ?? EventLoopClock(loop))
            do throws(DBusError) { try await bluez.start() } catch {
                await bus.close()
                throw error
            }
            return bluez
        } catch {
            throw BLEError(error, activity: "asking bluetoothd for its devices")
        }
    }

    private func start() async throws(DBusError) { try await keeper.start() }

    /// Ends all that it does, and forgets it. Closing twice is allowed.
    ///
    /// bluetoothd is told that scans have ended which were let go, and then that this client has gone.
    public func close() async {
        keeper.close()
        for discovery in discoveries.values {
            _ = await discovery.change?.value
            await discovery.bus?.close()
        }
        await bus.close()
    }

    // MARK: Adapters

    /// The adapters there are, sorted by their names.
    public var adapters: [Adapter] {
        keeper.mirror.objects(with: BlueZName.adapter).compactMap { Adapter($0.path, $0.1) }
    }

    /// The adapter of that name or address, as `hci1`; without a name the first that is on, or else the first.
    ///
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter`` or ``BLEError/Code/notRunning``.
    public func adapter(_ name: String? = nil) throws(BLEError) -> Adapter {
        let activity = name.map { "looking for the adapter \($0)" } ?? "looking for an adapter"
        guard keeper.isComplete else { throw keeper.absence(activity) }
        let all = adapters
        guard let name else {
            guard let adapter = all.first(where: \.isPowered) ?? all.first else {
                throw BLEError(.noAdapter, activity: activity)
            }
            return adapter
        }
        let address = BluetoothAddress(name)
        guard let adapter = all.first(where: { $0.name == name || $0.address == address }) else {
            let names = all.map(\.name).joined(separator: ", ")
            throw BLEError(
                .noAdapter, activity: activity, hint: all.isEmpty ? nil : "choose one of: \(names)")
        }
        return adapter
    }

    /// Where an adapter is now, whatever its number.
    ///
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter``, ``BLEError/Code/adapterOff`` or
    ///   ``BLEError/Code/notRunning``.
    func poweredAdapter(_ address: BluetoothAddress, activity: String) throws(BLEError) -> Adapter {
        guard keeper.isComplete else { throw keeper.absence(activity) }
        guard let adapter = adapters.first(where: { $0.address == address }) else {
            throw BLEError(.noAdapter, activity: activity, hint: "plug the adapter \(address) in again")
        }
        guard adapter.isPowered else { throw BLEError(.adapterOff, activity: activity) }
        return adapter
    }

    // MARK: Calling

    /// Calls a method of one of bluetoothd's objects.
    ///
    /// - Parameters:
    ///   - activity: What is being done, for an error.
    ///   - timeout: How long to wait for the answer; nil for as long as it takes.
    @discardableResult
    func call(
        _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue] = [],
        timeout: Duration? = DBusConnection.defaultTimeout, activity: String
    ) async throws(BLEError) -> [DBusValue] {
        let call = DBusCall(to: BlueZName.service, path, interface, member, arguments)
        do throws(DBusError) { return try await bus.call(call, timeout: timeout) } catch {
            throw BLEError(error, activity: activity)
        }
    }
}
