public import BlueZ
internal import DBus
public import DescriptorIO
public import LineProtocol

/// A device of this program's own, which centrals find, and to each of which it has a link: the other way round than
/// `ble:` links come about.
///
///     let offer = try await BLEOffer.open(.nordicUART, name: "Echo") { link in … }
///     await offer.close()
///
/// A link is there from when its central has subscribed or written for the first time, until it leaves. What is sent
/// waits until the central has subscribed, and is cut to what its packets hold.
///
/// Before BlueZ 5.69 there is one socket for all centrals: what is sent to the first that has subscribed goes to the others
/// too, who have links of their own only where they are known by something else.
public actor BLEOffer {
    /// What becomes of the offer.
    public enum Event: Sendable {
        /// Centrals can find it, for the first time or again.
        case offered(Adapter)
        /// They can't until the adapter or bluetoothd is back; it is then offered again.
        case interrupted(LinkError)
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { bluez.unownedExecutor }

    private let bluez: BlueZ
    private let profile: GATTProfile
    private let onCentral: @Sendable (any Link) -> Void
    private var peripheral: Peripheral?
    private var links: [BluetoothAddress?: OfferedLink] = [:]
    /// What centrals did before the offer was complete.
    private var early: [@Sendable (isolated BLEOffer) -> Void] = []

    /// Offers what `profile` describes, over a connection to bluetoothd of its own.
    ///
    /// - Parameters:
    ///   - adapter: The name or address of an adapter; nil for the first that is on.
    ///   - onEvent: Called on the loop's thread, as is `onCentral`.
    ///   - onCentral: Called with the link to each central that comes.
    /// - Throws: `invalidEndpoint` where the name is too long; `notFound`, `unavailable`, `notPermitted`, `busy`,
    ///   `unsupported`, `system`.
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
                case .connected, .subscribed, .unsubscribed: break
                }
            })
        peripheral = try await bluez.offer(profile.description(name), on: adapter, handlers: handlers)
        for body in early { body(self) }
        early = []
    }

    /// Withdraws it, and hangs up on all centrals. Closing twice is allowed.
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
        // One that subscribes anew has missed what was sent meanwhile.
        if links[central]?.isSubscribed == true { lose(central) }
        link(to: central)?.subscribe()
    }

    private func lose(_ central: BluetoothAddress?) {
        links.removeValue(forKey: central)?.end()
    }
}

extension GATTProfile {
    /// What a device of this kind offers.
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
