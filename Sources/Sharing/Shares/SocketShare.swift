public import DescriptorIO
internal import Glibc

/// Offers a shared device at a socket, to any number of clients: each writes the lines of its family's protocol, and reads the
/// answers to its own, and what the device says unasked.
public actor SocketShare {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { device.loop.asUnownedSerialExecutor() }

    /// How many clients may be there at once where nothing else is said.
    public static let standardLimit = 256

    /// The TCP port; nil for a Unix socket.
    public nonisolated var port: UInt16? { listener.port }

    private let device: SharedDevice
    private let listener: SocketListener
    private let limit: Int
    private var channels: [ObjectIdentifier: DescriptorChannel] = [:]
    private var accepting: Task<Void, Never>?

    /// Listens at `address`. A Unix socket is for this user alone; one that nobody listens at any more is replaced.
    ///
    /// - Parameter limit: How many clients may be there at once. A few more may make the device safe and ask, for 10 s; the
    ///   others are hung up on.
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
        // Whether the log has it that there are no more descriptors.
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
                // Out of descriptors, most likely: clients that leave give theirs back.
                if !isShort { device.report(.short("\(error)")) }
                isShort = true
                guard (try? await EventLoopClock(device.loop).sleep(for: .milliseconds(100))) != nil else { return }
            }
        }
    }

    private func take(_ channel: DescriptorChannel, _ usesSpare: Bool) async {
        let name = await channel.farEndName
        guard channels.count < limit + SharedDevice.extraPlaces else {
            device.report(.turnedAway(name, "there are \(limit) clients already"))
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

    /// Stops listening and hangs up on every client.
    public func close() async {
        accepting?.cancel()
        await listener.close()
        for channel in channels.values { await channel.close() }
        channels = [:]
    }
}
