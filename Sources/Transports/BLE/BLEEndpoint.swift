public import BlueZ
public import LineProtocol

/// An endpoint for a BLE device.
///
///     ble:HMSoft                 by its full name, if exactly one device in sight has this name
///     ble:AA:BB:CC:DD:EE:FF      by its address
///     ble:*                      the strongest device that advertises the family's service
///
/// The options are:
/// - `adapter=hci1`: the adapter.
/// - `family=pump`: the family that the device must be of.
/// - `profile=nus`: the profile that the device must fit.
/// - `write=UUID`, `hear=UUID`: the characteristics of a device of no known kind.
/// - `pair`: pair with the device unless it is paired.
/// - `shared`: open the device although a program other than pumpctl listens to it.
///
/// If no device has exactly the name, letter case does not count. In a name, `%3F` is a question mark, and `%25` a
/// percent sign.
public struct BLEEndpoint: Sendable, Hashable {
    /// The device that an endpoint means.
    public enum Target: Sendable, Hashable {
        /// The strongest device that advertises a service of one of the profiles.
        case any
        /// The device with this address.
        case address(BluetoothAddress)
        /// The device with this name.
        case name(String)
    }

    /// The device that the endpoint means.
    public let target: Target
    /// The name or address of the adapter; nil for the first one that is powered.
    public let adapter: String?
    /// The required family of the device; nil for any.
    public let family: String?
    /// The profiles that the device may fit.
    public let profiles: [GATTProfile]
    /// The families that the device may be of; empty for any.
    private let families: [String]
    /// The profiles that identify a family: devices of other families lack them.
    private let uniqueProfiles: [GATTProfile]
    /// Whether to pair with the device before the link subscribes.
    let pairs: Bool
    /// Whether another program may listen to the device at the same time, although values may then arrive twice.
    let sharesValues: Bool
    /// Whether the route to a device of no known kind may be guessed.
    let mayGuess: Bool
    /// The characteristics of the options `write` and `hear`; nil if there are none.
    private let namedRoute: NamedRoute?
    /// Whether the endpoint names characteristics.
    var isRouteNamed: Bool { namedRoute != nil }

    /// Parses an endpoint of the scheme `ble`.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - known: The profiles that the options `family` and `profile` choose from.
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
            // Only a plain stream of bytes can be guessed: packets and values have no typical characteristics.
            mayGuess =
                namedRoute == nil && target != .any && profiles.contains { !$0.keepsPacketBounds && $0.values.isEmpty }
        }
    }

    /// Returns the route to a connected device; nil if the device does not fit the endpoint.
    func route(in services: [GATTService]) -> GATTRoute? {
        if let namedRoute {
            return GATTRoute(
                write: namedRoute.write, hear: namedRoute.hear, as: family == nil ? nil : profiles.first, in: services)
        }
        for profile in profiles { if let route = GATTRoute(profile, in: services) { return route } }
        return mayGuess ? GATTRoute(guessedFrom: services) : nil
    }

    /// Returns the profile by which the device certainly belongs to another family; nil if the device may be of the
    /// requested family, or if no family is requested.
    func foreignProfile(in services: [GATTService]) -> GATTProfile? {
        guard !families.isEmpty else { return nil }
        let certain = uniqueProfiles.filter { $0.fits(services) }
        return certain.contains { $0.families.contains(where: families.contains) } ? nil : certain.first
    }
}

/// The characteristics that the options of an endpoint name.
private struct NamedRoute: Sendable, Hashable {
    let write: BluetoothUUID
    let hear: BluetoothUUID

    /// Parses the options; nil if there are none. A single option stands for both directions.
    init?(_ endpoint: Endpoint) throws(LinkError) {
        let write = try Self.uuid("write", endpoint)
        let hear = try Self.uuid("hear", endpoint)
        guard let first = write ?? hear else { return nil }
        guard endpoint.options["profile"] == nil else {
            throw endpoint.invalid("set either profile, or write and hear")
        }
        self.write = write ?? first
        self.hear = hear ?? first
    }

    private static func uuid(_ option: String, _ endpoint: Endpoint) throws(LinkError) -> BluetoothUUID? {
        guard let text = endpoint.options[option] else { return nil }
        if let uuid = BluetoothUUID(text) { return uuid }
        throw endpoint.invalid("set \(option) to the UUID of a characteristic: FFE1, or 36 characters")
    }
}
