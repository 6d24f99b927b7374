import FirmwareSim
import LineProtocol
import Transports

extension Family {
    static let led = Family(
        baudRate: 115_200, simulate: simulateLED,
        recognizes: { line in
            if case .value = LEDMessage(line: line.span) { true } else { false }
        }, question: "pumpctl led get")

    private static let simulateLED: LinkSchemes.Opener = { endpoint, loop throws(LinkError) in
        try endpoint.allowOptions(["lit"])
        let isLit = try endpoint.flag("lit") ?? false
        return try await SimLink.open(LEDFirmware(isLit: isLit), as: endpoint, loop)
    }
}
