public import DeviceKit
internal import LineProtocol
public import Transports

extension Family {
    /// The description of a scale, for programs that work with devices of any family.
    public static let scale = Family(
        name: "scale", device: "a scale", baudRate: 9600,
        reasonForNoStop: "a scale has no moving parts",
        commands: [
            FamilyCommand("weigh", sends: "WEIGH", "Ask for the weight.", effect: .query, tellsState: true),
            FamilyCommand("tare", sends: "TARE", "Take the current load as zero.", effect: .change),
        ],
        events: [FamilyEvent("OVERLOAD", "The load exceeds the capacity.", name: "overload")],
        errors: [FamilyError("OVERLOAD", "The load exceeds the capacity.", remedy: "reduce the load")],
        state: [
            StateField(
                // The capacity is 5000 g. A load that is removed after TARE has a negative weight.
                "weight_g", "weight", .number(-5000...5000), unit: "g"),
            StateField("load", "load", .choice(["normal", "overload"])),
        ],
        wire: WireRules(
            errorCode: { line, ending in
                if case .error(let code) = ScaleMessage(line: line, ending: ending) { code } else { nil }
            },
            recognizes: { line in
                if case .unknown = ScaleMessage(line: line.span, ending: .lineFeed) { false } else { true }
            },
            follow: FamilyMonitor.follower(of: ScaleFamily.self)))
}

extension LinkSchemes {
    /// The kinds of links to a scale: the standard ones, and BLE, if the scale is behind an HM-10.
    public static let scale: LinkSchemes = {
        var profiles = GATTProfiles.carriers
        profiles.add(.hm10, for: "scale")
        var schemes = LinkSchemes.standard
        schemes.add("ble", BLEEndpoint.opener(BLEUse(profiles: profiles)))
        return schemes
    }()
}
