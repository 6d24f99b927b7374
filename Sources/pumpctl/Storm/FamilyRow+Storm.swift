import DeviceKit
import FirmwareSim
import LineProtocol
import Transports

extension FamilyRow {
    static let storm = FamilyRow(
        family: .storm, noun: "storm",
        commands: [StormCommand.self],
        simulator: SimStormCommand.self, simulate: simulateStorm,
        formerCommands: ["log": ["storm", "log"]])

    private static let simulateStorm: LinkSchemes.Opener = { endpoint, loop throws(LinkError) in
        try endpoint.allowOptions(["seed", "rows", "interval", "echo", "unpaced"])
        let isUnpaced = try endpoint.flag("unpaced") ?? false
        var options = StormFirmwareOptions(interval: .seconds(1))
        if isUnpaced { options.lineRate = .unlimited }
        if let seed = try endpoint.number("seed", in: 0...Int.max) { options.seed = UInt64(seed) }
        if let rows = try endpoint.number("rows", in: 0...SimStormCommand.mostRows) { options.rows = rows }
        if let echoes = try endpoint.flag("echo") { options.echoesCommand = echoes }
        if let text = endpoint.options["interval"] {
            guard let interval = SecondsArgument(argument: text) else {
                throw endpoint.invalid("give interval as a time: 500ms, 2s")
            }
            options.interval = interval.duration
        }
        return try await SimLink.open(StormFirmware(options: options), hasFlowControl: isUnpaced, as: endpoint, loop)
    }
}
