internal import DBus

/// What an adapter knows of a device: the object `Device1`, and the services below it once the device was connected.
@Radio
public final class KnownDevice {
    public let address: String
    let adapter: FakeAdapter
    /// The device on the air.
    var radio: RadioDevice
    private(set) var object: BusObject?
    var link: RadioLink?
    /// A link in which the device is the central.
    private(set) var incoming: RadioLink?
    /// An attempt to connect that is under way.
    var attempt: Task<Void, any Error>?
    var resolution: Task<Void, Never>?
    var services: [KnownService] = []
    private var isHeard = false
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
    /// Whether the two have paired. It can be set, as of a device that was paired long ago.
    public var isPaired: Bool {
        get { isTrue("Paired") }
        set {
            set("Paired", .boolean(newValue))
            set("Bonded", .boolean(newValue))
        }
    }

    // MARK: Hearing

    /// Takes in what the device advertises.
    ///
    /// - Parameters:
    ///   - everyChange: Whether small changes of the signal strength are told.
    ///   - repeats: Whether data is told again that has not changed.
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

    /// Changes of less than 8 dB are told only to those who filter by it.
    private func hearStrength(_ strength: Int16, _ everyChange: Bool) {
        let previous = object?.value("RSSI", of: BlueZName.device)?.int16
        if let previous, !everyChange, abs(Int(previous) - Int(strength)) < 8 { return }
        set("RSSI", .int16(strength))
    }

    /// Nobody listens any more, or it is out of reach: unless there is more to it than that it was heard, it will be
    /// forgotten.
    func stopHearing() {
        isHeard = false
        set("RSSI", nil)
        set("TxPower", nil)
        forgetLater()
    }

    /// A device that is neither heard, nor connected, paired or trusted vanishes (bleak#1176).
    func forgetLater() {
        guard object != nil, vanishing == nil, !isKept else { return }
        vanishing = bluez.timeline.after(FakeAdapter.memory) { [weak self] in
            guard let self else { return }
            vanishing = nil
            if !isKept { adapter.remove(self) }
        }
    }

    /// Whether there is more to it than that it was heard once.
    private var isKept: Bool { isHeard || isConnected || attempt != nil || isPaired || isTrue("Trusted") }

    /// The device has connected to the adapter. Where it offers services too, bluetoothd reads them over the same link.
    func accept(_ link: RadioLink) {
        stopForgetting()
        incoming = link
        link.onDrop { [weak self] in self?.lost(link) }
        set("Connected", .boolean(true))
        guard self.link == nil else { return }
        // It has looked for them where there are none, too.
        if radio.services.isEmpty { set("ServicesResolved", .boolean(true)) } else { establish(over: link) }
    }

    private func lost(_ link: RadioLink) {
        guard incoming === link else { return }
        incoming = nil
        if self.link == nil { set("ServicesResolved", .boolean(false)) }
        set("Connected", .boolean(isConnected))
        forgetLater()
    }

    /// Ends the link, or an attempt to get one.
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
    /// `a{qv}` of `ay`; nil where there is none.
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
