internal import DBus

/// A device as an adapter knows it: the object `Device1`, and the objects of its services after the first connection.
@Radio
public final class KnownDevice {
    public let address: String
    let adapter: FakeAdapter
    /// The device's radio.
    var radio: RadioDevice
    private(set) var object: BusObject?
    /// The link in which the adapter is the central; nil if there is none.
    var link: RadioLink?
    /// The link in which the device is the central; nil if there is none.
    private(set) var incoming: RadioLink?
    /// The connection attempt in progress; nil if there is none.
    var attempt: Task<Void, any Error>?
    /// The discovery of the services over ``link``.
    var resolution: Task<Void, Never>?
    var services: [KnownService] = []
    private var isHeard = false
    /// The task that forgets the device later; nil if it is kept.
    private var vanishing: Task<Void, Never>?

    init(_ radio: RadioDevice, on adapter: FakeAdapter) {
        self.radio = radio
        self.adapter = adapter
        address = radio.address
        if let tree = bluez.tree {
            object = BusObject(path, [deviceInterface], in: tree)
        }
        Radio.begin { await self.publish() }
    }

    var bluez: FakeBlueZ { adapter.bluez }

    var path: ObjectPath {
        let name = "dev_" + address.split(separator: ":").joined(separator: "_")
        return adapter.path.appending(name) ?? adapter.path
    }

    func publish() async { await object?.publish() }

    func detach() {
        vanishing?.cancel()
        for service in services { service.withdraw() }
        services = []
        object?.withdraw()
        object = nil
    }

    func set(_ name: String, _ value: DBusValue?) { object?.set(name, of: BlueZName.device, to: value) }

    private func isTrue(_ name: String) -> Bool { object?.value(name, of: BlueZName.device)?.boolean ?? false }

    public var isConnected: Bool { link != nil || incoming != nil }
    /// Whether the device and the adapter are paired. Tests set it to simulate an earlier pairing.
    public var isPaired: Bool {
        get { isTrue("Paired") }
        set {
            set("Paired", .boolean(newValue))
            set("Bonded", .boolean(newValue))
        }
    }

    // MARK: Hearing

    /// Handles the device's advertisement.
    ///
    /// - Parameters:
    ///   - everyChange: Whether small changes of the signal strength are signalled.
    ///   - repeats: Whether unchanged data is signalled again.
    func hear(everyChange: Bool, repeats: Bool) {
        isHeard = true
        vanishing?.cancel()
        vanishing = nil
        let heard = radio.advertisement
        if let name = heard.name {
            set("Name", .string(name))
            set("Alias", .string(name))
        }
        if services.isEmpty { set("UUIDs", .strings(heard.services)) }
        set("TxPower", heard.txPower.map { .int16($0) })
        set("Appearance", heard.appearance.map { .uint16($0) })
        hear("ManufacturerData", heard.manufacturerDictionary, repeats)
        hear("ServiceData", heard.serviceDictionary, repeats)
        hearStrength(radio.signalStrength, everyChange)
    }

    private func hear(_ name: String, _ data: DBusValue?, _ repeats: Bool) {
        if repeats, let data {
            object?.repeatedly(set: name, of: BlueZName.device, to: data)
        } else {
            set(name, data)
        }
    }

    /// Signals changes of less than 8 dB, bluetoothd's threshold, only if a client filters by signal strength.
    private func hearStrength(_ strength: Int16, _ everyChange: Bool) {
        let previous = object?.value("RSSI", of: BlueZName.device)?.int16
        if let previous, !everyChange, abs(Int(previous) - Int(strength)) < 8 { return }
        set("RSSI", .int16(strength))
    }

    /// Handles the end of discovery, or a device that is out of reach or that no filter lets through.
    func stopHearing() {
        isHeard = false
        set("RSSI", nil)
        set("TxPower", nil)
        forgetLater()
    }

    /// Forgets the device after ``FakeAdapter/memory``, unless it is heard, connected, being connected, paired or
    /// trusted then (bleak#1176).
    func forgetLater() {
        guard object != nil, vanishing == nil, !isKept else { return }
        vanishing = bluez.timeline.after(FakeAdapter.memory) { [weak self] in
            guard let self else { return }
            vanishing = nil
            if !isKept { adapter.remove(self) }
        }
    }

    /// Whether the device must not be forgotten.
    private var isKept: Bool { isHeard || isConnected || attempt != nil || isPaired || isTrue("Trusted") }

    /// Handles a connection by the device to the adapter. If the device offers services, bluetoothd reads them over the
    /// same connection.
    func accept(_ link: RadioLink) {
        stopForgetting()
        incoming = link
        link.onDrop { [weak self] in self?.lost(link) }
        set("Connected", .boolean(true))
        guard self.link == nil else { return }
        // bluetoothd reports `ServicesResolved` even for a device that has no services.
        if radio.services.isEmpty { set("ServicesResolved", .boolean(true)) } else { establish(over: link) }
    }

    private func lost(_ link: RadioLink) {
        guard incoming === link else { return }
        incoming = nil
        if self.link == nil { set("ServicesResolved", .boolean(false)) }
        set("Connected", .boolean(isConnected))
        forgetLater()
    }

    /// Ends the connection attempt and both links, if there are any.
    func lose() {
        attempt?.cancel()
        link?.drop()
        incoming?.drop()
    }

    func stopForgetting() {
        vanishing?.cancel()
        vanishing = nil
    }

    func forget(client: String) {
        for characteristic in services.flatMap(\.characteristics) { characteristic.forget(client: client) }
    }

    // MARK: The object

    private var deviceInterface: LiveInterface {
        func method(_ name: String, _ body: @escaping @Radio (DBusMethodCall) async throws -> Void) -> DBusMethod {
            bluez.method(name) { call in
                try await body(call)
                return []
            }
        }
        func flag(_ name: String) -> LiveInterface.Property {
            LiveInterface.Property(name, "b") { value in await self.set(name, value) }
        }
        return LiveInterface(
            BlueZName.device,
            methods: [
                method("Connect") { [self] _ in try await connect() },
                method("Disconnect") { [self] _ in try await disconnect() },
                method("Pair") { [self] call in try await pair(for: call.sender) },
                method("CancelPairing") { _ in throw BlueZError.doesNotExist },
            ],
            properties: [
                .init("Address", "s"), .init("AddressType", "s"), .init("Name", "s"),
                .init("Alias", "s") { value in await self.set("Alias", value) },
                .init("Appearance", "q"), .init("Paired", "b"), .init("Bonded", "b"), flag("Trusted"), flag("Blocked"),
                .init("LegacyPairing", "b"), .init("RSSI", "n"), .init("TxPower", "n"), .init("Connected", "b"),
                .init("UUIDs", "as"), .init("Adapter", "o"), .init("ManufacturerData", "a{qv}"),
                .init("ServiceData", "a{sv}"), .init("ServicesResolved", "b"),
            ],
            [
                "Address": .string(address), "AddressType": .string(radio.addressType),
                "Alias": .string(address.split(separator: ":").joined(separator: "-")), "Paired": .boolean(false),
                "Bonded": .boolean(false), "Trusted": .boolean(false), "Blocked": .boolean(false),
                "LegacyPairing": .boolean(false), "Connected": .boolean(false), "UUIDs": .strings([]),
                "Adapter": .objectPath(adapter.path), "ServicesResolved": .boolean(false),
            ])
    }
}

extension Advertisement {
    /// The data as `a{qv}` of `ay`; nil if there is none.
    fileprivate var manufacturerDictionary: DBusValue? {
        guard !manufacturerData.isEmpty else { return nil }
        let entries = manufacturerData.sorted { $0.key < $1.key }
        return .dictionary(
            DBusDictionary(
                keys: "q", values: "v",
                entries.map { DBusDictionary.Entry(.uint16($0.key), .variant(.bytes($0.value))) }))
    }

    fileprivate var serviceDictionary: DBusValue? {
        guard !serviceData.isEmpty else { return nil }
        return .properties(
            Dictionary(uniqueKeysWithValues: serviceData.map { (longUUID($0.key), DBusValue.bytes($0.value)) }))
    }
}
