public import DescriptorIO

/// Requests OFF from the program that holds a device as a ``HeldLink``.
public enum OffRequest {
    /// The bytes of a request. The service accepts no others.
    static let bytes = Array("OFF\n".utf8)

    /// Sends a request and waits for the answer.
    ///
    /// - Parameters:
    ///   - deviceID: The identity of the device, from `LinkError.deviceID` of the error `busy`.
    ///   - time: The longest wait for the connection, and then for the answer.
    ///   - loop: The event loop of the socket.
    /// - Returns: The answer. If the program does not answer in time, the answer is a failure with an unknown outcome,
    ///   because the device may be on. Nil if no program of this user listens for the device, or if the program closed
    ///   the connection without a complete answer.
    public static func send(
        for deviceID: String, within time: Duration, on loop: EventLoop = .shared
    ) async -> OffAnswer? {
        guard let connection = await connection(for: deviceID, within: time, on: loop) else { return nil }
        let answer = await exchange(over: connection, within: time)
        await connection.close()
        return answer
    }

    /// Whether a program of this user listens for requests for the device. Nothing is sent. Connecting is limited to
    /// 1 s, and takes longer than a moment only if too many programs wait to be accepted.
    static func isHeard(for deviceID: String, on loop: EventLoop) async -> Bool {
        let connection = await connection(for: deviceID, within: .seconds(1), on: loop)
        await connection?.close()
        return connection != nil
    }

    /// Connects to the socket for the device in the first folder where a program accepts; nil if none does.
    private static func connection(
        for deviceID: String, within time: Duration, on loop: EventLoop
    ) async -> DescriptorChannel? {
        for folder in RuntimeFolder.existing {
            let path = "\(folder)/\(OffService.fileName(deviceID))"
            if let connection = try? await DescriptorChannel.connect(
                to: .unix(path: path), on: loop, deadline: .now.advanced(by: time))
            {
                return connection
            }
        }
        return nil
    }

    /// Sends the request and reads the answer. Returns nil if the program closes the connection without a complete
    /// answer.
    private static func exchange(over connection: DescriptorChannel, within time: Duration) async -> OffAnswer? {
        let deadline = EventLoopClock(connection.loop).now.advanced(by: time)
        let timer = Task(executorPreference: connection.loop) {
            if (try? await EventLoopClock(connection.loop).sleep(for: time)) != nil { await connection.close() }
        }
        defer { timer.cancel() }
        var received: [UInt8] = []
        do {
            try await connection.write(bytes)
            while received.count <= OffAnswer.limit, let bytes = try await connection.read() { received += bytes }
        } catch {
            // The bytes that arrived before the error may be a complete answer.
        }
        if let answer = OffAnswer(received) { return answer }
        // Before the deadline, the other program has closed the connection; after the deadline, the timer has.
        guard EventLoopClock(connection.loop).now >= deadline else { return nil }
        return .failed(
            OffFailure(
                status: 69, code: "busy", message: "no answer to the request for OFF; the pump may be on",
                outcome: "unknown"))
    }
}
