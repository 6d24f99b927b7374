import BlueZ
import DeviceKit
import LineProtocol
import Transports

extension CommandContext {
    /// The BLE device that the options name, for commands that don't care what family it is of.
    func bleEndpoint() throws -> Endpoint {
        let endpoint = try Endpoint(NamedPort.choose(options.port))
        guard endpoint.scheme == "ble" else {
            throw Failure(
                .usage, code: "usage", "\(endpoint.text) is no BLE device",
                hint: "name one, as ble:NAME; 'pumpctl scan' lists those in sight")
        }
        return endpoint
    }

    /// Opens a BLE device, calls `body`, and closes it.
    func withBLEDevice<Value>(
        for use: LinkUse, _ body: (BLEDevice) async throws -> Value
    ) async throws -> Value {
        let endpoint = try bleEndpoint()
        let progress = OpeningProgress(endpoint, self, note: output.note)
        let device: BLEDevice
        do {
            device = try await BLEDevice.open(endpoint, on: loop, as: bleUse(for: use, progress, note: output.note))
        } catch {
            progress.end()
            throw error
        }
        progress.end()
        if let note = device.openingNote { output.note("pumpctl: \(endpoint.text): \(note)") }
        do {
            let value = try await body(device)
            await device.close()
            return value
        } catch {
            await device.close()
            throw error
        }
    }

    /// `gatt list`.
    func listGATT() async throws {
        try await retryingQuery { try await withBLEDevice(for: .oneCommand) { show($0.services, of: $0.name) } }
    }

    private func show(_ services: [GATTService], of device: String) {
        if services.isEmpty { output.note("pumpctl: \(device) has no services") }
        for service in services {
            let name = ServiceName.known(service.uuid).map { "  \($0)" } ?? ""
            output.text("\(service.uuid)\(name)")
            for characteristic in service.characteristics { show(characteristic) }
            if service.characteristics.isEmpty { output.record(GATTRecord(emptyService: service.uuid)) }
        }
    }

    private func show(_ characteristic: GATTCharacteristic) {
        let name = CharacteristicName.known(characteristic.uuid).map { "  \($0)" } ?? ""
        let flags = characteristic.flagWords.joined(separator: ", ").printable()
        output.result(
            "  \(characteristic.uuid)  \(characteristic.handleName)  \(flags)\(name)",
            GATTRecord(listing: characteristic))
    }

    /// `gatt read`.
    func readGATT(_ references: [GATTReference], _ format: GATTFormat) async throws {
        try await retryingQuery {
            try await withBLEDevice(for: .oneCommand) { device in
                let all = try references.map { try $0.find(in: device.services, of: device.name) }
                for characteristic in all {
                    let bytes = try await ask(device, "reading \(characteristic.uuid)", outcome: "nothing_changed") {
                        () throws(BLEError) in
                        try await device.connection.read(characteristic)
                    }
                    try show(bytes, of: characteristic, format, isNamed: all.count > 1)
                }
            }
        }
    }

    /// Shows a value that was read.
    private func show(
        _ bytes: [UInt8], of characteristic: GATTCharacteristic, _ format: GATTFormat, isNamed: Bool
    ) throws {
        let record = GATTRecord(bytes, of: characteristic, format)
        output.result((isNamed ? "\(characteristic.uuid)  " : "") + format.phrase(bytes), record)
        guard let type = format.type, record.value == nil else { return }
        throw Failure(
            .protocolError, code: "not_of_type",
            "the value of \(characteristic.uuid) is no \(type.rawValue): it has \(bytes.count) bytes",
            hint: "read it without --type", outcome: "nothing_changed")
    }

    /// Does something at a device, for as long as an answer is waited for.
    ///
    /// - Parameters:
    ///   - activity: What is done, as in `reading 2A19`.
    ///   - outcome: What is known of its effect where no answer came.
    func ask<Value: Sendable>(
        _ device: BLEDevice, _ activity: String, outcome: String,
        _ body: @escaping @Sendable () async throws(BLEError) -> Value
    ) async throws -> Value {
        let work = Task(executorPreference: loop) { () -> Result<Value, BLEError> in
            do throws(BLEError) { return .success(try await body()) } catch { return .failure(error) }
        }
        let timer = Task(executorPreference: loop) { [clock, timeout] in
            if (try? await clock.sleep(for: timeout)) != nil { work.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        timer.cancel()
        switch result {
        case .success(let value): return value
        case .failure(let error):
            throw await failure(error, device, activity, outcome)
        }
    }

    private func failure(
        _ error: BLEError, _ device: BLEDevice, _ activity: String, _ outcome: String
    ) async -> Failure {
        var failure: Failure
        if error.code == .cancelled, !Task.isCancelled {
            failure = Failure(
                .temporaryFailure, code: "no_answer", "no answer in \(timeout.inSeconds) s: \(activity)",
                hint: await device.silenceHint ?? "bring the device nearer, or allow more time: --timeout 10")
        } else if let att = error.attError, error.code == .failed {
            failure = Failure(
                .refused, code: "refused", "the device refused: \(activity): ATT error \(att)",
                hint: "see the flags: pumpctl gatt \(device.name)", outcome: "nothing_changed")
            return failure
        } else if error.code == .unsupported || error.code == .invalidArgument {
            failure = Failure(error)
            failure.outcome = "not_sent"
            return failure
        } else {
            failure = Failure(device.failure(error, activity: activity))
            failure.message = "\(activity): \(failure.message)"
        }
        failure.outcome = outcome
        if outcome == "unknown" { failure.message += "; whether it was carried out is unknown" }
        return failure
    }
}
