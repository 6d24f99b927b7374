internal import BlueZ
internal import DescriptorIO
internal import LineProtocol

/// This program's right to a BLE device, of which each device has one owner among programs: bluetoothd would hand each
/// value to all of them, once for each, and the first to disconnect would cut the others off.
struct BLEClaim: Sendable {
    /// How often a device is tried that somebody has for one command.
    static let interval = Duration.milliseconds(50)
    /// How long after a link was closed bluetoothd may need to disconnect: it takes 2 s, and then asks the controller.
    static let disconnecting = Duration.seconds(5)

    /// The device's ``DeviceID``.
    let deviceID: String
    /// nil where no folder can be used for locks.
    private let lock: DeviceLock?

    /// What a person should know of it; nil where there is nothing.
    var note: String? {
        guard lock == nil else { return nil }
        return "no folder for locks can be written to, so another program may use the device at the same time"
    }

    /// Gets the device: waits for a program that has it for one command, and until a link that was closed before is gone.
    ///
    /// - Throws: `busy` with the holder; `cancelled`.
    static func take(
        _ device: Device, as use: BLEUse, in locks: DeviceLocks, name: String
    ) async throws(LinkError) -> BLEClaim {
        let id = DeviceID.ble(device.address, on: device.adapter, bus: await device.bus)
        var waited = Duration.zero
        var isTold = false
        while true {
            switch locks.attempt(id, as: use.isBrief ? .brief : .lasting) {
            case .unavailable: return BLEClaim(deviceID: id, lock: nil)
            case .taken(let lock):
                let claim = BLEClaim(deviceID: id, lock: lock)
                await claim.waitForDisconnection(of: device, by: locks.uptime())
                guard !Task.isCancelled else {
                    claim.release(isDisconnecting: true)
                    throw LinkError(.cancelled, name: name, activity: "open")
                }
                return claim
            // Any other note means that the owner is closing or has just opened.
            case .held(let holder, let note) where note != .lasting && waited < use.patience:
                if !isTold { use.onStep?(.waiting(device.address, holder: holder)) }
                isTold = true
                do { try await device.clock.sleep(for: interval) } catch {
                    throw LinkError(.cancelled, name: name, activity: "open")
                }
                waited += interval
            case .held(let holder, _): throw LinkError(busy: name, deviceID: id, holder: holder)
            }
        }
    }

    /// Whoever connects while bluetoothd disconnects is given the link that is about to go.
    private func waitForDisconnection(of device: Device, by now: Duration) async {
        guard case .closing(let time) = lock?.inherited, time <= now, now - time < Self.disconnecting else { return }
        await device.waitUntilDisconnected(within: Self.disconnecting - (now - time))
    }

    /// See ``DeviceLock/release(isDisconnecting:)``.
    func release(isDisconnecting: Bool) { lock?.release(isDisconnecting: isDisconnecting) }
}

extension LinkError {
    /// Another program has the device.
    init(busy name: String, deviceID: String, holder: LinkHolder?) {
        self.init(
            .busy, name: name, activity: "open", detail: holder.map { "open in \($0)" } ?? "open in another program",
            hint: holder.map { HoldingProcess($0.processID).endingHint }
                ?? "end the program first that has the device, perhaps in a container",
            holder: holder, deviceID: deviceID)
    }

    /// A program that is not pumpctl, or one in another container, hears what the device says.
    init(
        heardElsewhere characteristic: GATTCharacteristic, _ address: BluetoothAddress, _ claim: BLEClaim, name: String
    ) {
        self.init(
            .busy, name: name, activity: "open", detail: "another program listens to \(characteristic.uuid)",
            hint: "stop that program; if there is none, disconnect the device: bluetoothctl disconnect \(address)",
            deviceID: claim.deviceID)
    }
}
