import DeviceKit
import LineProtocol
import Sharing
import TOMLReading
import Transports

/// A device as written in a configuration file or on the command line, not yet validated. ``settings(at:)`` makes
/// `SharedDeviceSettings` of it.
struct DeviceEntry: Sendable, Hashable {
    /// The device's name; nil for the name of its family.
    var name: String?
    var endpoint: String?
    /// The name of the device's family; nil for a pump.
    var family: String?
    /// The paths of the symbolic links to its pseudo-terminals.
    var terminals: [String] = []
    /// The TCP ports, each with or without a host to listen on.
    var tcp: [String] = []
    /// The paths of its Unix sockets.
    var unix: [String] = []
    var isRecorded = false
    /// The time that a link stays open after the last client has left, such as `60s`; nil for the default of the
    /// endpoint.
    var idle: String?

    init(name: String?) { self.name = name }

    /// Validates the entry.
    ///
    /// - Parameter place: The place of the entry, which errors name.
    func settings(at place: ConfigurationPlace) throws(ConfigurationError) -> SharedDeviceSettings {
        let family = try readFamily(at: place)
        let endpoint = try readEndpoint(at: place).adapted(to: family)
        var shares: [ShareAddress] = []
        for path in terminals {
            try ShareAddress.checkPath(path, "pty", at: place)
            shares.append(.terminal(link: path))
        }
        for text in tcp { shares.append(try ShareAddress(tcp: text, at: place)) }
        for path in unix {
            try ShareAddress.checkPath(path, "unix", at: place)
            shares.append(.unix(path: path))
        }
        return SharedDeviceSettings(
            name: try readName(family, at: place), endpoint: endpoint, family: family,
            isFamilyAssumed: self.family == nil,
            shares: shares,
            holding: try readHolding(of: endpoint, at: place), isRecorded: isRecorded)
    }

    private func readName(_ family: Family, at place: ConfigurationPlace) throws(ConfigurationError) -> String {
        let name = name ?? family.name
        let isFit = name.utf8.allSatisfy { byte in
            [UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
        }
        guard isFit, !name.isEmpty, name.utf8.count <= 64 else {
            let hint = "use letters, digits, '-' and '_', at most 64 of them"
            switch place {
            case .table: throw ConfigurationError(.badValue, "[device.\(name)]", "not a valid name", hint: hint)
            case .commandLine:
                throw ConfigurationError(.badValue, "--name", "'\(name)' is not a valid name", hint: hint)
            }
        }
        return name
    }

    private func readFamily(at place: ConfigurationPlace) throws(ConfigurationError) -> Family {
        let shared = SharedFamily.all.map(\.family)
        guard let text = family else { return .pump }
        if let family = shared.first(where: { $0.name == text }) { return family }
        let names = shared.map(\.name)
        let isKnown = Family.all.contains { $0.name == text }
        throw ConfigurationError(
            .badValue, place.of("family"),
            isKnown ? "devices of the family \(text) can't be shared" : "unknown family '\(text)'",
            hint: isKnown
                ? "use the device with pumpctl directly; families that can be shared: \(names.joined(separator: ", "))"
                // The hint suggests no similar name: a person who follows it may take a lamp for a pump.
                : "write one of: \(names.joined(separator: ", "))")
    }

    private func readEndpoint(at place: ConfigurationPlace) throws(ConfigurationError) -> Endpoint {
        let key = place == .commandLine ? "port" : "endpoint"
        guard let text = endpoint else {
            throw ConfigurationError(
                .missing, place.of(key), "missing",
                hint: "name the device, e.g. \(place.example(key, "usb:1a86:7523")); list them: pumpctl ports")
        }
        let endpoint: Endpoint
        do throws(LinkError) { endpoint = try Endpoint(text) } catch {
            throw ConfigurationError(
                .badValue, place.of(key), "'\(text)' is not an endpoint",
                hint: error.hint ?? "write \(place.example(key, "/dev/ttyUSB0"))")
        }
        let schemes = LinkSchemes.standard.names
        guard schemes.contains(endpoint.scheme) else {
            let list = schemes.map { "\($0):" }.joined(separator: " ")
            throw ConfigurationError(
                .badValue, place.of(key), "'\(endpoint.scheme):' can't be shared",
                hint: endpoint.scheme == "sim"
                    ? "start the simulator separately, and name its port: pumpctl sim \(endpoint.address) --link /tmp/pump"
                    : "begin an endpoint with / or one of: \(list)")
        }
        return endpoint
    }

    private func readHolding(
        of endpoint: Endpoint, at place: ConfigurationPlace
    ) throws(ConfigurationError) -> LinkHolding? {
        guard let text = idle else { return nil }
        guard !endpoint.isSerialPort else {
            throw ConfigurationError(
                .badValue, place.of("idle"), "a serial port always stays open: reopening may reset the board",
                hint: "remove it")
        }
        guard let time = TimeText.duration(text) else {
            throw ConfigurationError(
                .badValue, place.of("idle"), "'\(text)' is not a time",
                hint: "write a number and a unit, ms, s, m or h: \(place.example("idle", "60s"))")
        }
        return .whileUsed(idle: time)
    }
}
