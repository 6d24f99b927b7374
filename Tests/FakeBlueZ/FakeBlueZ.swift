internal import DBus
public import DescriptorIO
public import TestSupport

/// A fake bluetoothd: `org.bluez` on a bus, with simulated adapters and a simulated radio.
///
/// ```swift
/// let bus = try await PrivateBus()
/// let fake = try await FakeBlueZ.start(on: bus.address, clock: ManualClock())
/// let adapter = await fake.addAdapter("hci0", address: "00:00:5E:00:53:01")
/// let pump = try await HM10(PumpFirmware(), pace: .onDemand)
/// await fake.add(pump.radio)
/// // Clients on bus.address find HMSoft, connect, subscribe to FFE1 and write to it.
/// await fake.stop()
/// ```
///
/// The fake behaves like bluetoothd 5.66 as far as GATT clients can tell. It reproduces bluetoothd's faults when a test
/// asks for them: ``LinkManners`` for a device's connections, ``restart(whileDown:)``, ``renumber(_:to:)``,
/// ``FakeAdapter/isBlocked``. Nothing happens spontaneously: the clock controls all time.
@Radio
public final class FakeBlueZ {
    /// A client's call of a method.
    public struct Call: Sendable, Hashable {
        /// The client's unique name.
        public var client: String
        public var path: String
        public var member: String
    }

    /// The clients' calls, in order.
    public let calls = Watched<[Call]>([])
    /// The adapters, in the order in which they were added.
    public private(set) var adapters: [FakeAdapter] = []
    /// Whether characteristics have the property `MTU`, as since bluetoothd 5.62.
    public var showsMTU = true
    let timeline: Timeline
    let agents = AgentManager()
    /// The devices in reach, including the adapters' own radios.
    private(set) var air: [RadioDevice] = []
    private(set) var connection: DBusConnection?
    private(set) var tree: BusTree?
    /// Forgets clients that leave the bus.
    private var departures: Task<Void, Never>?
    private let address: String

    private init(_ address: String, clock: any Clock<Duration>) {
        self.address = address
        timeline = Timeline(clock)
    }

    /// Starts a fake without adapters on the bus at an address.
    ///
    /// - Parameter clock: Measures all delays of the fake. The default clock runs in real time.
    public static func start(
        on address: String, clock: any Clock<Duration> = EventLoopClock(Radio.loop)
    ) async throws -> FakeBlueZ {
        let fake = FakeBlueZ(address, clock: clock)
        try await fake.begin()
        return fake
    }

    // MARK: The daemon

    private func begin() async throws {
        let connection = try await DBusConnection.open(.address(address), on: Radio.loop)
        self.connection = connection
        let names = try await connection.signals(matching: .nameOwnerChanged())
        departures = Radio.begin { [weak self] in
            do {
                for try await signal in names { self?.note(signal) }
            } catch {}  // the bus has closed, and all clients with it
        }
        // Export the objects before requesting the name: clients that see the name ask for the objects immediately.
        let tree = BusTree(connection)
        self.tree = tree
        try await tree.publish()
        guard try await connection.requestName(BlueZName.service) == .owner else {
            throw DBusError(.refused, activity: "being org.bluez", hint: "another has the name")
        }
        let root = BusObject(BlueZName.root, [agents.interface(in: self)], in: tree)
        await root.publish()
        for adapter in adapters { await adapter.attach() }
    }

    private func end() async {
        departures?.cancel()
        departures = nil
        // The bus reports a released name sooner than a closed connection.
        try? await connection?.releaseName(BlueZName.service)
        // Close first, so that, as in a crash, clients get no further signals.
        await connection?.close()
        for adapter in adapters { adapter.detach() }
        agents.forgetAll()
        connection = nil
        tree = nil
    }

    /// Stops and restarts the fake, like a crash of the daemon: all connections drop, every path becomes stale, and the
    /// clients' requests are forgotten.
    public func restart(whileDown body: @Radio () async throws -> Void = {}) async throws {
        await end()
        try await body()
        try await begin()
    }

    /// Stops the fake for good.
    public func stop() async {
        await end()
        for device in air {
            device.onChange = nil
            device.companion = nil
        }
        air = []
        adapters = []
    }

    /// Forgets a client that has left the bus: its unique name, which starts with a colon, has lost its owner.
    private func note(_ ownerChange: DBusSignal) {
        guard let name = ownerChange.arguments.first?.string, name.hasPrefix(":"),
            ownerChange.arguments.last?.string == ""
        else { return }
        forget(client: name)
    }

    private func forget(client: String) {
        agents.forget(client: client)
        for adapter in adapters { adapter.forget(client: client) }
    }

    // MARK: Adapters

    /// Plugs in an adapter, switched on.
    ///
    /// - Parameter bringsManagersLater: See ``FakeAdapter/bringsManagersLater``.
    @discardableResult
    public func addAdapter(
        _ name: String = "hci0", address: String = "00:00:5E:00:53:01", bringsManagersLater: Bool = false
    ) async -> FakeAdapter {
        let adapter = FakeAdapter(name, address: address, in: self)
        adapter.bringsManagersLater = bringsManagersLater
        adapters.append(adapter)
        add(adapter.ownRadio)
        await adapter.attach()
        return adapter
    }

    /// Unplugs an adapter.
    public func remove(_ adapter: FakeAdapter) {
        adapters.removeAll { $0 === adapter }
        remove(adapter.ownRadio)
        adapter.detach()
    }

    /// Unplugs an adapter and plugs it in again with another name from the kernel.
    public func renumber(_ adapter: FakeAdapter, to name: String) async {
        adapter.detach()
        adapter.name = name
        await adapter.attach()
    }

    func adapter(at address: String) -> FakeAdapter? { adapters.first { $0.address == address } }

    // MARK: The air

    /// Brings a device into reach.
    public func add(_ device: RadioDevice) {
        air.append(device)
        device.onChange = { [weak self, weak device] in
            guard let self, let device else { return }
            for adapter in adapters { adapter.hear(device) }
        }
        device.isInReach = true
        if device.manners.isConnectedAlready {
            for adapter in adapters.prefix(1) { Radio.begin { await adapter.inherit(device) } }
        }
    }

    /// Takes a device out of reach: its connections drop, and it is no longer heard.
    public func remove(_ device: RadioDevice) {
        air.removeAll { $0 === device }
        device.isInReach = false
        device.dropLinks()
        device.onChange = nil
    }

    /// Sends `count` notifications, numbered from 0, as fast as the bus accepts them.
    ///
    /// - Throws: ``DBusError`` if the bus closes.
    public func burst(
        _ count: Int, from characteristic: RadioCharacteristic, _ packet: (_ number: Int) -> [UInt8]
    ) async throws {
        for number in 0..<count {
            characteristic.notify(packet(number))
            // From time to time, so that only few messages wait in this process (64: chosen, not measured).
            if number % 64 == 63 { try await connection?.flush() }
        }
        try await connection?.flush()
    }

    // MARK: Objects

    /// A method whose calls are recorded in ``calls``.
    func method(
        _ name: String, _ inputs: [DBusArgument] = [], _ outputs: [DBusArgument] = [],
        _ body: @escaping @Radio (DBusMethodCall) async throws -> [DBusValue]
    ) -> DBusMethod {
        DBusMethod(name, inputs: inputs, outputs: outputs) { [calls] call in
            calls.update { $0.append(Call(client: call.sender, path: call.path.text, member: call.member)) }
            return try await body(call)
        }
    }
}
