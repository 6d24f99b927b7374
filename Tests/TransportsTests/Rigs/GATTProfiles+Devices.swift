import BlueZ
import Transports

/// The device kinds for the tests. Transports itself knows none.
extension GATTProfiles {
    static let devices: GATTProfiles = {
        var profiles = GATTProfiles.carriers
        for carrier in [GATTProfile.hm10, .bt4502w, .microchip] { profiles.add(carrier, for: "pump") }
        profiles.add(.nordicUART, for: "peer")
        for profile in [GATTProfile.storm, .led, .rescue] { profiles.add(profile) }
        return profiles
    }()
}

extension GATTProfile {
    /// A profile that other devices share in part, recognized by its mark.
    static let storm = GATTProfile(
        "storm", families: ["storm"], services: ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"],
        write: "BEB5483E-36E1-4688-B7F5-EA07361B26A8", hear: "BEB5483E-36E1-4688-B7F5-EA07361B26A8",
        mark: "1C95D5E3-D8F7-413A-BF3D-7A2E5D7BE87E", deviceKind: "a storm sensor", writeType: .request,
        chunkLength: 512, keepsPacketBounds: true)

    /// A profile with a value.
    static let led = GATTProfile(
        "led", families: ["led"], services: ["937312E0-2354-11EB-9F10-FBC30A62CF38"],
        write: "957312E0-2354-11EB-9F10-FBC30A62CF38", hear: "957312E0-2354-11EB-9F10-FBC30A62CF38",
        deviceKind: "an LED board", writeType: .request, chunkLength: 1,
        values: [GATTValue("LED", characteristic: "957312E0-2354-11EB-9F10-FBC30A62CF38", encoding: .boolean)])

    /// A profile with a single characteristic, whose writes are confirmed.
    static let rescue = GATTProfile(
        "rescue", families: ["rescue"], services: ["FFF0"], write: "FFF1", hear: "FFF1", writeType: .request,
        chunkLength: 510)
}
