import DescriptorIO
import DeviceKit
import FirmwareSim
import LineProtocol
import Transports

extension FamilyRow {
    static let pump = FamilyRow(
        family: .pump, noun: nil,
        commands: [OnCommand.self, OffCommand.self, SpeedCommand.self, StatusCommand.self, TempCommand.self],
        simulator: SimPumpCommand.self, simulate: simulatePump)

    private static let simulatePump: LinkSchemes.Opener = { endpoint, loop throws(LinkError) in
        try endpoint.allowOptions(["knob", "thermistors"])
        let thermistors = try endpoint.number("thermistors", in: 0...2) ?? 2
        var options = PumpFirmwareOptions(thermistors: .init(rawValue: thermistors) ?? .two)
        if let knob = try endpoint.number("knob", in: 0...1023) { options.potentiometer = knob }
        return try await SimLink.open(PumpFirmware(options: options), as: endpoint, loop)
    }
}
