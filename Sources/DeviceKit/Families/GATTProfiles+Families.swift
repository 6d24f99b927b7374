public import Transports

extension GATTProfiles {
    /// The profiles of the families that DeviceKit knows, behind the carriers.
    ///
    ///     var profiles = GATTProfiles.families
    ///     profiles.add(.hm10, for: "scale")
    public static let families: GATTProfiles = {
        var profiles = GATTProfiles.carriers
        for carrier in [GATTProfile.hm10, .bt4502w, .microchip] { profiles.add(carrier, for: "pump") }
        profiles.add(.nordicUART, for: "peer")
        for profile in [GATTProfile.storm, .stormLive, .led, .rescue] { profiles.add(profile) }
        return profiles
    }()
}

extension LinkSchemes {
    /// ``LinkSchemes/standard``, where `ble:` finds the devices of the families too, and `shared:NAME`: a device that a
    /// daemon, pumpctld, has under that name.
    ///
    ///     let link = try await LinkSchemes.families.open(Endpoint("ble:ece196?family=led"))
    public static let families: LinkSchemes = {
        var schemes = LinkSchemes.standardAndShared
        schemes.add("ble", BLEEndpoint.opener(BLEUse(profiles: .families)))
        return schemes
    }()
}
