public import BlueZ
public import Transports

/// What families a BLE device may be of, as far as its services tell.
///
/// A service is rarely one family's alone: behind an HM-10 may be a pump, or any other device with a serial port.
///
/// ```swift
/// print(FamilyFit(services: ["FFE0"]))    // pump, or another device behind an HM-10
/// ```
public struct FamilyFit: Sendable, Hashable {
    /// The families that it may be of, the likeliest first; one where that is certain, none where no service is known.
    public let families: [String]
    /// The profile that tells; nil where none does.
    public let profile: GATTProfile?
    /// Whether it is of the one family for sure.
    public let isCertain: Bool

    /// What the services of a device tell.
    ///
    /// - Parameters:
    ///   - services: What it advertises, or was found to have.
    ///   - characteristics: What it was found to have when it was connected; empty where it was not.
    ///   - profiles: The profiles that are known.
    public init(
        services: [BluetoothUUID], characteristics: Set<BluetoothUUID> = [], among profiles: GATTProfiles = .families
    ) {
        var possible: [GATTProfile] = []
        for profile in profiles.all where profile.services.contains(where: services.contains) {
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

    /// The family that it is known to be of; nil where that is not certain.
    public var certain: String? { isCertain ? families.first : nil }

    /// The families that it may be of, the likeliest first; empty where one is certain, or none is known.
    public var possible: [String] { isCertain ? [] : families }
}

extension FamilyFit: CustomStringConvertible {
    /// The families for people: `led`; `pump, or another device behind an HM-10`; empty where none is known.
    public var description: String {
        let names = families.joined(separator: " or ")
        if isCertain || families.isEmpty { return names }
        return names + ", or " + (profile?.alternative ?? "another device with the same service")
    }
}
