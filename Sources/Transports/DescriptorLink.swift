public import DescriptorIO
public import LineProtocol

/// A link over one descriptor: a stream of bytes that the carrier may cut anywhere.
public final class DescriptorLink: Link {
    public let name: String
    public var keepsPacketBounds: Bool { false }
    public var maximumWriteLength: Int? { nil }
    public var executor: any SerialExecutor & TaskExecutor { channel.loop }

    public let mayHaveReset: Bool
    public let mayBeMidLine: Bool
    public let deviceID: String?
    /// The path by which the serial port was opened, such as `/dev/ttyUSB0`; nil for other carriers.
    public let portPath: String?
    /// The time that a byte takes on the serial line at the port's settings, including start and stop bits; nil for
    /// other carriers. A pseudo-terminal has a value as well, although it has no line.
    public let byteTime: Duration?
    public var remark: String? { telnet?.remark }

    let channel: DescriptorChannel
    private let setBreak: (@Sendable (Bool) throws(LinkError) -> Void)?
    /// The filter for a server that may speak Telnet; nil for links that are not sockets of a server.
    private let telnet: TelnetInput?
    private let finishWriting: @Sendable (DescriptorChannel) async -> Void

    /// Creates a link that owns `channel`.
    ///
    /// - Parameters:
    ///   - channel: The open channel. ``close()`` closes it.
    ///   - name: The link's name for people.
    public convenience init(_ channel: DescriptorChannel, name: String) {
        self.init(channel, name: name) { _ in }
    }

    /// Creates a link over the socket of a serial server, which may turn out to speak Telnet.
    convenience init(serverSocket channel: DescriptorChannel, name: String) {
        self.init(channel, name: name, telnet: TelnetInput()) { _ in }
    }

    /// Creates a link that owns `channel`.
    ///
    /// - Parameters:
    ///   - deviceID: The ``DeviceID`` of the device if the link excludes other programs; nil otherwise.
    ///   - portPath: The path by which the serial port was opened; nil for other carriers.
    ///   - byteTime: The time that a byte takes on the serial line.
    ///   - telnet: The filter for a server that may speak Telnet.
    ///   - setBreak: Begins or ends a break; nil if the carrier has no break condition.
    ///   - finishWriting: Runs before the channel is closed, so that sent bytes can still leave.
    init(
        _ channel: DescriptorChannel, name: String, deviceID: String? = nil, portPath: String? = nil,
        byteTime: Duration? = nil, mayHaveReset: Bool = false, mayBeMidLine: Bool = false, telnet: TelnetInput? = nil,
        setBreak: (@Sendable (Bool) throws(LinkError) -> Void)? = nil,
        finishWriting: @escaping @Sendable (DescriptorChannel) async -> Void
    ) {
        self.channel = channel
        self.name = name
        self.deviceID = deviceID
        self.portPath = portPath
        self.byteTime = byteTime
        self.telnet = telnet
        self.mayHaveReset = mayHaveReset
        self.mayBeMidLine = mayBeMidLine
        self.setBreak = setBreak
        self.finishWriting = finishWriting
    }

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        do { try await channel.write(bytes) } catch { throw linkError(error, "send") }
    }

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        do { return try channel.writeAtOnce(bytes) } catch { throw linkError(error, "send") }
    }

    public func sendBreak(for duration: Duration) async throws(LinkError) {
        guard let setBreak else {
            throw LinkError(.unsupported, name: name, activity: "send a break", remedy: .sendNoBreak)
        }
        try setBreak(true)
        // The break must end even if the task is cancelled.
        try? await EventLoopClock(channel.loop).sleep(for: duration)
        try setBreak(false)
    }

    public func receive() async throws(LinkError) -> [UInt8]? {
        do throws(DescriptorError) {
            guard let telnet else { return try await channel.read() }
            while let bytes = try await channel.read() {
                let data = telnet.take(bytes)
                if !data.isEmpty { return data }
            }
            return nil
        } catch {
            return try rest(at: error)
        }
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        do throws(DescriptorError) {
            guard let telnet else { return try await channel.readAvailable() }
            while true {
                let bytes = try await channel.readAvailable()
                let data = telnet.take(bytes)
                if bytes.isEmpty || !data.isEmpty { return data }
            }
        } catch {
            return try rest(at: error)
        }
    }

    /// If the far end is gone and the Telnet filter has held back a byte, returns the byte; otherwise throws the error.
    private func rest(at error: DescriptorError) throws(LinkError) -> [UInt8] {
        if error.code == .disconnected, let rest = telnet?.finish(), !rest.isEmpty { return rest }
        throw linkError(error, "receive")
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        let isSocket = telnet != nil
        await channel.forward { [name, telnet] arrival in
            if case .success(let bytes?) = arrival {
                let data = telnet?.take(bytes) ?? bytes
                if !data.isEmpty { receiver(.bytes(data)) }
                return
            }
            if let rest = telnet?.finish(), !rest.isEmpty { receiver(.bytes(rest)) }
            guard case .failure(let error) = arrival else { return receiver(.ended(nil)) }
            receiver(.ended(LinkError(error, name: name, activity: "receive", isSocket: isSocket)))
        }
    }

    private func linkError(_ error: DescriptorError, _ activity: String) -> LinkError {
        LinkError(error, name: name, activity: activity, isSocket: telnet != nil)
    }

    public func close() async {
        if await channel.isOpen { await finishWriting(channel) }
        await channel.close()
    }
}
