import ArgumentParser
import BlueZ
import FirmwareSim
import PeripheralSim

extension ServingOptions {
    /// Refuses a line beside BLE, for a device that has one of the two.
    func refuseLineBesideRadio() throws {
        if usesRadio, usesPseudoTerminal || link != nil || tcp != nil {
            throw ValidationError("--ble cannot be combined with --pty, --link and --tcp")
        }
    }

    /// Offers a device over BLE and on its line at once.
    func serveOverRadioToo(
        _ row: PeripheralSimulator, _ settings: SimulatorSettings, _ context: CommandContext,
        _ onDevice: @escaping OnDevice
    ) async throws {
        let (adapter, output) = (adapter, context.output)
        let name = try row.peripheral(settings).offered.name ?? ""
        try await serve(context) { number, place, tell in
            try await row.serve(
                settings, at: place, onAdapter: adapter, on: context.loop, onDevice: { onDevice(number, $0) },
                onEvent: { Self.tell($0, of: name, output, isAll: false) }, onServing: tell)
        }
    }
}
