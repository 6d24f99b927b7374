import DescriptorIO
import FirmwareSim
import LineProtocol
import Transports

extension Family {
    static let pump = Family(
        baudRate: 9600, simulate: simulatePump, danger: { SpeedLineCheck.reason(against: $0) },
        errorCode: { line, ending in
            guard case .error(let code) = PumpMessage(line: line, ending: ending) else { return nil }
            return code.rawValue
        }, hint: pumpHint)

    private static let simulatePump: LinkSchemes.Opener = { endpoint, loop throws(LinkError) in
        try endpoint.allowOptions(["knob", "thermistors"])
        let thermistors = try endpoint.number("thermistors", in: 1...2) ?? 2
        var options = PumpFirmwareOptions(thermistors: thermistors == 1 ? .one : .two)
        if let knob = try endpoint.number("knob", in: 0...1023) { options.potentiometer = knob }
        return try await SimLink.open(PumpFirmware(options: options), as: endpoint, loop)
    }

    private static let pumpHint: @Sendable (String) -> String? = { code in
        switch PumpErrorCode(rawValue: code) {
        case .pumpNotRunning: "switch the pump on first: pumpctl on"
        case .pumpStartFailed:
            "the pump was stopped for safety: see 'pumpctl status', then 'pumpctl off' to leave that state"
        case .invalidSpeedValue: SpeedArgument.rule
        case .unknownCommand, .commandTooLong:
            "the command was damaged on its way, or another program writes to the port: try again"
        default: nil
        }
    }
}
