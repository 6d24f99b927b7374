import DescriptorIO
import FirmwareSim
import LineProtocol
import Transports

extension Family {
    static let pump = Family(
        baudRate: 9600, readingTime: PumpFamily.readingTime, simulate: simulatePump,
        danger: { SpeedLineCheck.reason(against: $0) },
        errorCode: { line, ending in
            guard case .error(let code) = PumpMessage(line: line, ending: ending) else { return nil }
            return code.rawValue
        },
        recognizes: { line in
            switch PumpMessage(line: line.span, ending: .lineFeed) {
            case .text, .unknown: false
            case .ok, .pump, .speed, .status, .temperatures, .error, .manual: true
            }
        }, question: "pumpctl status", hint: pumpHint)

    private static let simulatePump: LinkSchemes.Opener = { endpoint, loop throws(LinkError) in
        try endpoint.allowOptions(["knob", "thermistors"])
        let thermistors = try endpoint.number("thermistors", in: 0...2) ?? 2
        var options = PumpFirmwareOptions(thermistors: .init(rawValue: thermistors) ?? .two)
        if let knob = try endpoint.number("knob", in: 0...1023) { options.potentiometer = knob }
        return try await SimLink.open(PumpFirmware(options: options), as: endpoint, loop)
    }

    /// What to do about a pump that was stopped for safety.
    static let leavingErrorState =
        "find out why the pump was stopped for safety, then leave that state: pumpctl off; then pumpctl on"

    private static let pumpHint: @Sendable (String) -> String? = { code in
        switch PumpErrorCode(rawValue: code) {
        case .pumpNotRunning: "switch the pump on first: pumpctl on; before that, after a stop for safety: pumpctl off"
        case .pumpStartFailed: leavingErrorState
        case .invalidSpeedValue: "give a number from 0 to 255, or a percentage from 0% to 100%"
        case .unknownCommand, .commandTooLong:
            "try again: the command was damaged on its way, or another program writes to the device"
        default: nil
        }
    }
}
