internal import DescriptorIO

/// A stand-in for pumpctld. Clients connect to its socket and attach to its devices, which reply as a test says.
///
///     let daemon = try await FakeDaemon([
///         .init("pump", family: "pump") { $0 == "STATUS" ? "STATUS:{State:OFF}\r\n" : "" }
///     ])
///     // PUMPCTLD_SOCKET=daemon.socketPath
public final class FakeDaemon: Sendable {
    /// A device of the daemon.
    public struct Device: Sendable {
        public var name: String
        public var family: String
        public var endpoint: String
        public var deviceID: String?
        /// Whether clients can attach; if not, they get the error `device_away`.
        public var isUp = true
        /// The text sent to a client as soon as it attaches.
        public var greeting = ""
        /// The members of the JSON error that refuses every attachment; nil to accept clients while ``isUp``.
        public var refusal: String?
        /// Returns the reply to a line of an attached client; nil to hang up on that client.
        public var answer: @Sendable (String) -> String?

        public init(
            _ name: String, family: String, endpoint: String = "/dev/ttyUSB0", deviceID: String? = nil,
            answer: @escaping @Sendable (String) -> String? = { _ in "" }
        ) {
            self.name = name
            self.family = family
            self.endpoint = endpoint
            self.deviceID = deviceID
            self.answer = answer
        }
    }

    public let socketPath: String
    /// The daemon's devices. A test may change them.
    public let devices: Watched<[Device]>
    /// The requests and lines of all clients, in order of arrival.
    public let heard = Watched<[String]>([])
    /// Whether the daemon accepts connections, but sends no greeting and neither reads nor answers requests.
    public let isMute: Bool
    /// Whether the daemon refuses each connection because it has too many clients, and ends it.
    private let isFull: Bool
    /// The version of its program that its greeting reports; nil to report none.
    private let programVersion: String?

    private let folder: TemporaryFolder
    private let listener: SocketListener
    private let channels = Watched<[DescriptorChannel]>([])

    /// Creates a daemon that listens.
    ///
    /// - Parameters:
    ///   - folder: The folder of its socket, which is named `socket`.
    ///   - isMute: See ``isMute``.
    ///   - isFull: Whether it refuses each connection because it has too many clients.
    ///   - programVersion: The version of its program that its greeting reports; nil to report none.
    public init(
        _ devices: [Device], in folder: TemporaryFolder = TemporaryFolder(), isMute: Bool = false, isFull: Bool = false,
        programVersion: String? = nil
    ) async throws {
        self.devices = Watched(devices)
        self.folder = folder
        self.isMute = isMute
        self.isFull = isFull
        self.programVersion = programVersion
        socketPath = folder.path("socket")
        listener = try await SocketListener.listen(at: .unix(path: socketPath))
        Task { [weak self, listener] in
            while let channel = try await listener.accept() { await self?.serve(channel) }
        }
    }

    /// Hangs up on all clients and stops listening, like a killed daemon.
    public func close() async {
        await listener.close()
        await hangUp()
    }

    /// Hangs up on all clients, as if the device were lost.
    public func hangUp() async {
        for channel in channels.update({ channels in
            defer { channels = [] }
            return channels
        }) { await channel.close() }
    }

    /// Sends text to all connected clients, whether they are attached or not.
    public func say(_ text: String) async throws {
        for channel in channels.state { try await channel.write(Array(text.utf8)) }
    }

    private func serve(_ channel: DescriptorChannel) async {
        channels.update { $0.append(channel) }
        guard !isMute else { return }
        if isFull {
            let error = #""code":"too_many_clients","message":"there are too many clients","hint":"close one first""#
            try? await channel.write(Array("{\"id\":null,\"ok\":false,\"error\":{\(error)}}\n".utf8))
            return await channel.close()
        }
        let version = programVersion.map { ",\"program_version\":\"\($0)\"" } ?? ""
        try? await channel.write(Array("{\"event\":\"hello\",\"version\":1\(version)}\n".utf8))
        Task { [weak self] in
            var received = ReceivedText()
            var device: Device?
            while let bytes = try await channel.read() {
                received.bytes += bytes
                while let line = received.takeLine() {
                    guard let self else { return }
                    heard.update { $0.append(line) }
                    if let device {
                        guard let text = device.answer(line) else { return await channel.close() }
                        try await channel.write(Array(text.utf8))
                    } else {
                        device = try await answer(line, channel)
                    }
                }
            }
        }
    }

    /// Replies to a request. Returns the device that the client is attached to from now on; nil if it is not attached.
    private func answer(_ request: String, _ channel: DescriptorChannel) async throws -> Device? {
        let devices = devices.state
        guard !request.contains("\"do\":\"devices\"") else {
            let list = devices.map(\.json).joined(separator: ", ")
            try await channel.write(Array("{\"id\":1,\"ok\":true,\"devices\":[\(list)]}\n".utf8))
            return nil
        }
        let device = devices.first { device in
            request.contains("\"device\":\"\(device.name)\"")
                || device.deviceID.map { request.contains("\"device_id\":\"\($0)\"") } == true
        }
        if let refusal = device.map(\.refusalNow) ?? #""code":"no_such_device","message":"no such device""# {
            try await channel.write(Array("{\"id\":1,\"ok\":false,\"error\":{\(refusal)}}\n".utf8))
            return nil
        }
        if let device { try await channel.write(Array((device.acceptance + device.greeting).utf8)) }
        return device
    }
}

extension FakeDaemon.Device {
    /// The device's entry in the list of devices. The path of its share contains a brace that looks like the entry's
    /// end.
    fileprivate var json: String {
        let id = deviceID.map { ",\"device_id\":\"\($0)\"" } ?? ""
        return "{\"name\":\"\(name)\",\"family\":\"\(family)\",\"endpoint\":\"\(endpoint)\",\"up\":\(isUp)\(id),"
            + #""shares":["/tmp/a } b"],"clients":1}"#
    }

    fileprivate var refusalNow: String? {
        refusal ?? (isUp ? nil : "\"code\":\"device_away\",\"message\":\"\(name) is away\"")
    }

    fileprivate var acceptance: String {
        "{\"id\":1,\"ok\":true,\"device\":\"\(name)\",\"family\":\"\(family)\",\"endpoint\":\"\(endpoint)\"}\n"
    }
}
