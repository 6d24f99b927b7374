import BlueZ
import DeviceKit
import LineProtocol
import RecordFormat
import Transports

/// The actions of `pumpctl gatt`, each over a connection of its own.
extension CommandContext {
    /// Opens the BLE device that the options name, whatever its family, calls `body`, and closes the device.
    private func withBLEDevice(for use: LinkUse, _ body: (BLEDevice) async throws -> Void) async throws {
        guard options.namedPort != nil else {
            throw Failure(
                .usage, code: "usage", "no BLE device is named",
                hint: "name a device: pumpctl gatt ble:NAME; list devices in range: pumpctl scan")
        }
        let endpoint = try PortChoice.endpoint(options.port)
        guard endpoint.scheme == "ble" else {
            throw Failure(
                .usage, code: "usage", "\(endpoint.text) is not a BLE device",
                hint: "name a BLE device: pumpctl gatt ble:NAME; list devices in range: pumpctl scan")
        }
        let device = try await opening(note: output.note).device(at: endpoint, for: use)
        if let note = device.openingNote { output.note("pumpctl: \(endpoint.text): \(note)") }
        do {
            try await withCleanup({ await device.close() }) { try await body(device) }
        } catch let error as GATTRequestError {
            throw Failure(error, at: device)
        } catch let error as GATTReferenceError {
            throw Failure(error, at: device)
        }
    }

    /// Prints the services of the device with their characteristics.
    func listGATT() async throws {
        try await retryingQuery {
            try await withBLEDevice(for: .oneCommand) { device in
                if device.services.isEmpty { output.note("pumpctl: \(device.name) has no services") }
                for service in device.services { show(service) }
            }
        }
    }

    private func show(_ service: GATTService) {
        output.text("\(service.uuid)" + (ServiceName.known(service.uuid).map { "  \($0)" } ?? ""))
        if service.characteristics.isEmpty { output.record(record(service)) }
        for characteristic in service.characteristics {
            let name = characteristic.knownName.map { "  \($0)" } ?? ""
            let flags = characteristic.flagWords.joined(separator: ", ").printable()
            output.result(
                "  \(characteristic.uuid)  \(characteristic.handleName)  \(flags)\(name)",
                record(service, characteristic))
        }
    }

    private func record(_ service: GATTService, _ characteristic: GATTCharacteristic? = nil) -> ResultRecord {
        [
            "service": "\(service.uuid)", "service_name": ServiceName.known(service.uuid),
            "characteristic": characteristic.map { "\($0.uuid)" }, "handle": characteristic?.handle,
            "name": characteristic?.knownName, "flags": characteristic?.flagWords ?? [],
            "descriptors": characteristic?.descriptors.map { "\($0)" } ?? [],
        ]
    }

    /// Reads characteristics, and prints their values in the given order.
    func readGATT(_ references: [GATTReference], _ format: GATTFormat) async throws {
        try await retryingQuery {
            try await withBLEDevice(for: .oneCommand) { device in
                let all = try references.map(device.characteristic)
                // Print only after the last read: if the device is lost, everything is read again.
                var values: [(GATTCharacteristic, [UInt8])] = []
                for characteristic in all {
                    values.append((characteristic, try await device.read(characteristic, timeout: timeout)))
                }
                for (characteristic, bytes) in values {
                    output.result(
                        (all.count > 1 ? "\(characteristic.uuid)  " : "") + format.text(of: bytes),
                        GATTReading(bytes, of: characteristic, as: format))
                    guard let type = format.type, format.content(of: bytes) == nil else { continue }
                    throw Failure(
                        .protocolError, code: "not_of_type",
                        "the value of \(characteristic.uuid) is not of type \(type.rawValue): it has \(bytes.count.counted("byte"))",
                        hint: "omit --type", outcome: "nothing_changed")
                }
            }
        }
    }

    /// Writes a value to a characteristic, and prints whether the device has confirmed the write.
    ///
    /// - Parameters:
    ///   - isConfirmed: Whether the device must confirm the write; nil to write as the characteristic allows.
    ///   - isForced: Whether to write values that a family's commands refuse as dangerous.
    func writeGATT(_ request: GATTRequest, isConfirmed: Bool?, isForced: Bool) async throws {
        try await withBLEDevice(for: .oneCommand) { device in
            let (value, characteristic) = (request.value, try device.characteristic(request.characteristics[0]))
            let reason = GATTProfiles.families.danger(
                of: value, to: characteristic, among: FamilyRow.all.map(\.family))
            if let reason, !isForced {
                throw Failure(
                    .usage, code: "danger", reason, hint: "write the value anyway: --force", outcome: "not_sent")
            }
            let isConfirmed = try await device.write(
                value, to: characteristic, isConfirmed: isConfirmed, timeout: timeout)
            output.result(
                isConfirmed
                    ? "written, confirmed by the device: \(value.hexadecimal)"
                    : "sent, not confirmed by the device: \(value.hexadecimal)",
                ResultRecord(GATTReading(value, of: characteristic), with: ["ok": true, "confirmed": isConfirmed]))
        }
    }

    /// Shows notifications until `count` values were shown, `time` is over, the device is lost, or a signal ends the
    /// command.
    func followGATT(
        _ references: [GATTReference], _ format: GATTFormat, count: Int?, for time: Duration?
    ) async throws {
        try await run(for: time, whileRead: true) {
            try await withBLEDevice(for: .watching) { device in
                let held = try await held(device)
                try await withCleanup({ await held?.close() }) {
                    try await show(references, of: device, format, count)
                }
            }
        }
    }

    /// If the device has the services of a pump, and is not known to be of another family, lets other programs request
    /// OFF over this connection. Returns the link for these requests, which the caller closes; otherwise nil.
    private func held(_ device: BLEDevice) async throws -> (any Link)? {
        guard family == .pump, let link = try await device.serialLink(family: family.name) else { return nil }
        let held = await opening(note: output.note).held(link)
        // A held link sees the pump's reply to OFF only if the link is read. Nothing is shown here: `show` prints the
        // characteristics that the user has named.
        await held.forward { _ in }
        return held
    }

    /// Prints notifications, up to `count`.
    ///
    /// - Throws: `CancellationError` if the notifications end before.
    private func show(
        _ references: [GATTReference], of device: BLEDevice, _ format: GATTFormat, _ count: Int?
    ) async throws {
        let all = try references.map(device.characteristic)
        let values = try await device.notifications(of: all, timeout: timeout)
        output.note("pumpctl: listening; press Ctrl-C to end")
        var rest = count
        for try await value in values {
            let name = all.count > 1 ? "\(value.characteristic.uuid)  " : ""
            let record = Timed(GATTReading(value.bytes, of: value.characteristic, as: format))
            output.result("\(record.time.timeOfDay)  \(name)\(format.text(of: value.bytes))", record)
            rest = rest.map { $0 - 1 }
            if rest == 0 { return }
        }
        throw CancellationError()
    }
}
