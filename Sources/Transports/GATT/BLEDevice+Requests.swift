public import BlueZ
internal import DescriptorIO
internal import LineProtocol

extension BLEDevice {
    /// The length limit of a value in bytes (Bluetooth Core 5.3, Vol 3, Part F, 3.2.9).
    public static let longestValue = 512
    /// The default time-out of a request.
    public static let defaultTimeout = Duration.seconds(3)

    /// Finds the characteristic that a reference names.
    ///
    /// - Throws: ``GATTReferenceError`` if no characteristic matches, or several do.
    public func characteristic(_ reference: GATTReference) throws(GATTReferenceError) -> GATTCharacteristic {
        try reference.find(in: services)
    }

    /// Reads the value of a characteristic.
    ///
    /// ```swift
    /// let level = try device.characteristic(GATTReference("180F/2A19")!)
    /// print(try await device.read(level))
    /// ```
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - timeout: The longest time to wait for the answer.
    /// - Returns: The value, at most 512 bytes.
    /// - Throws: ``GATTRequestError``.
    public func read(
        _ characteristic: GATTCharacteristic, timeout: Duration = defaultTimeout
    ) async throws(GATTRequestError) -> [UInt8] {
        try await ask("reading \(characteristic.uuid)", .nothingChanged, timeout) { [connection] () throws(BLEError) in
            try await connection.read(characteristic)
        }
    }

    /// Writes the value of a characteristic.
    ///
    /// - Parameters:
    ///   - bytes: The value: at most 512 bytes, and for an unconfirmed write at most the MTU minus 3.
    ///   - characteristic: The characteristic.
    ///   - isConfirmed: Whether to request a confirmation; nil to request one if the characteristic supports it.
    ///   - timeout: The longest time to wait for the confirmation.
    /// - Returns: Whether the device has confirmed the write. Whether an unconfirmed value arrived is unknown.
    /// - Throws: ``GATTRequestError``.
    public func write(
        _ bytes: [UInt8], to characteristic: GATTCharacteristic, isConfirmed: Bool? = nil,
        timeout: Duration = defaultTimeout
    ) async throws(GATTRequestError) -> Bool {
        let activity = "writing to \(characteristic.uuid)"
        let type = characteristic.writeType(isConfirmed: isConfirmed)
        guard let type else {
            throw GATTRequestError(.notWritable(characteristic, isConfirmed: isConfirmed), activity, .notSent)
        }
        let room = type == .request ? Self.longestValue : await connection.mtu(of: characteristic) - 3
        let limit = min(Self.longestValue, room)
        guard bytes.count <= limit else {
            let fitsConfirmed = type == .command && characteristic.flags.contains(.write)
            throw GATTRequestError(
                .tooLong(byteCount: bytes.count, limit: limit, fitsConfirmed: fitsConfirmed), activity, .notSent)
        }
        try await ask(activity, .unknown, timeout) { [connection] () throws(BLEError) in
            try await connection.write(bytes, to: characteristic, type)
        }
        return type == .request
    }

    /// Subscribes to characteristics, and returns the values that they notify until the device is gone.
    ///
    /// The sequence has one reader. The subscriptions end when the reader stops. The sequence throws a `LinkError` when
    /// the device is gone, or when ``close()`` is called.
    ///
    /// - Parameters:
    ///   - characteristics: The characteristics to subscribe to.
    ///   - timeout: The longest time to wait for the confirmation of each subscription.
    /// - Throws: ``GATTRequestError``.
    public func notifications(
        of characteristics: [GATTCharacteristic], timeout: Duration = defaultTimeout
    ) async throws(GATTRequestError) -> AsyncThrowingStream<GATTNotification, any Error> {
        let (stream, input) = AsyncThrowingStream.makeStream(of: GATTNotification.self)
        await connection.onEnd { [name, pairing] error in
            input.finish(throwing: LinkError(sending: error, name: name, activity: "receive", pairing: pairing))
        }
        var subscriptions: [ValueSubscription] = []
        for characteristic in characteristics {
            subscriptions.append(
                try await ask("subscribing to \(characteristic.uuid)", .nothingChanged, timeout) {
                    [connection] () throws(BLEError) in
                    try await connection.listen(to: characteristic) {
                        input.yield(GATTNotification(characteristic: characteristic, bytes: $0))
                    }
                })
        }
        input.onTermination = { [subscriptions] _ in
            for subscription in subscriptions { subscription.cancel() }
        }
        return stream
    }

    /// Performs a request with a time-out.
    ///
    /// - Parameter outcome: The known effect of the request if no answer comes, or if the link is lost.
    private func ask<Value: Sendable>(
        _ activity: String, _ outcome: SessionError.Outcome, _ timeout: Duration,
        _ body: @escaping @Sendable () async throws(BLEError) -> Value
    ) async throws(GATTRequestError) -> Value {
        let loop = connection.loop
        let work = Task(executorPreference: loop) { () -> Result<Value, BLEError> in
            do throws(BLEError) { return .success(try await body()) } catch { return .failure(error) }
        }
        let timer = Task(executorPreference: loop) {
            if (try? await EventLoopClock(loop).sleep(for: timeout)) != nil { work.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        timer.cancel()
        do throws(BLEError) { return try result.get() } catch {
            if error.code == .cancelled, !Task.isCancelled {
                throw GATTRequestError(.noAnswer(in: timeout, hint: await silenceHint), activity, outcome)
            }
            if let refusal = error.attError, error.code == .failed {
                throw GATTRequestError(.refused(refusal), activity, .nothingChanged)
            }
            if error.code == .unsupported || error.code == .invalidArgument {
                throw GATTRequestError(.notPossible(error), activity, .notSent)
            }
            throw GATTRequestError(.link(failure(error, activity: activity)), activity, outcome)
        }
    }
}

extension GATTCharacteristic {
    /// Returns the type of write to use; nil if the characteristic does not support the requested type.
    fileprivate func writeType(isConfirmed: Bool?) -> ConnectedDevice.WriteType? {
        if flags.contains(.write), isConfirmed != false { return .request }
        return flags.contains(.writeWithoutResponse) && isConfirmed != true ? .command : nil
    }
}

/// A value that a characteristic has notified.
public struct GATTNotification: Sendable, Hashable {
    /// The characteristic.
    public let characteristic: GATTCharacteristic
    /// The new value.
    public let bytes: [UInt8]
}
