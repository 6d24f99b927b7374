public import BlueZ
public import LineProtocol

/// A BLE device, as an endpoint names it.
///
///     ble:HMSoft                 by its whole name, where one device in sight has it
///     ble:AA:BB:CC:DD:EE:FF      by its address
///     ble:*                      the strongest that offers the family's service
///
/// with the options `adapter=hci1`, `family=pump`, `profile=nus`, `write=UUID` and `hear=UUID`, which name the
/// characteristics of a device of no known kind, `pair`, which pairs with it where that was not done, and `shared`, which
/// opens it beside a program that is not pumpctl. In a name `%3F` is a question mark, and `%25` a percent sign.
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
    /// The families that the device may be of; empty for any.
    private let families: [String]
    /// The profiles of devices that have nothing in common with another family's.
    private let uniqueProfiles: [GATTProfile]
    /// Whether to pair with it first.
    let pairs: Bool
    /// Whether it does not matter that another program listens too, so that values may come twice.
    let sharesValues: Bool
    /// Whether a way may be guessed where the device is of no known kind.
    let mayGuess: Bool
    /// The characteristics that were named to write to and to hear; nil where none were.
    private let namedRoute: NamedRoute?
    /// Whether characteristics were named.
    var isRouteNamed: Bool { namedRoute != nil }

    /// Reads what an endpoint of the scheme `ble` means.
    ///
    /// - Parameter known: The profiles that the options `family` and `profile` choose from.
    /// - Throws: `invalidEndpoint`.
    public init(_ endpoint: Endpoint, among known: GATTProfiles) throws(LinkError) {
        try endpoint.allowOptions(["adapter", "family", "hear", "pair", "profile", "shared", "write"])
        if endpoint.address == "*" {
            target = .any
        } else if let address = BluetoothAddress(endpoint.address) {
            target = .address(address)
        } else {
            target = .name(endpoint.address.removingPercentEncoding)
        }
        namedRoute = try NamedRoute(endpoint)
        adapter = endpoint.options["adapter"]
        pairs = try endpoint.flag("pair") ?? false
        sharesValues = try endpoint.flag("shared") ?? false
        uniqueProfiles = known.all.filter(\.isUnique)
        family = endpoint.options["family"]
        if let family, !known.families.contains(family) {
            throw endpoint.invalid(
                known.families.isEmpty
                    ? "omit family: no family has a profile"
                    : "set family to one of: " + known.families.joined(separator: ", "))
        }
        if let profile = try endpoint.choice("profile", of: known.all.map { ($0.name, $0) }) {
            families = family.map { [$0] } ?? profile.families
            profiles = [profile]
            mayGuess = false
        } else {
            families = family.map { [$0] } ?? []
            profiles = known.profiles(of: family)
            // What is no stream has no look that it is known by.
            mayGuess =
                namedRoute == nil && target != .any && profiles.contains { !$0.keepsPacketBounds && $0.values.isEmpty }
        }
    }

    /// The way to a device that is connected; nil where it is none that was asked for.
    func route(in services: [GATTService]) -> GATTRoute? {
        if let namedRoute {
            return GATTRoute(
                write: namedRoute.write, hear: namedRoute.hear, as: family == nil ? nil : profiles.first, in: services)
        }
        for profile in profiles { if let route = GATTRoute(profile, in: services) { return route } }
        return mayGuess ? GATTRoute(guessedFrom: services) : nil
    }

    /// A profile of another family that the device has for sure; nil where it may be of the one that was asked for.
    func foreignProfile(in services: [GATTService]) -> GATTProfile? {
        guard !families.isEmpty else { return nil }
        let certain = uniqueProfiles.filter { $0.fits(services) }
        return certain.contains { $0.families.contains(where: families.contains) } ? nil : certain.first
    }
}

/// Characteristics that the options of an endpoint name.
private struct NamedRoute: Sendable, Hashable {
    let write: BluetoothUUID
    let hear: BluetoothUUID

    /// nil where there are none. One alone is for both.
    init?(_ endpoint: Endpoint) throws(LinkError) {
        let write = try Self.uuid("write", endpoint)
        let hear = try Self.uuid("hear", endpoint)
        guard let first = write ?? hear else { return nil }
        guard endpoint.options["profile"] == nil else {
            throw endpoint.invalid("name either profile, or write and hear")
        }
        self.write = write ?? first
        self.hear = hear ?? first
    }

    private static func uuid(_ option: String, _ endpoint: Endpoint) throws(LinkError) -> BluetoothUUID? {
        guard let text = endpoint.options[option] else { return nil }
        if let uuid = BluetoothUUID(text) { return uuid }
        throw endpoint.invalid("\(option) is the UUID of a characteristic, as FFE1, or 36 characters long")
    }
}
