public import BlueZ
internal import DBus
public import DescriptorIO
public import LineProtocol

/// A BLE peripheral of this program, with a link to each central that uses it: the opposite direction of `ble:` links.
///
///     let offer = try await BLEOffer.open(.nordicUART, name: "Echo") { link in … }
///     await offer.close()
///
/// A link begins with a central's first subscription or write, and ends when the central leaves. A central that
/// subscribes again gets a new link. Sending waits until the central has subscribed.
///
/// Before BlueZ 5.69 all centrals share one socket: data for the first subscriber also reaches the other subscribers.
/// Another subscriber has a link of its own only if something else than its subscription, such as a write, identifies
/// it.
public actor BLEOffer {
    /// A change of the offer.
    public enum Event: Sendable {
        /// Centrals can find the device, for the first time or again.
        case offered(Adapter)
        /// Centrals can't find the device until the adapter or bluetoothd is back. The device is then offered again.
        case interrupted(LinkError)
    }

    /// The executor of the actor: the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { bluez.unownedExecutor }

    private let bluez: BlueZ
    private let profile: GATTProfile
    private let onCentral: @Sendable (any Link) -> Void
    private var peripheral: Peripheral?
    /// The links by the addresses of their centrals; nil stands for a central whose address bluetoothd has not
    /// reported.
    private var links: [BluetoothAddress?: OfferedLink] = [:]
    /// The acts of centrals that came before ``peripheral`` was set. They are handled as soon as it is set.
    private var early: [@Sendable (isolated BLEOffer) -> Void] = []

    /// Offers the device that a profile describes, over a separate connection to bluetoothd.
    ///
    /// - Parameters:
    ///   - profile: The service and the characteristics.
    ///   - name: The advertised name.
    ///   - adapter: The name or address of an adapter; nil for the first one that is powered.
    ///   - loop: The event loop that the offer and its links run on.
    ///   - onEvent: Called on the loop's thread with each change.
    ///   - onCentral: Called on the loop's thread with the link to each new central.
    /// - Throws: `invalidEndpoint` if the name is too long; also, for example, `notFound` if there is no such adapter,
    ///   or `unavailable` if it is off.
    public static func open(
        _ profile: GATTProfile, name: String, on adapter: String? = nil, loop: EventLoop = .shared,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }, onCentral: @escaping @Sendable (any Link) -> Void
    ) async throws(LinkError) -> BLEOffer {
        try await open(
            profile, name: name, on: adapter, bus: .system, loop: loop, onEvent: onEvent, onCentral: onCentral)
    }

    static func open(
        _ profile: GATTProfile, name: String, on adapter: String? = nil, bus: DBusBus, loop: EventLoop = .shared,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }, onCentral: @escaping @Sendable (any Link) -> Void
    ) async throws(LinkError) -> BLEOffer {
        do throws(BLEError) {
            let bluez = try await BlueZ.open(bus, on: loop)
            let offer = BLEOffer(bluez, profile, onCentral)
            do throws(BLEError) { try await offer.begin(name, adapter, onEvent) } catch {
                await bluez.close()
                throw error
            }
            return offer
        } catch {
            throw LinkError(error, offering: name)
        }
    }

    private init(_ bluez: BlueZ, _ profile: GATTProfile, _ onCentral: @escaping @Sendable (any Link) -> Void) {
        self.bluez = bluez
        self.profile = profile
        self.onCentral = onCentral
    }

    private func begin(
        _ name: String, _ adapter: String?, _ onEvent: @escaping @Sendable (Event) -> Void
    ) async throws(BLEError) {
        let tell: @Sendable (@escaping @Sendable (isolated BLEOffer) -> Void) -> Void = { [weak self] body in
            self?.assumeIsolated { offer in
                if offer.peripheral == nil { offer.early.append(body) } else { body(offer) }
            }
        }
        let handlers = PeripheralHandlers(
            write: { bytes, _, request in tell { $0.link(to: request.central)?.hear(bytes) } },
            subscribe: { _, request in tell { $0.subscribe(request.central) } },
            event: { event in
                switch event {
                case .offered(let adapter): onEvent(.offered(adapter))
                case .interrupted(let error): onEvent(.interrupted(LinkError(error, offering: name)))
                case .disconnected(let central): tell { $0.lose(central) }
                // A connection alone begins no link. `subscribed` and `unsubscribed` name no central: the handler
                // `subscribe` reports each subscription with its central.
                case .connected, .subscribed, .unsubscribed: break
                }
            })
        peripheral = try await bluez.offer(profile.description(name), on: adapter, handlers: handlers)
        for body in early { body(self) }
        early = []
    }

    /// Withdraws the device, and disconnects the centrals that have used it. Closing twice is allowed.
    public func close() async {
        await peripheral?.close()
        for link in links.values { await link.close() }
        links = [:]
        await bluez.close()
    }

    // MARK: Centrals

    private func link(to central: BluetoothAddress?) -> OfferedLink? {
        if let link = links[central] { return link }
        guard let peripheral else { return nil }
        let link = OfferedLink(to: central, of: peripheral, profile, on: bluez.loop)
        links[central] = link
        onCentral(link)
        return link
    }

    private func subscribe(_ central: BluetoothAddress?) {
        // A central that subscribes again has missed the bytes sent since it unsubscribed: end its link, and open
        // another.
        if links[central]?.isSubscribed == true { lose(central) }
        link(to: central)?.subscribe()
    }

    private func lose(_ central: BluetoothAddress?) {
        links.removeValue(forKey: central)?.end()
    }
}

extension GATTProfile {
    /// Returns the description of a peripheral with this profile.
    fileprivate func description(_ name: String) -> PeripheralDescription {
        let written: LocalCharacteristic.Flag = writeType == .request ? .write : .writeWithoutResponse
        let characteristics =
            write == hear
            ? [LocalCharacteristic(write, [written, .notify], delivery: .toEach)]
            : [LocalCharacteristic(write, [written]), LocalCharacteristic(hear, [.notify], delivery: .toEach)]
        return PeripheralDescription(
            name: name, services: services.prefix(1).map { LocalService($0, characteristics) })
    }
}

extension LinkError {
    fileprivate init(_ error: BLEError, offering name: String) {
        self.init(error, name: name, activity: "offer")
        if error.code == .invalidArgument { code = .invalidEndpoint }
    }
}
