import ArgumentParser
import DeviceKit
import SerialPort
import Transports

/// The completion of endpoints.
struct EndpointCompletion {
    let surroundings: Surroundings

    /// Returns endpoints that may continue a typed text. The caller leaves out endpoints that do not.
    func candidates(_ typed: String) async -> [Candidate] {
        if typed.hasPrefix(".") || typed.prefix(while: { $0 != ":" }).contains("/") { return await paths(typed) }
        guard let colon = typed.firstIndex(of: ":") else { return await all(from: typed) }
        let (scheme, address) = (typed[...colon], typed[typed.index(after: colon)...])
        if let mark = address.firstIndex(of: "?") {
            return options(scheme, of: address[..<mark])
                .candidates(address[address.index(after: mark)...], behind: String(typed[...mark]))
        }
        return switch scheme {
        case "serial:": await paths(String(address)).map { $0.behind(scheme) }
        case "usb:": Self.usb(await surroundings.ports())
        case "ble:": await names
        case "shared:": await shared
        case "sim:": Self.simulated(address).map { $0.behind(scheme) }
        case "replay:": PathCompletion.candidates(address, .file).map { $0.behind(scheme) }
        case "unix:": PathCompletion.candidates(address, .socket).map { $0.behind(scheme) }
        default: []
        }
    }

    /// Returns the simulated devices, as written behind `sim:`, that continue a text.
    static func simulated(_ typed: Substring) -> [Candidate] {
        if let mark = typed.firstIndex(of: "?") {
            let options = SimCommand.simulator(of: String(typed[..<mark])).map { [QueryOption].simulated($0) } ?? []
            return options.candidates(typed[typed.index(after: mark)...], behind: String(typed[...mark]))
        }
        let devices = SimCommand.simulations.map { simulation in
            Candidate(text: simulation.configuration.commandName ?? "", help: simulation.configuration.abstract)
        }.filter { $0.text.hasPrefix(typed) }
        return devices.count == 1 ? devices + [Candidate(text: devices[0].text + "?", help: "with options")] : devices
    }

    /// The remembered BLE devices.
    var names: [Candidate] {
        get async { await surroundings.names().map { Candidate(text: "ble:" + $0.asEndpointName) } }
    }

    // MARK: Schemes

    /// Returns the known endpoints, and the schemes of others, for a text without a scheme. For an empty text, these
    /// include the paths of the serial ports, and the links to pseudo-terminals in this folder and in /tmp, where the
    /// examples of the help create such links.
    private func all(from typed: String) async -> [Candidate] {
        func may(_ scheme: String) -> Bool { scheme.hasPrefix(typed) }
        var found: [Candidate] = []
        async let shared = may("shared:") ? shared : []
        async let names = may("ble:") ? names : []
        let ports = may("usb:") ? await surroundings.ports() : []
        if typed.isEmpty {
            found += ports.map(Self.path(of:)) + PathCompletion.candidates("./", .terminal).filter { !$0.isOpen }
            found += PathCompletion.candidates("/tmp/", .terminal).filter { !$0.isOpen }
        }
        found += await Self.usb(ports) + shared + names
        let others = ["serial:", "usb:", "ble:", "tcp:", "unix:", "shared:", "sim:", "replay:"].filter { scheme in
            !found.contains { $0.text.hasPrefix(scheme) }
        }
        return found + [Candidate](words: others)
    }

    /// Returns serial ports, if the text is a path in /dev, and the pseudo-terminals that continue a path.
    private func paths(_ typed: String) async -> [Candidate] {
        let ports = typed.hasPrefix("/dev/") ? await surroundings.ports() : []
        return ports.map(Self.path(of:)) + PathCompletion.candidates(typed, .terminal)
    }

    private static func path(of port: SerialPortInfo) -> Candidate {
        Candidate(text: port.path, help: port.board?.description ?? port.usb?.product ?? "")
    }

    /// Returns two endpoints for each USB port: `usb:VID:PID`, and the one that matches no other port, if there is one.
    private static func usb(_ ports: [SerialPortInfo]) -> [Candidate] {
        ports.flatMap { port -> [Candidate] in
            guard let usb = port.usb else { return [] }
            let names = ["usb:\(usb.identifier)", USBEndpoint.naming(port, among: ports)?.description]
            return names.compactMap(\.self).map { Candidate(text: $0, help: port.path) }
        }
    }

    private var shared: [Candidate] {
        get async { await surroundings.shared().map { Candidate(text: $0.sharedEndpoint, help: $0.family) } }
    }

    /// Returns the options that endpoints of a scheme have behind a question mark.
    private func options(_ scheme: Substring, of address: Substring) -> [QueryOption] {
        switch scheme {
        case "serial:", "usb:": .serial
        case "ble:": .ble { [Candidate](words: surroundings.adapters()) }
        case "sim:": SimCommand.simulator(of: String(address)).map { .simulated($0) } ?? []
        case "replay:": [.choice("pace", "original", "none")]
        default: []
        }
    }
}
