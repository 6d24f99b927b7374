/// The kinds of BLE devices that a program knows: a table of profiles, each with the families that speak so.
///
///     var profiles = GATTProfiles.carriers
///     profiles.add(.hm10, for: "scale")
///     let opener = BLEEndpoint.opener(BLEUse(profiles: profiles))
///
/// Transports knows no family: who opens devices of one adds its profiles.
public struct GATTProfiles: Sendable, Hashable {
    /// The profiles. Of two that fit a device the first counts.
    public private(set) var all: [GATTProfile] = []

    /// A table without a profile.
    public init() {}

    /// Serial ports over BLE: HM-10, HM-BT4502W, Microchip's transparent UART, Nordic's UART Service. They are of no family.
    public static let carriers: GATTProfiles = {
        var profiles = GATTProfiles()
        for profile in [GATTProfile.hm10, .bt4502w, .microchip, .nordicUART] { profiles.add(profile) }
        return profiles
    }()

    /// The families that have a profile, each once, in the order of ``all``.
    public var families: [String] {
        all.lazy.flatMap(\.families).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The profiles that devices of a family have; all for nil.
    public func profiles(of family: String?) -> [GATTProfile] {
        guard let family else { return all }
        return all.filter { $0.families.contains(family) }
    }

    /// Adds a profile behind the others. One of its name is replaced where it stands, and keeps its families.
    ///
    /// - Parameter family: A family of devices that speak so, besides those that the profile names.
    public mutating func add(_ profile: GATTProfile, for family: String? = nil) {
        let place = all.firstIndex { $0.name == profile.name }
        var profile = profile
        let families = (place.map { all[$0].families } ?? []) + profile.families + (family.map { [$0] } ?? [])
        profile.families = families.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        if let place { all[place] = profile } else { all.append(profile) }
    }
}
