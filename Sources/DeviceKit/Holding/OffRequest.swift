public import DescriptorIO

/// Asks the program that holds a device (``HeldLink``) to switch it off.
public enum OffRequest {
    /// What is asked, which is all that the socket takes.
    static let bytes = Array("OFF\n".utf8)

    /// What became of it; nil where no program of this user listens for that device, or the one that did has ended.
    ///
    /// - Parameters:
    ///   - deviceID: The device, as ``LineProtocol/LinkError/deviceID`` has it where it is busy.
    ///   - time: How long the other's answer is waited for.
    ///   - loop: What the socket is attended to on.
    public static func send(
        for deviceID: String, within time: Duration, on loop: EventLoop = .shared
    ) async -> OffAnswer? {
        guard let connection = await connection(for: deviceID, within: time, on: loop) else { return nil }
        let answer = await exchange(over: connection, within: time)
        await connection.close()
        return answer
    }

    /// Whether a program of this user listens for that device. It is asked nothing.
    static func isHeard(for deviceID: String, on loop: EventLoop) async -> Bool {
        let connection = await connection(for: deviceID, within: .seconds(1), on: loop)
        await connection?.close()
        return connection != nil
    }

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
            // What has come is looked at all the same.
        }
        if let answer = OffAnswer(received) { return answer }
        // The timer has closed the connection; else the other end has.
        guard EventLoopClock(connection.loop).now >= deadline else { return nil }
        return .failed(
            OffFailure(
                status: 69, code: "busy", message: "it did not answer the request for OFF; the pump may be on",
                outcome: "unknown"))
    }
}
