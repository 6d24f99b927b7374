import DeviceKit
import FirmwareSim
import LineProtocol
import Transports

extension FamilyRow {
    static let led = FamilyRow(
        family: .led, noun: "led",
        commands: [LEDCommandGroup.self],
        simulator: SimLEDCommand.self, simulate: simulateLED)

    private static let simulateLED: LinkSchemes.Opener = { endpoint, loop throws(LinkError) in
        try endpoint.allowOptions(["lit"])
        let isLit = try endpoint.flag("lit") ?? false
        return try await SimLink.open(LEDFirmware(isLit: isLit), as: endpoint, loop)
    }
}
