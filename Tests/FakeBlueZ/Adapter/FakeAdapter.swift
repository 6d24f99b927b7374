internal import DBus

/// An adapter: the object `Adapter1`, and what it knows of devices.
@Radio
public final class FakeAdapter {
    public let address: String
    /// As `hci0`.
    public internal(set) var name: String
    /// The adapter as other adapters hear it, once an advertisement is registered.
    public let ownRadio: RadioDevice
    let bluez: FakeBlueZ
    var object: BusObject?
    /// The known devices by address.
    var devices: [String: KnownDevice] = [:]
    /// The clients that look for devices, and with which filter.
    var discoveries: [String: DiscoveryFilter] = [:]
    /// How long the adapter takes to begin to look, or to look for something else. Of clients that ask meanwhile the last
    /// is answered, and nobody else.
    public var discoveryDelay = Duration.zero
    /// The beginning that is under way, and the client that is answered when it is through.
    var beginning: Task<Void, Never>?
    var answered: String?
    /// The calls that are never answered, by their clients.
    var unanswered: [String: CheckedContinuation<Void, Never>] = [:]
    /// What clients want to hear of when they begin to look.
    var filters: [String: DiscoveryFilter] = [:]
    /// What clients have registered, to be a device for others.
    var applications: [Application] = [] { didSet { showApplications() } }
    var advertisements: [RegisteredAdvertisement] = [] { didSet { showAdvertisements() } }
    /// How many advertisements may be registered at once; told when the adapter is plugged in.
    public var advertisementLimit = 5
    /// Whether advertisements come back when the adapter is switched on again.
    public var restoresAdvertisements = true
    /// Whether `GattManager1` and `LEAdvertisingManager1` come later than `Adapter1`: with ``bringManagers()``.
    public var bringsManagersLater = false
    /// What holds up the values that clients tell through their sockets.
    public nonisolated let holding = Holding()
    private var powered = true

    init(_ name: String, address: String, in bluez: FakeBlueZ) {
        self.name = name
        self.address = address
        self.bluez = bluez
        ownRadio = RadioDevice(address)
        ownRadio.isAdvertising = false
        ownRadio.manners.mtu = 517
        ownRadio.manners.advertisesWhileConnected = true
    }

    var path: ObjectPath { BlueZName.root.appending(name) ?? BlueZName.root }

    // MARK: Power

    /// Whether it is on. Off, it has no connections, looks for nothing, and answers NotReady.
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

    /// Whether rfkill keeps it off.
    public var isBlocked = false {
        didSet { if isBlocked { isPowered = false } }
    }

    /// Ends all connections and looking for devices.
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

    /// Brings the managers that it was plugged in without.
    public func bringManagers() async { await object?.add(managers) }

    func detach() {
        silence()
        forgetLocal { _ in true }
        filters = [:]
        for device in devices.values { device.detach() }
        devices = [:]
        object?.withdraw()
        object = nil
    }

    func forget(client: String) {
        filters[client] = nil
        unanswered.removeValue(forKey: client)?.resume()
        if discoveries.removeValue(forKey: client) != nil { discoveryChanged() }
        for device in devices.values { device.forget(client: client) }
        forgetLocal { $0 == client }
    }

    /// The device as clients see it; nil where it is not known.
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
                "Modalias": .string("usb:v1D6Bp0246d0542"), "Roles": .strings(["central", "peripheral"]),
            ])
    }

    func remove(_ device: KnownDevice) {
        device.lose()
        device.detach()
        devices[device.address] = nil
    }
}
