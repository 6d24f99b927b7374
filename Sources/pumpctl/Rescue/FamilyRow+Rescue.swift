import DeviceKit
import FirmwareSim
import LineProtocol
import Transports

extension FamilyRow {
    static let rescue = FamilyRow(
        family: .rescue, noun: "rescue",
        commands: [RescueCommand.self],
        simulator: SimRescueCommand.self, simulate: simulateRescue,
        formerCommands: ["message": ["rescue"]])

    private static let simulateRescue: LinkSchemes.Opener = { endpoint, loop throws(LinkError) in
        try endpoint.allowOptions(["seed", "messages", "interval", "split", "malformed", "forwards", "unpaced"])
        let isUnpaced = try endpoint.flag("unpaced") ?? false
        var options = RescueFirmwareOptions()
        if isUnpaced { options.carrier = .line(.unlimited) }
        if let seed = try endpoint.number("seed", in: 0...Int.max) { options.seed = UInt64(seed) }
        if let count = try endpoint.number("messages", in: 0...SimRescueCommand.mostMessages) {
            options.messages = count
        }
        if let split = try endpoint.number("split", in: 1...SimRescueCommand.mostSplit) { options.split = split }
        if let percent = try endpoint.number("malformed", in: 0...100) { options.malformed = percent }
        if let forwards = try endpoint.flag("forwards") { options.forwards = forwards }
        if let text = endpoint.options["interval"] {
            guard text == "0" || SecondsArgument(argument: text) != nil else {
                throw endpoint.invalid("give interval as a time: 500ms, 2s, or 0")
            }
            options.interval = SecondsArgument(argument: text)?.duration ?? .zero
        }
        return try await SimLink.open(RescueFirmware(options: options), hasFlowControl: isUnpaced, as: endpoint, loop)
    }
}
