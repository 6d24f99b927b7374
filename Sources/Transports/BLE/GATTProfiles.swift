/// The kinds of BLE devices that a program knows: a table of profiles with their families.
///
///     var profiles = GATTProfiles.carriers
///     profiles.add(.hm10, for: "scale")
///     let opener = BLEEndpoint.opener(BLEUse(profiles: profiles))
///
/// This module knows no family: a program that opens devices of a family adds its profiles.
public struct GATTProfiles: Sendable, Hashable {
    /// The profiles. If several fit a device, the first one is used.
    public private(set) var all: [GATTProfile] = []

    /// Creates an empty table.
    public init() {}

    /// Serial ports over BLE: HM-10, HM-BT4502W, Microchip's transparent UART, and the Nordic UART Service. These
    /// profiles belong to no family.
    public static let carriers: GATTProfiles = {
        var profiles = GATTProfiles()
        for profile in [GATTProfile.hm10, .bt4502w, .microchip, .nordicUART] { profiles.add(profile) }
        return profiles
    }()

    /// The families with a profile, without duplicates, in the order of ``all``.
    public var families: [String] {
        all.lazy.flatMap(\.families).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the profiles of a family.
    ///
    /// - Parameter family: The family; nil for all profiles.
    public func profiles(of family: String?) -> [GATTProfile] {
        guard let family else { return all }
        return all.filter { $0.families.contains(family) }
    }

    /// Adds a profile at the end, or replaces the profile with the same name and inherits that profile's families.
    ///
    /// - Parameters:
    ///   - profile: The profile.
    ///   - family: A family whose devices use this profile, in addition to the profile's own families.
    public mutating func add(_ profile: GATTProfile, for family: String? = nil) {
        let place = all.firstIndex { $0.name == profile.name }
        var profile = profile
        let families = (place.map { all[$0].families } ?? []) + profile.families + (family.map { [$0] } ?? [])
        profile.families = families.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        if let place { all[place] = profile } else { all.append(profile) }
    }
}
