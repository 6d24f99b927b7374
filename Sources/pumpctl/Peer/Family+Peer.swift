import FirmwareSim
import Glibc
import LineProtocol
import Transports

extension Family {
    static let peer = Family(
        baudRate: 115_200, simulate: simulatePeer,
        errorCode: { line, ending in
            let text = ending == .cut ? "" : line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            return text.hasPrefix("IMG_ERROR ") ? String(text.dropFirst("IMG_ERROR ".count)) : nil
        }, recognizes: { $0.starts(with: "HELLO from ".utf8) || $0.starts(with: "IMG_".utf8) },
        hint: { reason in
            switch reason {
            case "no_file_selected": "choose an image at the peer first, then fetch it again"
            case "not_png": "choose a PNG at the peer: it sends nothing else"
            case "read_failed": "choose it again at the peer, which could not read it"
            default: nil
            }
        })

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
