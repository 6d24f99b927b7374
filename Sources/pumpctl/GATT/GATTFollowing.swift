import BlueZ
import DeviceKit
import LineProtocol
import Transports

/// `gatt notify`: shows what a device notifies as it comes.
struct GATTFollowing: Sendable {
    private let context: CommandContext
    private let references: [GATTReference]
    private let format: GATTFormat
    private let count: Int?

    /// - Parameter count: After how many notifications to end; nil for no end.
    init(_ context: CommandContext, _ references: [GATTReference], _ format: GATTFormat, count: Int?) {
        self.context = context
        self.references = references
        self.format = format
        self.count = count
    }

    /// Runs until all were shown, `time` is over, the device is gone, or a signal ends it.
    func run(for time: Duration?) async throws {
        try await context.run(for: time) {
            try await context.withBLEDevice(for: .watching) { device in
                let held = try await hold(device)
                let result: Result<Void, any Error>
                do { result = .success(try await follow(device)) } catch { result = .failure(error) }
                await held?.close()
                try result.get()
            }
        }
    }

    /// Lets other programs have the device switched off meanwhile, where it is a pump.
    private func hold(_ device: BLEDevice) async throws -> (any Link)? {
        guard context.family == .pump, let link = try await device.serialLink(family: context.family.name) else {
            return nil
        }
        let held = await context.held(link, note: context.output.note)
        // What the pump answers is received, and shown only where it was asked for.
        await held.forward { _ in }
        return held
    }

    private func follow(_ device: BLEDevice) async throws {
        let all = try references.map { try $0.find(in: device.services, of: device.name) }
        let (values, input) = AsyncThrowingStream.makeStream(of: (Int, [UInt8]).self)
        await device.connection.onEnd { input.finish(throwing: $0) }
        var subscriptions: [ValueSubscription] = []
        for (index, characteristic) in all.enumerated() {
            subscriptions.append(
                try await context.ask(
                    device, "subscribing to \(characteristic.uuid)", outcome: "nothing_changed"
                ) { () throws(BLEError) in
                    try await device.connection.listen(to: characteristic) { input.yield((index, $0)) }
                })
        }
        defer { for subscription in subscriptions { subscription.cancel() } }
        context.output.note("pumpctl: listening; Ctrl-C ends it")
        var rest = count
        do {
            for try await (index, bytes) in values {
                show(bytes, of: all[index], isNamed: all.count > 1)
                rest = rest.map { $0 - 1 }
                if rest == 0 { return }
            }
        } catch let error as BLEError {
            throw Failure(device.failure(error, activity: "receive"))
        }
        throw CancellationError()
    }

    private func show(_ bytes: [UInt8], of characteristic: GATTCharacteristic, isNamed: Bool) {
        let time = WallTime.now
        let name = isNamed ? "\(characteristic.uuid)  " : ""
        context.output.result(
            "\(time.timeOfDay)  \(name)\(format.phrase(bytes))", GATTRecord(bytes, of: characteristic, format, at: time)
        )
    }
}
