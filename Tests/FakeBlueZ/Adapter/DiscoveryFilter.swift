internal import DBus

/// A client's filter for device discovery. A device must meet all of its conditions.
struct DiscoveryFilter: Sendable, Equatable {
    /// The UUIDs of which a device must advertise at least one; empty for no condition.
    var services: Set<String> = []
    /// The minimum signal strength, in dBm.
    var signalStrength: Int16?
    /// The maximum path loss, in dB: the advertised transmit power minus the signal strength.
    var pathLoss: UInt16?
    var transport = "auto"
    /// Whether the client wants a signal for repeated data, too.
    var wantsDuplicates = false
    /// The required prefix of the name or the address.
    var pattern: String?

    init() {}

    /// Reads the argument of `SetDiscoveryFilter`. `Discoverable` has no effect in the fake.
    ///
    /// - Throws: `InvalidArguments` for an unknown property, a wrong type or transport, and for RSSI together with
    ///   Pathloss, which bluetoothd does not allow.
    init(_ properties: [String: DBusValue]) throws(DBusError) {
        for (name, value) in properties {
            switch name {
            case "UUIDs": services = Set(try Self.required(value.strings).map(longUUID))
            case "RSSI": signalStrength = try Self.required(value.int16)
            case "Pathloss": pathLoss = try Self.required(value.uint16)
            case "Transport": transport = try Self.required(value.string)
            case "DuplicateData": wantsDuplicates = try Self.required(value.boolean)
            case "Discoverable": _ = try Self.required(value.boolean)
            case "Pattern": pattern = try Self.required(value.string)
            default: throw BlueZError.invalidArguments
            }
        }
        let isBoth = signalStrength != nil && pathLoss != nil
        guard ["auto", "le", "bredr"].contains(transport), !isBoth else { throw BlueZError.invalidArguments }
    }

    private static func required<Value>(_ value: Value?) throws(DBusError) -> Value {
        guard let value else { throw BlueZError.invalidArguments }
        return value
    }

    /// Whether the filter lets a device through.
    @Radio
    func lets(_ device: RadioDevice) -> Bool {
        let heard = device.advertisement
        // All devices of the fake are LE devices.
        if transport == "bredr" { return false }
        if !services.isEmpty, services.isDisjoint(with: heard.services) { return false }
        if let signalStrength, device.signalStrength < signalStrength { return false }
        if let pathLoss {
            guard let power = heard.txPower, Int(power) - Int(device.signalStrength) <= Int(pathLoss) else {
                return false
            }
        }
        if let pattern {
            return heard.name?.hasPrefix(pattern) == true || device.address.hasPrefix(pattern)
        }
        return true
    }
}
