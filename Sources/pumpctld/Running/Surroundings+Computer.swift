import BlueZ
import DescriptorIO
import DeviceKit
import Diagnosis
import SerialPort
import Sharing
import Transports

extension Surroundings {
    /// Returns the functions by which programs at the control socket look for ports, BLE devices and problems of this
    /// computer.
    ///
    /// - Parameter loop: The event loop of the connections to bluetoothd.
    static func computer(on loop: EventLoop) -> Surroundings {
        Surroundings {
            // Reading which programs have a port open may block.
            try await Task(executorPreference: globalConcurrentExecutor) {
                try SerialPortDiscovery.ports().map { ($0, $0.holders().map(\.description)) }
            }.value
        } devices: { seconds in
            let bluez = try await BlueZ.open(on: loop)
            let scan = Task(executorPreference: loop) { try await found(by: DeviceScan(with: bluez)) }
            let timer = Task(executorPreference: loop) {
                if (try? await EventLoopClock(loop).sleep(for: .seconds(seconds))) != nil { scan.cancel() }
            }
            let result = await scan.result
            timer.cancel()
            await bluez.close()
            return try result.get()
        } findings: { endpoint in
            // A check-up does not count its own process, here the daemon, which has the ports of its devices open. So
            // leave out the finding that no process has a port open.
            let findings = try await Checkup.findings(at: endpoint, on: loop)
                .filter { $0.check != .holder || $0.status == .warning || $0.status == .bad }
            return findings.map { finding in
                Finding(
                    code: finding.check.rawValue, severity: finding.status.word, subject: finding.subject,
                    sentence: "\(finding.fact)", remedy: finding.remedy.map { "\($0)" })
            }
        }
    }

    /// Scans until the task is cancelled, and returns the devices that are in sight then.
    private static func found(by scan: DeviceScan) async throws -> [ScannedDevice] {
        var devices = ScannedDevices()
        for try await event in scan {
            guard case .device(let change, let device, _) = event else { continue }
            devices[device.address] = change == .lost ? nil : device
        }
        return devices.sorted
    }
}

extension Diagnosis.Finding.Status {
    /// The severity for programs. An inconclusive check is `ok`, because it shows no problem.
    fileprivate var word: String {
        switch self {
        case .good, .unknown: "ok"
        case .warning: "warning"
        case .bad: "bad"
        }
    }
}
