import DeviceKit
import FirmwareSim
import Glibc
import LineProtocol
import Transports

extension FamilyRow {
    static let peer = FamilyRow(
        family: .peer, noun: "peer",
        commands: [PeerCommandGroup.self],
        simulator: SimPeerCommand.self, simulate: simulatePeer,
        formerCommands: ["say": ["peer", "say"], "toggle": ["peer", "toggle"], "image": ["peer", "image"]])

    private static let simulatePeer: LinkSchemes.Opener = { endpoint, loop throws(LinkError) in
        try endpoint.allowOptions(["seed", "size", "chunk", "fault", "interval", "name", "unpaced", "acks"])
        var options = PeerFirmwareOptions(startTime: time(nil))
        if try endpoint.flag("unpaced") ?? false { options.carrier = .line(.unlimited) }
        options.acknowledges = try endpoint.flag("acks") ?? false
        if let seed = try endpoint.number("seed", in: 0...Int.max) { options.seed = UInt64(seed) }
        if let size = try endpoint.number("size", in: SimPeerCommand.sizes) { options.imageByteCount = size }
        if let chunk = try endpoint.number("chunk", in: SimPeerCommand.chunkLengths) { options.chunkLength = chunk }
        if let name = endpoint.options["name"] { options.name = name }
        options.imageFault = try endpoint.choice(
            "fault", of: PeerFirmwareOptions.ImageFault.allCases.map { ($0.rawValue, $0) })
        if let text = endpoint.options["interval"] {
            guard let interval = SecondsArgument(argument: text) else {
                throw endpoint.invalid("give interval as a time: 500ms, 2s")
            }
            options.interval = interval.duration
        }
        return try await SimLink.open(PeerFirmware(options: options), hasFlowControl: true, as: endpoint, loop)
    }
}
