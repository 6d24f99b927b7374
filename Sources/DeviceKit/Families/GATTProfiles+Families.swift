public import Transports

extension GATTProfiles {
    /// The profiles of the families that DeviceKit defines, in addition to the carriers' profiles.
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
    /// `LinkSchemes.standard`, extended in two ways: `ble:` finds the families' devices, and `shared:NAME` opens the
    /// device with that name in a daemon, pumpctld.
    ///
    ///     let link = try await LinkSchemes.families.open(Endpoint("ble:ece196?family=led"))
    public static let families: LinkSchemes = {
        var schemes = LinkSchemes.standardAndShared
        schemes.add("ble", BLEEndpoint.opener(BLEUse(profiles: .families)))
        return schemes
    }()
}
