internal import BlueZ
internal import DescriptorIO
internal import DeviceKit
internal import Transports

/// Scans for the BLE device under examination.
struct BLEDeviceSearch {
    /// The longest time to scan for a first match. A power-saving device advertises only every second or two.
    private static let patience = Duration.seconds(5)
    /// The time to wait, after the first match, for another device that matches: a name may be ambiguous. A second
    /// device that advertises less often than once in this time may be missed.
    private static let window = Duration.seconds(1)

    let endpoint: BLEEndpoint
    /// The profiles that identify the families of all found devices. ``endpoint`` has only those that the wanted device
    /// may fit.
    let profiles: GATTProfiles
    let loop: EventLoop

    /// Returns the devices in range, and the devices that bluetoothd remembers.
    func devices() async throws(BLEError) -> (inSight: [ScannedDevice], remembered: [ScannedDevice]) {
        let bluez = try await BlueZ.open(on: loop)
        do throws(BLEError) {
            let inSight = try await scan(with: bluez)
            let remembered = try await bluez.knownDevices(on: endpoint.adapter).map {
                ScannedDevice($0, among: profiles)
            }
            await bluez.close()
            return (inSight, remembered)
        } catch {
            await bluez.close()
            throw error
        }
    }

    private func scan(with bluez: BlueZ) async throws(BLEError) -> [ScannedDevice] {
        var devices = ScannedDevices()
        // Only `ble:*` means a device that advertises a service of a profile. A device that is named or addressed may
        // advertise none.
        let services = endpoint.target == .any ? Set(endpoint.profiles.flatMap(\.services)) : []
        let scan = try await bluez.scan(for: ScanFilter(services: services), on: endpoint.adapter)
        var timer = end(scan, after: Self.patience)
        defer {
            timer.cancel()
            scan.cancel()
        }
        var isFound = false
        let target = endpoint.target
        for try await event in scan {
            switch event {
            case .found(let report), .changed(let report):
                let known = try await bluez.knownServices(of: report.address, on: endpoint.adapter)
                devices[report.address] = ScannedDevice(
                    report, characteristics: Set(known.flatMap(\.characteristics).map(\.uuid)), among: profiles)
                guard !isFound, !target.matches(among: [report], address: \.address, name: \.name).isEmpty else {
                    continue
                }
                isFound = true
                timer.cancel()
                timer = end(scan, after: Self.window)
            case .lost(let address): devices[address] = nil
            }
        }
        return devices.sorted
    }

    private func end(_ scan: BLESequence<ScanEvent>, after patience: Duration) -> Task<Void, Never> {
        Task(executorPreference: loop) { [loop] in
            if (try? await EventLoopClock(loop).sleep(for: patience)) != nil { scan.cancel() }
        }
    }
}
