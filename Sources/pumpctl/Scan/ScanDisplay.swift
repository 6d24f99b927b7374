import BlueZ
import DeviceKit
import Terminal

/// Shows the results of a scan: on a terminal as a table that is redrawn; otherwise as a table or as records at the
/// end, or with `--watch` as a line for each notable change or a record for each change.
final class ScanDisplay {
    private let output: Output
    private let watches: Bool
    private let isFiltered: Bool
    /// The redrawn table; nil if the output is JSON, or goes to no terminal whose cursor can be moved.
    private let table: LiveTable?
    /// The devices in sight.
    private var devices = ScannedDevices()

    /// Creates a display.
    ///
    /// - Parameters:
    ///   - watches: Whether changes are shown as they happen if there is no redrawn table.
    ///   - isFiltered: Whether the scan shows only some devices.
    init(_ context: CommandContext, watches: Bool, isFiltered: Bool) {
        output = context.output
        self.watches = watches
        self.isFiltered = isFiltered
        table =
            !context.output.isJSON && StandardStream.output.canMoveCursor
            ? LiveTable(placeholder: "scanning…", on: context.loop, write: context.output.draw) : nil
    }

    /// Shows the events of a scan until it ends.
    func follow(_ scan: DeviceScan) async throws(BLEError) {
        do throws(BLEError) {
            for try await event in scan { await take(event) }
        } catch {
            await end(isWhole: false)
            throw error
        }
        await end(isWhole: true)
    }

    private func take(_ event: DeviceScanEvent) async {
        switch event {
        case .scanning(isAgain: false): await table?.show(ScanTable.table([]))
        case .scanning(isAgain: true): await note("pumpctl: scanning again")
        case .interrupted(let error): await note("pumpctl: \(error.reason); waiting until Bluetooth is back")
        case .device(let change, let device, let isNotable):
            devices[device.address] = change == .lost ? nil : device
            if let table {
                await table.show(ScanTable.table(devices.sorted))
            } else if watches {
                output.record(ResultRecord(device, with: ["event": change.rawValue]))
                if isNotable { output.text(ScanTable.line(change, device)) }
            }
        }
    }

    /// Prints a note, above the table if there is one.
    private func note(_ text: String) async {
        if let table { await table.note(text) } else { output.note(text) }
    }

    /// Prints the final table or records, and notes that no device was found or that families are guesses.
    ///
    /// - Parameter isWhole: Whether the scan ended without an error. After an error, "no device" is not certain.
    private func end(isWhole: Bool) async {
        let devices = devices.sorted
        await table?.end()
        if table == nil, !watches {
            if !devices.isEmpty { output.text(ScanTable.table(devices).lines().joined(separator: "\n")) }
            for device in devices { output.record(device) }
        }
        if devices.isEmpty, isWhole {
            output.note(
                "no \(isFiltered ? "such " : "")BLE device in range; devices that are connected to a phone, or have no power, "
                    + "are not seen")
        }
        guard !output.isJSON else { return }
        for fit in devices.map(\.fit).reduce(into: [FamilyFit](), { if !$0.contains($1) { $0.append($1) } }) {
            if let name = fit.name, !fit.isCertain { output.note("\(name): \(fit)") }
        }
    }
}
