internal import DescriptorIO

/// A daemon that is none: it has devices that answer what a test says, and gives them to who asks at its socket.
///
///     let daemon = try await FakeDaemon([.init("pump", family: "pump") { $0 == "STATUS" ? "STATUS:{State:OFF}\r\n" : "" }])
///     // PUMPCTLD_SOCKET=daemon.socketPath
public final class FakeDaemon: Sendable {
    /// A device that it has.
    public struct Device: Sendable {
        public var name: String
        public var family: String
        public var endpoint: String
        public var deviceID: String?
        public var isUp = true
        /// What it says as soon as somebody has it.
        public var greeting = ""
        /// What it refuses to attach with, as the members of an error; nil to attach.
        public var refusal: String?
        /// What it says to a line; nil to be lost.
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
    /// Its devices, which a test may change.
    public let devices: Watched<[Device]>
    /// The requests and the lines that came, in their order.
    public let heard = Watched<[String]>([])
    /// Whether it takes connections and says nothing.
    public let isMute: Bool

    private let folder: TemporaryFolder
    private let listener: SocketListener
    private let channels = Watched<[DescriptorChannel]>([])

    /// A daemon that listens.
    ///
    /// - Parameters:
    ///   - folder: Where its socket `socket` is.
    ///   - isMute: Whether it never answers.
    public init(
        _ devices: [Device], in folder: TemporaryFolder = TemporaryFolder(), isMute: Bool = false
    ) async throws {
        self.devices = Watched(devices)
        self.folder = folder
        self.isMute = isMute
        socketPath = folder.path("socket")
        listener = try await SocketListener.listen(at: .unix(path: socketPath))
        Task { [weak self, listener] in
            while let channel = try await listener.accept() { await self?.serve(channel) }
        }
    }

    /// Hangs up on everybody, and listens no more, as one that is killed.
    public func close() async {
        await listener.close()
        await hangUp()
    }

    /// Hangs up on everybody, as where a device is lost.
    public func hangUp() async {
        for channel in channels.update({ channels in
            defer { channels = [] }
            return channels
        }) { await channel.close() }
    }

    /// Says something to everybody who is there.
    public func say(_ text: String) async throws {
        for channel in channels.state { try await channel.write(Array(text.utf8)) }
    }

    private func serve(_ channel: DescriptorChannel) async {
        channels.update { $0.append(channel) }
        guard !isMute else { return }
        try? await channel.write(Array("{\"event\":\"hello\",\"version\":\"1\"}\n".utf8))
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

    /// Answers a request; the device that it attaches.
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
    /// How it stands in the list of devices; a client's name looks like the end of it.
    fileprivate var json: String {
        let id = deviceID.map { ",\"device_id\":\"\($0)\"" } ?? ""
        return "{\"name\":\"\(name)\",\"family\":\"\(family)\",\"endpoint\":\"\(endpoint)\",\"up\":\(isUp)\(id),"
            + #""clients":[{"pid":7,"name":"a } b"}]}"#
    }

    fileprivate var refusalNow: String? {
        refusal ?? (isUp ? nil : "\"code\":\"device_away\",\"message\":\"\(name) is away\"")
    }

    fileprivate var acceptance: String {
        "{\"id\":1,\"ok\":true,\"device\":\"\(name)\",\"family\":\"\(family)\",\"endpoint\":\"\(endpoint)\"}\n"
    }
}
