internal import DescriptorIO
internal import Glibc

/// Switches the device that this program has for itself off when another program of the same user asks for it.
///
/// It listens on a Unix socket named after the device, in each folder where another program may look, and takes nothing but
/// ``OffRequest/bytes``.
final class OffService: Sendable {
    /// How long a program that connects may take to say what it wants.
    private static let patience = Duration.seconds(1)

    private let listeners: [SocketListener]
    private let clock: EventLoopClock
    private let stop: Stop

    /// Switches the device off; nil where it is just being closed, and the asker can have it itself.
    typealias Stop = @Sendable (_ processID: Int32) async -> OffAnswer?

    /// Listens for the device of that name; nil where there is no folder for the socket.
    ///
    /// The device is this program's alone: a socket of that name is left over from one that was killed.
    static func open(
        _ deviceID: String, on loop: EventLoop, stop: @escaping Stop
    ) async -> OffService? {
        var listeners: [SocketListener] = []
        for folder in RuntimeFolder.make() {
            let path = "\(folder)/\(fileName(deviceID))"
            unlink(path)
            guard let listener = try? await SocketListener.listen(at: .unix(path: path), on: loop) else { continue }
            chmod(path, 0o600)
            listeners.append(listener)
        }
        guard !listeners.isEmpty else { return nil }
        let service = OffService(listeners, EventLoopClock(loop), stop)
        for listener in listeners { service.serve(listener, on: loop) }
        return service
    }

    private func serve(_ listener: SocketListener, on loop: EventLoop) {
        Task(executorPreference: loop) { [weak self] in
            while self != nil {
                do throws(DescriptorError) {
                    guard let connection = try await listener.accept() else { return }
                    await self?.serve(connection)
                    await connection.close()
                } catch {
                    // Out of descriptors, most likely: others give theirs back.
                    try? await EventLoopClock(loop).sleep(for: .milliseconds(100))
                }
            }
        }
    }

    /// The socket's name in its folder.
    static func fileName(_ deviceID: String) -> String { "off-\(deviceID)" }

    private init(
        _ listeners: [SocketListener], _ clock: EventLoopClock, _ stop: @escaping Stop
    ) {
        self.listeners = listeners
        self.clock = clock
        self.stop = stop
    }

    func close() async { for listener in listeners { await listener.close() } }

    /// Answers one program, one at a time: the others wait in the kernel's queue, and each is answered by an OFF of its own.
    private func serve(_ connection: DescriptorChannel) async {
        guard let peer = try? await connection.peer(), peer.userID == geteuid() else { return }
        let timer = Task(executorPreference: connection.loop) { [clock] in
            if (try? await clock.sleep(for: Self.patience)) != nil { await connection.close() }
        }
        var received: [UInt8] = []
        while received.count < OffRequest.bytes.count, let bytes = try? await connection.read() { received += bytes }
        timer.cancel()
        guard received == OffRequest.bytes else { return }
        guard let answer = await stop(peer.processID) else { return }
        try? await connection.write(answer.bytes)
    }
}
