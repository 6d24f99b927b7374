public import BlueZ
public import LineProtocol

/// A BLE device, as an endpoint names it.
///
///     ble:HMSoft                 by its whole name, where one device in sight has it
///     ble:AA:BB:CC:DD:EE:FF      by its address
///     ble:*                      the strongest that offers the family's service
///
/// with the options `adapter=hci1`, `family=pump`, `profile=nus`, `pair`, which pairs with it where that was not done, and
/// `shared`, which opens it beside a program that is not pumpctl.
public struct BLEEndpoint: Sendable, Hashable {
    /// Which device is meant.
    public enum Target: Sendable, Hashable {
        /// The strongest that offers a service of one of the profiles.
        case any
        case address(BluetoothAddress)
        case name(String)
    }

    /// Which device is meant.
    public let target: Target
    /// The name or address of the adapter; nil for the first that is on.
    public let adapter: String?
    /// The family that the device must be of; nil for any.
    public let family: String?
    /// How the device may speak.
    public let profiles: [GATTProfile]
    /// Whether to pair with it first.
    let pairs: Bool
    /// Whether it does not matter that another program listens too, so that values may come twice.
    let sharesValues: Bool
    /// Whether a way may be guessed where the device is of no known kind.
    let mayGuess: Bool

    /// Reads what an endpoint of the scheme `ble` means.
    ///
    /// - Throws: `invalidEndpoint`.
    public init(_ endpoint: Endpoint) throws(LinkError) {
        try endpoint.allowOptions(["adapter", "family", "pair", "profile", "shared"])
        if endpoint.address == "*" {
            target = .any
        } else if let address = BluetoothAddress(endpoint.address) {
            target = .address(address)
        } else {
            target = .name(endpoint.address)
        }
        adapter = endpoint.options["adapter"]
        pairs = try endpoint.flag("pair") ?? false
        sharesValues = try endpoint.flag("shared") ?? false
        let all = GATTProfile.all
        let family = endpoint.options["family"]
        if let family, !all.contains(where: { $0.family == family }) {
            let families = all.reduce(into: [String]()) { if !$0.contains($1.family) { $0.append($1.family) } }
            throw endpoint.invalid("family is one of: " + families.joined(separator: ", "))
        }
        if let profile = try endpoint.choice("profile", of: all.map { ($0.name, $0) }) {
            self.family = family ?? profile.family
            profiles = [profile]
            mayGuess = false
        } else {
            self.family = family
            profiles = all.filter { family == nil || $0.family == family }
            // What is no stream has no look that it is known by.
            mayGuess = target != .any && profiles.contains { !$0.keepsPacketBounds && $0.values.isEmpty }
        }
    }

    /// The way to a device that is connected; nil where it is none that was asked for.
    func route(in services: [GATTService]) -> GATTRoute? {
        for profile in profiles { if let route = GATTRoute(profile, in: services) { return route } }
        return mayGuess ? GATTRoute(guessedFrom: services) : nil
    }

    /// A profile of another family that the device has for sure; nil where it may be of the one that was asked for.
    func foreignProfile(in services: [GATTService]) -> GATTProfile? {
        guard let family else { return nil }
        let certain = GATTProfile.all.filter { $0.isUnique && $0.fits(services) }
        return certain.contains { $0.family == family } ? nil : certain.first
    }
}
