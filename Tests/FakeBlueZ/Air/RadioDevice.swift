/// A device in reach: its advertisement, and the services that connected centrals find.
///
/// ```swift
/// let lamp = RadioDevice("C0:FF:EE:00:00:01", Advertisement(name: "Lamp", services: ["FFF0"]))
/// let level = RadioCharacteristic("FFF1", [.read, .write], value: [0])
/// lamp.services = [RadioService("FFF0", [level])]
/// fake.add(lamp)
/// ```
@Radio
public final class RadioDevice {
    public let address: String
    /// `public` or `random`.
    public let addressType: String
    public var manners = LinkManners()
    public var advertisement: Advertisement { didSet { changed() } }
    /// The received signal strength in dBm.
    public var signalStrength: Int16 = -60 { didSet { changed() } }
    /// Whether the device advertises.
    public var isAdvertising = true { didSet { changed() } }
    /// Whether the device accepts connections.
    public var isConnectable = true { didSet { changed() } }
    /// The services that centrals find. Connected centrals are notified of a change.
    public var services: [RadioService] = [] {
        didSet {
            for service in services { for item in service.characteristics { item.device = self } }
            for link in links { link.onServiceChange?() }
        }
    }
    /// The device's current connections.
    public private(set) var links: [RadioLink] = []
    /// Called when the device gains or loses a connection.
    public var onLinksChange: (() -> Void)?
    /// An object that the device keeps alive, such as the ``HM10`` around it; nil for none. Released when the fake to
    /// which the device was added stops.
    var companion: AnyObject?
    /// The subscriptions of centrals that have disconnected, by the central's address: see
    /// ``LinkManners/remembersSubscriptions``.
    var rememberedSubscriptions: [String: [ObjectIdentifier: RadioCharacteristic]] = [:]
    /// Whether the device is in reach.
    var isInReach = false { didSet { changed() } }
    /// The calls of ``until(_:)`` that wait for a change.
    private var watchers: [AsyncStream<Void>.Continuation] = []
    /// Called when the advertisement, the signal strength, the reach, the connections, or the answer to whether the
    /// device advertises or accepts connections may have changed, and when the advertisement is sent again.
    var onChange: (() -> Void)?

    public init(_ address: String, _ advertisement: Advertisement = Advertisement(), addressType: String = "public") {
        self.address = address
        self.addressType = addressType
        self.advertisement = advertisement
    }

    /// Whether scanners can hear the device.
    var isHeard: Bool { isInReach && isAdvertising && (links.isEmpty || manners.advertisesWhileConnected) }

    /// Whether a connection attempt succeeds.
    var isReachable: Bool { isConnectable && isHeard }

    /// - Throws: `CancellationError` if the task is cancelled.
    func untilReachable() async throws { try await until { $0.isReachable } }

    /// Waits until no central is connected. A test needs this after a `Disconnect`, whose reply comes before the link
    /// ends.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func untilUnlinked() async throws { try await until { $0.links.isEmpty } }

    private func until(_ condition: (RadioDevice) -> Bool) async throws {
        if condition(self) { return }
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        watchers.append(continuation)
        for await _ in changes where condition(self) { return }
        throw CancellationError()
    }

    private func changed() {
        onChange?()
        watchers.removeAll { watcher in
            if case .terminated = watcher.yield() { true } else { false }
        }
    }

    /// Sends the advertisement again, unchanged.
    public func advertise() { changed() }

    /// Drops all connections, like a device that is switched off.
    public func dropLinks() {
        for link in links { link.drop() }
    }

    /// The characteristic with this UUID; nil if there is none.
    public func characteristic(_ uuid: String) -> RadioCharacteristic? {
        let uuid = longUUID(uuid)
        return services.lazy.flatMap(\.characteristics).first { $0.uuid == uuid }
    }

    func add(_ link: RadioLink) {
        links.append(link)
        onLinksChange?()
        changed()
    }

    func remove(_ link: RadioLink) {
        links.removeAll { $0 === link }
        onLinksChange?()
        changed()
    }
}
