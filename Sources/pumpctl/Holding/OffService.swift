import DescriptorIO
import Glibc
import LineProtocol

/// Switches the device that this program has for itself off when another pumpctl of the same user asks for it.
///
/// It listens on a Unix socket named after the device, and takes nothing but ``OffAnswer/request``.
final class OffService: Sendable {
    /// How long a program that connects may take to say what it wants.
    private static let patience = Duration.seconds(1)

    private let listener: SocketListener
    private let clock: EventLoopClock
    private let stop: @Sendable (_ asker: String) async -> OffAnswer

    /// Listens for the device of that name; nil where there is no folder for the socket.
    ///
    /// The device is this program's alone: a socket of that name is left over from one that was killed.
    static func open(
        _ deviceID: String, on loop: EventLoop, stop: @escaping @Sendable (_ asker: String) async -> OffAnswer
    ) async -> OffService? {
        guard let folder = RuntimeFolder.make() else { return nil }
        let path = "\(folder)/\(fileName(deviceID))"
        unlink(path)
        guard let listener = try? await SocketListener.listen(at: .unix(path: path), on: loop) else { return nil }
        chmod(path, 0o600)
        let service = OffService(listener, EventLoopClock(loop), stop)
        Task(executorPreference: loop) { [weak service] in
            while let connection = try? await listener.accept() {
                await service?.serve(connection)
                await connection.close()
            }
        }
        return service
    }

    /// The socket's name in its folder.
    static func fileName(_ deviceID: String) -> String { "off-\(deviceID)" }

    private init(
        _ listener: SocketListener, _ clock: EventLoopClock,
        _ stop: @escaping @Sendable (_ asker: String) async -> OffAnswer
    ) {
        self.listener = listener
        self.clock = clock
        self.stop = stop
    }

    func close() async { await listener.close() }

    /// Answers one program, one at a time: the others wait in the kernel's queue, and each is answered by an OFF of its own.
    private func serve(_ connection: DescriptorChannel) async {
        guard let peer = try? await connection.peer(), peer.userID == geteuid() else { return }
        let timer = Task(executorPreference: connection.loop) { [clock] in
            if (try? await clock.sleep(for: Self.patience)) != nil { await connection.close() }
        }
        var received: [UInt8] = []
        while received.count < OffAnswer.request.count, let bytes = try? await connection.read() { received += bytes }
        timer.cancel()
        guard received == OffAnswer.request else { return }
        let answer = await stop("pumpctl (pid \(peer.processID))")
        try? await connection.write(answer.bytes)
    }
}
