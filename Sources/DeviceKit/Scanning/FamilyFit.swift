public import BlueZ
public import Transports

/// The families that a BLE device may belong to, according to its services.
///
/// A service rarely belongs to one family only: an HM-10 may be connected to a pump, or to any other device with a
/// serial port.
///
/// ```swift
/// print(FamilyFit(services: ["FFE0"]))    // pump, or another device behind an HM-10
/// ```
public struct FamilyFit: Sendable, Hashable {
    /// The possible families, most likely first; none if no family's profile matches. Even a single one need not be
    /// certain: see ``isCertain``.
    public let families: [String]
    /// The profile that matches best; nil if no profile of a family matches.
    public let profile: GATTProfile?
    /// Whether the device certainly belongs to the family in ``families``, which is then the only one.
    public let isCertain: Bool

    /// Determines the families from a device's services.
    ///
    /// - Parameters:
    ///   - services: The services that the device advertises, or was found to have.
    ///   - characteristics: The characteristics that were found while the device was connected; empty if it was not.
    ///   - profiles: The known profiles.
    public init(
        services: [BluetoothUUID], characteristics: Set<BluetoothUUID> = [], among profiles: GATTProfiles = .families
    ) {
        var possible: [GATTProfile] = []
        for profile in profiles.all where profile.services.contains(where: services.contains) {
            // A profile whose mark is not among the found characteristics does not match. If none were found, because
            // the device was not connected, the profile is possible but not certain.
            let lacksMark = profile.mark.map { !characteristics.contains($0) } ?? false
            if lacksMark, !characteristics.isEmpty { continue }
            if profile.isUnique, profile.families.count == 1, !lacksMark {
                self.init(profile.families, profile, isCertain: true)
                return
            }
            if !profile.families.isEmpty { possible.append(profile) }
        }
        let families = possible.flatMap(\.families).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        self.init(families, possible.first, isCertain: false)
    }

    private init(_ families: [String], _ profile: GATTProfile?, isCertain: Bool) {
        self.families = families
        self.profile = profile
        self.isCertain = isCertain
    }

    /// The device's family; nil if it is not certain.
    public var certain: String? { isCertain ? families.first : nil }

    /// The possible families, most likely first; empty if one is certain or none is known.
    public var possible: [String] { isCertain ? [] : families }
}

extension FamilyFit: CustomStringConvertible {
    /// The families for people: `led`; `pump, or another device behind an HM-10`; empty if none is known.
    public var description: String {
        let names = families.joined(separator: " or ")
        if isCertain || families.isEmpty { return names }
        return names + ", or " + (profile?.alternative ?? "another device with the same service")
    }
}
