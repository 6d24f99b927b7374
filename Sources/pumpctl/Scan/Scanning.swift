import BlueZ
import DescriptorIO
import DeviceKit
import Transports

/// `pumpctl scan`: shows the BLE devices that are in sight.
struct Scanning {
    let context: CommandContext
    /// The name or address of the adapter; nil for the first that is on.
    let adapter: String?
    /// When to end; nil for never.
    let time: Duration?
    /// Whether to tell of each change.
    let watches: Bool

    /// Runs until the time is over or the task is cancelled. Either way what was seen is shown.
    func run() async throws {
        let bluez = try await BlueZ.open(on: context.loop)
        let scanning = Task(executorPreference: context.loop) { try await self.show(with: bluez) }
        let timer = Task(executorPreference: context.loop) { [clock = context.clock] in
            guard let time, (try? await clock.sleep(for: time)) != nil else { return }
            scanning.cancel()
        }
        let result = await withTaskCancellationHandler {
            await scanning.result
        } onCancel: {
            scanning.cancel()
        }
        timer.cancel()
        await bluez.close()
        try Task.checkCancellation()
        // That its time was up is no failure.
        if !scanning.isCancelled { try result.get() }
    }

    private func show(with bluez: BlueZ) async throws(BLEError) {
        let display = ScanDisplay(context, watches: watches)
        do throws(BLEError) {
            var scan = try await bluez.scan(for: filter, on: adapter)
            await display.begin()
            while true {
                do throws(BLEError) {
                    for try await event in scan { await take(event, display, bluez) }
                    break
                } catch {
                    guard watches, Self.passing.contains(error.code) else { throw error }
                    await display.loseAll()
                    await display.note("pumpctl: \(error.reason); waiting until it is back")
                }
                _ = try await bluez.waitForAdapter(adapter)
                scan = try await bluez.scan(for: filter, on: adapter)
                await display.note("pumpctl: scanning again")
            }
        } catch {
            await display.end(isWhole: false)
            throw error
        }
        await display.end(isWhole: true)
    }

    /// What a watch outlives: bluetoothd is started anew, an adapter plugged out, or switched off.
    private static let passing: Set<BLEError.Code> = [.notRunning, .noAdapter, .adapterOff]

    private func take(_ event: ScanEvent, _ display: ScanDisplay, _ bluez: BlueZ) async {
        switch event {
        case .found(let report), .changed(let report):
            var characteristics: Set<BluetoothUUID> = []
            if report.areServicesResolved {
                let services = (try? await bluez.knownServices(of: report.address, on: adapter)) ?? []
                characteristics = Set(services.flatMap(\.characteristics).map(\.uuid))
            }
            let device = ScannedDevice(report, characteristics: characteristics)
            guard let family = context.options.family, !device.isPerhaps(family) else {
                return await display.show(device)
            }
            await display.lose(device.address)
        case .lost(let address): await display.lose(address)
        }
    }

    private var filter: ScanFilter {
        guard let family = context.options.family?.name else { return ScanFilter() }
        return ScanFilter(services: Set(GATTProfiles.families.profiles(of: family).flatMap(\.services)))
    }
}

/// Where a scan shows what it sees: on a terminal a table that is drawn over; else a table at the end, or a line for each
/// change.
final class ScanDisplay {
    private let output: Output
    private let watches: Bool
    private let table: LiveTable?
    private var devices = ScannedDevices()

    init(_ context: CommandContext, watches: Bool) {
        output = context.output
        self.watches = watches
        table = !context.output.isJSON && LineEditor.canMoveCursor ? LiveTable(context.output, on: context.loop) : nil
    }

    func begin() async { await table?.show([]) }

    /// Takes in a device that was found, or has changed.
    func show(_ device: ScannedDevice) async {
        let last = devices[device.address]
        devices[device.address] = device
        guard device != last else { return }
        await tell(last == nil ? .found : .changed, device, isNews: last.map { !device.isLike($0) } ?? true)
    }

    /// Takes in that a device is not there any more, or not one that was asked for.
    func lose(_ address: BluetoothAddress) async {
        guard let last = devices[address] else { return }
        devices[address] = nil
        await tell(.lost, last, isNews: true)
    }

    /// Takes in that nothing is known any more.
    func loseAll() async {
        for device in devices.sorted { await lose(device.address) }
    }

    /// Tells of something else, above the table.
    func note(_ text: String) async {
        if let table { await table.note(text) } else { output.note(text) }
    }

    private func tell(_ change: ScanChange, _ device: ScannedDevice, isNews: Bool) async {
        if let table {
            await table.show(devices.sorted)
        } else if watches {
            output.record(ScanRecord(event: change, device: device))
            if isNews { output.text(ScanTable.line(change, device)) }
        }
    }

    /// Shows what has not been shown.
    ///
    /// - Parameter isWhole: Whether the scan came to its end: of one that failed nothing tells what is in sight.
    func end(isWhole: Bool) async {
        let devices = devices.sorted
        await table?.end()
        if table == nil, !watches {
            if !devices.isEmpty { output.text(ScanTable.lines(devices).joined(separator: "\n")) }
            for device in devices { output.record(ScanRecord(device: device)) }
        }
        if devices.isEmpty, isWhole {
            output.note("no BLE device in sight; one that is connected to a phone, or has no power, is not seen")
        }
    }
}
