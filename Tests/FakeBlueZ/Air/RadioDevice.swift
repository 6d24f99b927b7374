/// A device that is in reach: what it advertises, and what those who connect find.
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
    /// How strongly it is heard, in dBm.
    public var signalStrength: Int16 = -60 { didSet { changed() } }
    /// Whether it tells of itself.
    public var isAdvertising = true { didSet { changed() } }
    /// Whether it accepts connections.
    public var isConnectable = true { didSet { changed() } }
    /// The services that centrals find; those that are there are told of a change.
    public var services: [RadioService] = [] {
        didSet {
            for service in services { for item in service.characteristics { item.device = self } }
            for link in links { link.onServiceChange?() }
        }
    }
    /// The connections that it has.
    public private(set) var links: [RadioLink] = []
    /// Called when it gets or loses a connection.
    public var onLinksChange: (() -> Void)?
    /// What is behind it, kept as long as the device is on the air of a fake.
    var companion: AnyObject?
    /// What centrals had subscribed to when they left, by their addresses.
    var rememberedSubscriptions: [String: [ObjectIdentifier: RadioCharacteristic]] = [:]
    /// Whether it is on the air at all.
    var isInReach = false { didSet { changed() } }
    /// Who waits for a change.
    private var watchers: [AsyncStream<Void>.Continuation] = []
    /// Called when those who listen hear something else, or something again.
    var onChange: (() -> Void)?

    public init(_ address: String, _ advertisement: Advertisement = Advertisement(), addressType: String = "public") {
        self.address = address
        self.addressType = addressType
        self.advertisement = advertisement
    }

    /// Whether those who listen hear it.
    var isHeard: Bool { isInReach && isAdvertising && (links.isEmpty || manners.advertisesWhileConnected) }

    /// Whether a central that tries gets a connection.
    var isReachable: Bool { isConnectable && isHeard }

    /// - Throws: `CancellationError`.
    func untilReachable() async throws { try await until { $0.isReachable } }

    /// Waits until no central is connected: who disconnects is answered before the link has gone.
    ///
    /// - Throws: `CancellationError`.
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

    /// Says once more what it advertises.
    public func advertise() { changed() }

    /// Loses all connections, as a device does that is switched off.
    public func dropLinks() {
        for link in links { link.drop() }
    }

    /// The characteristic of that UUID; nil where there is none.
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
