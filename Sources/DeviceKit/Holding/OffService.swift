internal import DescriptorIO
internal import Glibc

/// Switches off the device that this program owns when another program of the same user requests OFF.
///
/// The service listens on a Unix socket named after the device, in each folder where other programs may look. It
/// accepts only ``OffRequest/bytes``.
final class OffService: Sendable {
    /// The longest wait for the request of a connected program, which sends it at once. Until then, the next requests
    /// wait.
    private static let patience = Duration.seconds(1)

    private let listeners: [SocketListener]
    private let clock: EventLoopClock
    private let stop: Stop

    /// Switches the device off for the process with this PID. Returns nil if the link is being closed, so that the
    /// requesting program can open the device itself.
    typealias Stop = @Sendable (_ processID: Int32) async -> OffAnswer?

    /// Listens for requests for the device. Returns nil if no socket could be opened.
    ///
    /// Replaces an existing socket: this program owns the device, so the socket was left by a program that was killed.
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

    /// Accepts connections until the listener is closed.
    private func serve(_ listener: SocketListener, on loop: EventLoop) {
        Task(executorPreference: loop) { [weak self] in
            while self != nil {
                do throws(DescriptorError) {
                    guard let connection = try await listener.accept() else { return }
                    await self?.serve(connection)
                    await connection.close()
                } catch {
                    // Probably out of file descriptors: retry when others may have been closed.
                    try? await EventLoopClock(loop).sleep(for: .milliseconds(100))
                }
            }
        }
    }

    /// Returns the name of the socket in its folder.
    static func fileName(_ deviceID: String) -> String { "off-\(deviceID)" }

    private init(
        _ listeners: [SocketListener], _ clock: EventLoopClock, _ stop: @escaping Stop
    ) {
        self.listeners = listeners
        self.clock = clock
        self.stop = stop
    }

    /// Closes the sockets. Requests that arrive later reach no program.
    func close() async { for listener in listeners { await listener.close() } }

    /// Handles the request of a connected program. Each listener handles one at a time; the next requests wait in the
    /// kernel's queue, and each of them causes another OFF.
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
