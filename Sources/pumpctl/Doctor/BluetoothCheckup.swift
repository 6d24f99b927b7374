import BlueZ
import DescriptorIO
import Transports

/// The checks of what a BLE device is reached by. The device itself is left alone.
struct BluetoothCheckup {
    /// A `ble:` endpoint.
    let endpoint: Endpoint

    func diagnoses(on loop: EventLoop) async -> [Diagnosis] {
        do throws(BLEError) {
            let bluez = try await BlueZ.open(on: loop)
            let adapter = await adapter(of: bluez)
            await bluez.close()
            return [.ok("bluetoothd", port: endpoint.text, "bluetoothd runs, and you may talk to it"), adapter]
        } catch {
            return [failure("bluetoothd", error)]
        }
    }

    private func adapter(of bluez: BlueZ) async -> Diagnosis {
        do throws(BLEError) {
            let adapter = try await bluez.adapter(endpoint.options["adapter"])
            guard adapter.isPowered else { throw BLEError(.adapterOff, activity: "looking at \(adapter.name)") }
            return .ok("adapter", port: endpoint.text, "the adapter \(adapter.name) (\(adapter.address)) is on")
        } catch {
            return failure("adapter", error)
        }
    }

    private func failure(_ check: String, _ error: BLEError) -> Diagnosis {
        let exit: ExitStatus =
            switch error.code {
            case .noAdapter: .noInput
            case .notPermitted: .noPermission
            default: .unavailable
            }
        return .fail(check, port: endpoint.text, error.reason, remedy: error.hint, exit: exit)
    }
}
