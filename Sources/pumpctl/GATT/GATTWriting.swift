import BlueZ
import DeviceKit
import LineProtocol
import Transports

/// `gatt write`: writes one value, and says what is known of its arrival.
struct GATTWriting: Sendable {
    /// The most bytes that a value has (Bluetooth Core 5.3, Vol 3, Part F, 3.2.9).
    private static let longestValue = 512

    private let context: CommandContext
    private let reference: GATTReference
    private let value: [UInt8]
    /// Whether the device is to confirm it; nil for what it allows, confirmed rather than not.
    private let response: Bool?
    private let isForced: Bool

    init(_ context: CommandContext, _ request: GATTRequest, response: Bool?, isForced: Bool) {
        self.context = context
        reference = request.characteristics[0]
        value = request.value
        self.response = response
        self.isForced = isForced
    }

    func run() async throws {
        try await context.withBLEDevice(for: .oneCommand) { device in
            let characteristic = try reference.find(in: device.services, of: device.name)
            let type = try writeType(of: characteristic)
            try checkDanger(characteristic)
            try await checkLength(type, characteristic, device)
            let value = value
            try await context.ask(device, "writing to \(characteristic.uuid)", outcome: "unknown") {
                () throws(BLEError) in
                try await device.connection.write(value, to: characteristic, type)
            }
            let isConfirmed = type == .request
            context.output.result(
                isConfirmed
                    ? "written, as the device confirms: \(value.hexadecimal)"
                    : "sent: \(value.hexadecimal); nothing confirms that it arrived",
                GATTRecord(written: value, to: characteristic, isConfirmed: isConfirmed))
        }
    }

    private func writeType(of characteristic: GATTCharacteristic) throws(Failure) -> ConnectedDevice.WriteType {
        let flags = characteristic.flags
        let type: ConnectedDevice.WriteType? =
            switch response {
            case true?: flags.contains(.write) ? .request : nil
            case false?: flags.contains(.writeWithoutResponse) ? .command : nil
            case nil: flags.contains(.write) ? .request : flags.contains(.writeWithoutResponse) ? .command : nil
            }
        if let type { return type }
        let manner = response.map { $0 ? " with a response" : " without a response" } ?? ""
        throw Failure(
            .usage, code: "not_writable",
            "\(characteristic.uuid) can't be written\(manner): its flags are "
                + characteristic.flagWords.joined(separator: ", "),
            hint: flags.isDisjoint(with: [.write, .writeWithoutResponse])
                ? "choose another: 'pumpctl gatt' with the device's name lists all"
                : "omit --\(response == true ? "response" : "no-response")",
            outcome: "not_sent")
    }

    /// What a family refuses to send as text is refused here too.
    private func checkDanger(_ characteristic: GATTCharacteristic) throws(Failure) {
        let profile = GATTProfiles.families.all.first {
            $0.write == characteristic.uuid && $0.services.contains(characteristic.service)
        }
        let families = profile?.families.compactMap(Family.init(named:)) ?? []
        guard !isForced, let reason = families.lazy.compactMap({ $0.wire.danger(value) }).first else { return }
        throw Failure(.usage, code: "danger", reason, hint: "write it all the same: --force", outcome: "not_sent")
    }

    private func checkLength(
        _ type: ConnectedDevice.WriteType, _ characteristic: GATTCharacteristic, _ device: BLEDevice
    ) async throws {
        let limit =
            type == .request
            ? Self.longestValue : min(Self.longestValue, await device.connection.mtu(of: characteristic) - 3)
        guard value.count > limit else { return }
        throw Failure(
            .usage, code: "too_long", "\(value.count) bytes are too long for one write, which holds \(limit)",
            hint: type == .command && characteristic.flags.contains(.write)
                ? "write it with a response: omit --no-response" : "write it in parts", outcome: "not_sent")
    }
}
