internal import DBus

/// An adapter: the object `Adapter1` and its known devices.
@Radio
public final class FakeAdapter {
    public let address: String
    /// The kernel's name, such as `hci0`.
    public internal(set) var name: String
    /// This adapter as a device for other adapters, once an advertisement is registered.
    public let ownRadio: RadioDevice
    let bluez: FakeBlueZ
    /// The adapter's object on the bus; nil while the adapter is unplugged or the fake is down.
    var object: BusObject?
    /// The known devices by address.
    var devices: [String: KnownDevice] = [:]
    /// The filter of each client that runs a discovery.
    var discoveries: [String: DiscoveryFilter] = [:]
    /// The time that the adapter takes to begin or change a discovery. Of the clients that call `StartDiscovery` during
    /// this time, only the last gets a reply.
    public var discoveryDelay = Duration.zero
    /// The pending start or change of a discovery, and the client that gets the reply.
    var beginning: Task<Void, Never>?
    var answered: String?
    /// The calls of `StartDiscovery` that get no reply while the discovery runs, by client.
    var unanswered: [String: CheckedContinuation<Void, Never>] = [:]
    /// The filters that clients have set for their next discovery.
    var filters: [String: DiscoveryFilter] = [:]
    /// The applications and advertisements that clients have registered.
    var applications: [Application] = [] { didSet { showApplications() } }
    var advertisements: [RegisteredAdvertisement] = [] { didSet { showAdvertisements() } }
    /// The maximum number of registered advertisements; published when the adapter is plugged in.
    public var advertisementLimit = 5
    /// Whether advertisements come back when the adapter is switched on again.
    public var restoresAdvertisements = true
    /// Whether `GattManager1` and `LEAdvertisingManager1` appear only with ``bringManagers()``, later than `Adapter1`.
    public var bringsManagersLater = false
    /// Holds up the values that clients notify through their sockets.
    public nonisolated let holding = Holding()
    private var powered = true

    init(_ name: String, address: String, in bluez: FakeBlueZ) {
        self.name = name
        self.address = address
        self.bluez = bluez
        ownRadio = RadioDevice(address)
        ownRadio.isAdvertising = false
        // bluetoothd's default for `ExchangeMTU` in main.conf, and the maximum there.
        ownRadio.manners.mtu = 517
        ownRadio.manners.advertisesWhileConnected = true
    }

    var path: ObjectPath { BlueZName.root.appending(name) ?? BlueZName.root }

    // MARK: Power

    /// Whether the adapter is on. While off, it has no connections, runs no discovery, and answers the requests for
    /// discovery, a connection or pairing with NotReady.
    public var isPowered: Bool {
        get { powered }
        set {
            guard powered != newValue else { return }
            powered = newValue
            object?.set("Powered", of: BlueZName.adapter, to: .boolean(newValue))
            if !newValue { silence() }
            if !newValue && !restoresAdvertisements {
                for index in advertisements.indices { advertisements[index].isOnAir = false }
            }
            showAdvertisements()
        }
    }

    /// Whether rfkill blocks the adapter. Blocking switches the adapter off, and clients then can't switch it on.
    public var isBlocked = false {
        didSet { if isBlocked { isPowered = false } }
    }

    /// Ends all connections and connection attempts, and discovery for all clients.
    private func silence() {
        for device in devices.values { device.lose() }
        ownRadio.dropLinks()
        endDiscovery()
    }

    func requirePower() throws(DBusError) {
        if !isPowered { throw BlueZError.notReady }
    }

    private func switchPower(_ isOn: Bool) throws(DBusError) {
        if isOn && isBlocked { throw BlueZError.blocked }
        isPowered = isOn
    }

    // MARK: On the bus

    func attach() async {
        guard let tree = bluez.tree, object == nil else { return }
        let object = BusObject(path, [adapterInterface] + (bringsManagersLater ? [] : managers), in: tree)
        self.object = object
        await object.publish()
    }

    private var managers: [LiveInterface] { [gattManagerInterface, advertisingManagerInterface] }

    /// Adds the managers that ``bringsManagersLater`` has kept back when the adapter was plugged in.
    public func bringManagers() async { await object?.add(managers) }

    /// Removes the adapter from the bus. It forgets its devices, and all that clients have requested or registered.
    func detach() {
        silence()
        forgetLocal { _ in true }
        filters = [:]
        for device in devices.values { device.detach() }
        devices = [:]
        object?.withdraw()
        object = nil
    }

    /// Forgets all that a client has requested or registered, because the client has left the bus.
    func forget(client: String) {
        filters[client] = nil
        unanswered.removeValue(forKey: client)?.resume()
        if discoveries.removeValue(forKey: client) != nil { discoveryChanged() }
        for device in devices.values { device.forget(client: client) }
        forgetLocal { $0 == client }
    }

    /// The known device with this address; nil if the adapter does not know it.
    public func knownDevice(_ address: String) -> KnownDevice? { devices[address] }

    private var adapterInterface: LiveInterface {
        let methods = [
            bluez.method("StartDiscovery") { [self] call in
                try await startDiscovery(for: call.sender)
                return []
            },
            bluez.method("StopDiscovery") { [self] call in
                try stopDiscovery(for: call.sender)
                return []
            },
            bluez.method("SetDiscoveryFilter", [DBusArgument("properties", "a{sv}")]) { [self] call in
                try setFilter(call.arguments[0].properties ?? [:], for: call.sender)
                return []
            },
            bluez.method("GetDiscoveryFilters", [], [DBusArgument("filters", "as")]) { _ in
                [.strings(["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"])]
            },
            bluez.method("RemoveDevice", [DBusArgument("device", "o")]) { [self] call in
                guard let device = devices.values.first(where: { $0.path == call.arguments[0].objectPath }) else {
                    throw BlueZError.doesNotExist
                }
                remove(device)
                return []
            },
        ]
        let power: @Sendable (DBusValue) async throws -> Void = { value in
            try await self.switchPower(value.boolean ?? false)
        }
        return LiveInterface(
            BlueZName.adapter, methods: methods,
            properties: [
                .init("Address", "s"), .init("AddressType", "s"), .init("Name", "s"), .init("Alias", "s"),
                .init("Class", "u"), .init("Powered", "b", write: power), .init("Discoverable", "b"),
                .init("Pairable", "b"), .init("Discovering", "b"), .init("UUIDs", "as"), .init("Modalias", "s"),
                .init("Roles", "as"),
            ],
            [
                "Address": .string(address), "AddressType": .string("public"), "Name": .string(name),
                "Alias": .string(name), "Class": .uint32(0), "Powered": .boolean(powered),
                "Discoverable": .boolean(false), "Pairable": .boolean(true), "Discovering": .boolean(false),
                "UUIDs": .strings([longUUID("1800"), longUUID("1801")]),
                // Names BlueZ 5.66: 0542 is 0x05 and 0x42.
                "Modalias": .string("usb:v1D6Bp0246d0542"), "Roles": .strings(["central", "peripheral"]),
            ])
    }

    func remove(_ device: KnownDevice) {
        device.lose()
        device.detach()
        devices[device.address] = nil
    }
}
