import BlueZ
import DeviceKit
import Terminal

/// Where a scan shows what it sees: on a terminal a table that is drawn over; else a table at the end, or a line for each
/// change.
final class ScanDisplay {
    private let output: Output
    private let watches: Bool
    private let isFiltered: Bool
    private let table: LiveTable?
    private var devices = ScannedDevices()

    /// - Parameter isFiltered: Whether only some devices are shown.
    init(_ context: CommandContext, watches: Bool, isFiltered: Bool) {
        output = context.output
        self.watches = watches
        self.isFiltered = isFiltered
        table =
            !context.output.isJSON && StandardStream.output.canMoveCursor
            ? LiveTable(placeholder: "scanning…", on: context.loop, write: context.output.draw) : nil
    }

    /// Shows what a scan tells until it ends.
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
        case .interrupted(let error): await note("pumpctl: \(error.reason); waiting until it is back")
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

    /// Tells of something else, above the table.
    private func note(_ text: String) async {
        if let table { await table.note(text) } else { output.note(text) }
    }

    /// Shows what has not been shown.
    ///
    /// - Parameter isWhole: Whether the scan came to its end: of one that failed nothing tells what is in sight.
    private func end(isWhole: Bool) async {
        let devices = devices.sorted
        await table?.end()
        if table == nil, !watches {
            if !devices.isEmpty { output.text(ScanTable.table(devices).lines().joined(separator: "\n")) }
            for device in devices { output.record(device) }
        }
        if devices.isEmpty, isWhole {
            output.note(
                "no \(isFiltered ? "such " : "")BLE device in range; one that is connected to a phone, or has no power, is not "
                    + "seen")
        }
        guard !output.isJSON else { return }
        for fit in devices.map(\.fit).reduce(into: [FamilyFit](), { if !$0.contains($1) { $0.append($1) } }) {
            if let name = fit.name, !fit.isCertain { output.note("\(name): \(fit)") }
        }
    }
}
