public import DBus
public import DescriptorIO

/// A client of bluetoothd: adapters, devices, scans, connections, and peripherals of this program.
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
/// A client runs on one event loop, over its own connection to the bus. Open a separate client each time that you
/// connect to a device: bluetoothd keeps subscriptions per bus connection, even while the device is disconnected, so
/// that a program that connects again over the old bus connection would receive all values twice (bleak#83,
/// bleak#2002).
///
/// The client survives restarts of bluetoothd and of the bus: connections to devices end, but adapters and devices
/// reappear.
public actor BlueZ {
    /// The executor of the actor: the ``loop``.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// The event loop that the client runs on.
    public nonisolated let loop: EventLoop
    /// The current connection to the bus, for calls to bluetoothd and exported objects.
    nonisolated var bus: DBusConnection { keeper.bus }
    /// The address of the bus, for further connections.
    nonisolated let address: DBusBus
    /// The clock for time-outs and pauses.
    public nonisolated let clock: any Clock<Duration>
    /// The copy of bluetoothd's objects, and its observers.
    nonisolated let keeper: MirrorKeeper
    /// The discovery of each adapter on which this client scans or has scanned.
    var discoveries: [BluetoothAddress: Discovery] = [:]
    /// The generation of bluetoothd in which the pairing agent was registered; see ``MirrorKeeper/generation``. nil if
    /// the agent was never registered.
    var agentGeneration: Int?

    private init(_ bus: DBusConnection, to address: DBusBus, clock: any Clock<Duration>) {
        loop = bus.loop
        self.address = address
        self.clock = clock
        keeper = MirrorKeeper(bus, to: address, clock: clock)
    }

    /// Connects to bluetoothd and fetches its objects.
    ///
    /// - Parameters:
    ///   - address: The bus. For the system bus, `DBUS_SYSTEM_BUS_ADDRESS` may set another address.
    ///   - loop: The event loop that the client runs on.
    ///   - clock: The clock for time-outs and pauses; nil for the loop's own.
    /// - Throws: ``BLEError``, for example with ``BLEError/Code/noBus``, ``BLEError/Code/notRunning`` or
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

    /// Ends all operations but ``waitForAdapter(_:)``, and closes the connection to the bus. Closing twice is allowed.
    ///
    /// Waits for the pending starts and stops of scans before it closes the connection.
    public func close() async {
        keeper.close()
        for discovery in discoveries.values {
            _ = await discovery.change?.value
            await discovery.bus?.close()
        }
        await bus.close()
    }

    // MARK: Adapters

    /// The adapters, sorted by their paths; empty while bluetoothd does not run.
    public var adapters: [Adapter] {
        keeper.mirror.objects(with: BlueZName.adapter).compactMap { Adapter($0.path, $0.1) }
    }

    /// Returns an adapter.
    ///
    /// - Parameter name: A name such as `hci1`, or an address; nil for the first powered adapter in the order of
    ///   ``adapters``, or the first one if none is powered.
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter``, ``BLEError/Code/notRunning`` or
    ///   ``BLEError/Code/noBus``.
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

    /// Returns the adapter with an address, even if the adapter's name and path have changed. The adapter must be
    /// powered.
    ///
    /// - Throws: ``BLEError`` with ``BLEError/Code/noAdapter``, ``BLEError/Code/adapterOff``,
    ///   ``BLEError/Code/notRunning`` or ``BLEError/Code/noBus``.
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
    ///   - activity: The operation, for errors.
    ///   - timeout: The longest time to wait for the reply; nil for no limit.
    /// - Throws: ``BLEError``, made from the error of ``DBusConnection/call(_:timeout:)``.
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
