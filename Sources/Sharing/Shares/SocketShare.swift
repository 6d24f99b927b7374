public import DescriptorIO
internal import Glibc

/// A share on a socket, for many clients. Each client sends lines of the family's protocol, and receives the
/// replies to its own lines and all unsolicited output.
public actor SocketShare {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    /// The default limit of concurrent clients.
    public static let standardLimit = 256

    /// The TCP port; nil for a Unix socket.
    public nonisolated var port: UInt16? { listener.port }

    private let device: SharedDevice
    private let listener: SocketListener
    private let limit: Int
    private var channels: [ObjectIdentifier: DescriptorChannel] = [:]
    private var accepting: Task<Void, Never>?

    /// Listens on `address`. A Unix socket is accessible to this user only; a stale socket, on which no process
    /// listens, is replaced.
    ///
    /// - Parameters:
    ///   - device: The shared device.
    ///   - address: The address to listen on.
    ///   - limit: The maximum number of concurrent clients. A few more may send stop lines and queries for 10 s; any
    ///     others are disconnected.
    /// - Throws: `DescriptorError` if the address can't be resolved or bound.
    public static func open(
        _ device: SharedDevice, at address: SocketAddress, limit: Int = standardLimit
    ) async throws(DescriptorError) -> SocketShare {
        await SocketListener.removeStale(address, on: device.loop)
        let listener = try await SocketListener.listen(
            at: address, mode: 0o600, keepsWriting: true, keepsSpare: true, on: device.loop)
        let share = SocketShare(device, listener, limit: limit)
        await share.start()
        return share
    }

    private init(_ device: SharedDevice, _ listener: SocketListener, limit: Int) {
        self.device = device
        self.listener = listener
        self.limit = limit
    }

    private func start() {
        accepting = Task(executorPreference: device.loop) { await self.acceptAll() }
    }

    private func acceptAll() async {
        // Whether the lack of descriptors was reported.
        var isShort = false
        while true {
            do throws(DescriptorError) {
                guard let channel = try await listener.accept() else { return }
                let usesSpare = await listener.hasUsedSpare
                if usesSpare, !isShort { device.report(.short("too many open files")) }
                isShort = usesSpare
                await take(channel, usesSpare)
            } catch {
                if error.code == .cancelled { return }
                // Most likely this process has too many open descriptors. Clients that disconnect will free some.
                if !isShort { device.report(.short("\(error)")) }
                isShort = true
                guard (try? await EventLoopClock(device.loop).sleep(for: .milliseconds(100))) != nil else { return }
            }
        }
    }

    private func take(_ channel: DescriptorChannel, _ usesSpare: Bool) async {
        let name = await channel.farEndName
        guard channels.count < limit + SharedDevice.extraPlaces else {
            device.report(.turnedAway(name, "there are \(channels.count) clients already"))
            if let notice = device.row.fullNotice { _ = try? channel.writeAtOnce(notice) }
            return await channel.close()
        }
        let isExtra = usesSpare || channels.count >= limit
        await channel.findDeadFarEnd()
        let key = ObjectIdentifier(channel)
        channels[key] = channel
        let onEnd: @Sendable () -> Void = {
            Task(executorPreference: self.device.loop) { await self.forget(key) }
        }
        await device.join(channel, name, .connection, isExtra: isExtra, onEnd: onEnd)
    }

    private func forget(_ key: ObjectIdentifier) { channels[key] = nil }

    /// Stops listening and disconnects every client.
    public func close() async {
        accepting?.cancel()
        await listener.close()
        for channel in channels.values { await channel.close() }
        channels = [:]
    }
}
