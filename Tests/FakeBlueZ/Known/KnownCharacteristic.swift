internal import DBus

/// A characteristic of a known device: the object `GattCharacteristic1`.
@Radio
final class KnownCharacteristic {
    /// The state of a client's subscription: requested, or confirmed by the device.
    enum Subscription {
        case beginning
        case active
    }

    let radio: RadioCharacteristic
    let path: ObjectPath
    /// The highest ATT handle of the characteristic, its value and its descriptors.
    let lastHandle: Int
    let device: KnownDevice
    /// Whether one of bluetoothd's plugins has reserved the service.
    let isClaimed: Bool
    private(set) lazy var object = BusObject(path, [characteristicInterface], in: tree)
    private let tree: BusTree
    private let service: ObjectPath
    private var descriptors: [KnownDescriptor] = []
    /// The subscriptions by client. They stay when the link ends (bleak#83).
    var subscriptions: [String: Subscription] = [:]
    /// The sockets that clients have acquired; nil for none.
    var writeSocket: AcquiredSocket?
    var notifySocket: AcquiredSocket?
    var isWriting = false
    var isReading = false

    init(
        _ radio: RadioCharacteristic, of device: KnownDevice, service: (path: ObjectPath, uuid: String), handle: Int,
        in tree: BusTree
    ) {
        self.radio = radio
        self.device = device
        self.service = service.path
        self.tree = tree
        isClaimed = device.radio.manners.claimedServices.contains { longUUID($0) == service.uuid }
        path = handlePath(service.path, "char", handle)
        // The descriptor for subscribing: Client Characteristic Configuration.
        let isSubscribable = radio.flags.contains(.notify) || radio.flags.contains(.indicate)
        let all = (isSubscribable ? [RadioDescriptor("2902", value: [0, 0])] : []) + radio.descriptors
        // The value's handle follows the characteristic's own.
        lastHandle = handle + 1 + all.count
        descriptors = all.enumerated().map { index, descriptor in
            KnownDescriptor(descriptor, of: self, handle: handle + 2 + index, in: tree)
        }
    }

    /// The objects of the characteristic and of its descriptors.
    var objects: [BusObject] { [object] + descriptors.map(\.object) }

    func withdraw() {
        linkEnded()
        for descriptor in descriptors { descriptor.object.withdraw() }
        object.withdraw()
    }

    func set(_ name: String, _ value: DBusValue?) { object.set(name, of: BlueZName.characteristic, to: value) }

    // MARK: The link

    /// - Throws: `Failed` if there is no link, ``LinkManners/pairingError`` if the device requires pairing first.
    func requireLink() throws(DBusError) -> RadioLink {
        let link = try anyLink()
        if lacksPairing { throw device.radio.manners.pairingError }
        return link
    }

    /// - Throws: `Failed` if there is no link.
    func anyLink() throws(DBusError) -> RadioLink {
        guard let link = device.link else { throw BlueZError.failed("Not connected") }
        return link
    }

    /// Whether required pairing is missing.
    var lacksPairing: Bool { (device.radio.manners.needsPairing || radio.needsPairing) && !device.isPaired }

    func linkBegan(_ link: RadioLink) async {
        // Subscriptions from an earlier link are restored without a client's call.
        guard !subscriptions.isEmpty, (try? await link.subscribe(to: radio)) != nil else { return }
        for client in subscriptions.keys { subscriptions[client] = .active }
    }

    /// Shows the link's MTU. Its changes are not signalled.
    func showMTU(of link: RadioLink) {
        guard device.bluez.showsMTU else {
            return object.silently(set: "MTU", of: BlueZName.characteristic, to: nil)
        }
        let manners = device.radio.manners
        let mtu = DBusValue.uint16(UInt16(link.mtu))
        guard let stale = manners.staleMTU else {
            return object.silently(set: "MTU", of: BlueZName.characteristic, to: mtu)
        }
        object.silently(set: "MTU", of: BlueZName.characteristic, to: .uint16(stale))
        _ = device.bluez.timeline.after(manners.mtuDelay) { [weak self] in
            self?.object.silently(set: "MTU", of: BlueZName.characteristic, to: mtu)
        }
    }

    func linkEnded() {
        writeSocket?.close()
        notifySocket?.close()
    }

    /// Handles a notification. Each client's subscription causes a signal, and every client receives every signal: with
    /// two subscribed clients both get each value twice (seen with 5.66).
    func arrive(_ bytes: [UInt8]) {
        if let notifySocket { return notifySocket.send(bytes) }
        if subscriptions.isEmpty { return }
        // Values that arrive before the first subscription is confirmed are signalled once.
        for _ in 0..<max(1, subscriptions.values.count { $0 == .active }) {
            object.repeatedly(set: "Value", of: BlueZName.characteristic, to: .bytes(bytes))
        }
    }

    // MARK: The object

    private var characteristicInterface: LiveInterface {
        let bluez = device.bluez
        let options = DBusArgument("options", "a{sv}")
        let value = DBusArgument("value", "ay")
        let socket = [DBusArgument("fd", "h"), DBusArgument("mtu", "q")]
        var values: [String: DBusValue] = [
            "UUID": .string(radio.uuid), "Service": .objectPath(service), "Value": .bytes([]),
            "Flags": .strings(radio.flags.map(\.rawValue)),
        ]
        if canNotify {
            values["Notifying"] = .boolean(false)
            values["NotifyAcquired"] = .boolean(false)
        }
        if radio.flags.contains(.writeWithoutResponse) { values["WriteAcquired"] = .boolean(false) }
        return LiveInterface(
            BlueZName.characteristic,
            methods: [
                bluez.method("ReadValue", [options], [value]) { [self] call in
                    [.bytes(try await read(ATTOptions(call.arguments[0])))]
                },
                bluez.method("WriteValue", [value, options]) { [self] call in
                    try await write(call.arguments[0].bytes ?? [], ATTOptions(call.arguments[1]))
                    return []
                },
                bluez.method("StartNotify") { [self] call in
                    try await startNotifying(call.sender)
                    return []
                },
                bluez.method("StopNotify") { [self] call in
                    try await stopNotifying(call.sender)
                    return []
                },
                bluez.method("AcquireWrite", [options], socket) { [self] call in try acquireWrite(call.sender) },
                bluez.method("AcquireNotify", [options], socket) { [self] call in try await acquireNotify(call.sender)
                },
            ],
            properties: [
                .init("UUID", "s"), .init("Service", "o"), .init("Value", "ay"), .init("Notifying", "b"),
                .init("Flags", "as"), .init("WriteAcquired", "b"), .init("NotifyAcquired", "b"), .init("MTU", "q"),
            ], values)
    }

    var canNotify: Bool { radio.flags.contains(.notify) || radio.flags.contains(.indicate) }
}

/// The options of `ReadValue` and `WriteValue`.
struct ATTOptions {
    var offset = 0
    /// `command`, `request` or `reliable`; nil to choose by the flags.
    var type: String?

    /// - Throws: `InvalidArguments`.
    init(_ value: DBusValue) throws(DBusError) {
        let options = value.properties ?? [:]
        if let value = options["offset"] {
            guard let offset = value.uint16 else { throw BlueZError.invalidArguments }
            self.offset = Int(offset)
        }
        if let value = options["type"] {
            guard let type = value.string, ["command", "request", "reliable"].contains(type) else {
                throw BlueZError.invalidArguments
            }
            self.type = type
        }
    }
}
